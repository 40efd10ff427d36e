"""Exchanges of user and bot, collected from events of the pipeline."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    LLMAssistantAggregator,
    LLMUserAggregator,
    UserTurnMessageAddedMessage,
)
from pipecat.turns.user_start import BaseUserTurnStartStrategy

from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.context import collapse_spaces
from hotmem.pipecat.turn_state import RecallTiming
from hotmem.types import ContextBlock, Usage
from pipelines.bot import Bot

REPLY_TIMEOUT_S: Final = 30.0
"""Maximum time to wait for a reply before the next utterance, in seconds."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user turn and its reply.

    Attributes:
        utterance: The user's words as recognised.
        block: The context block; None if it was not ready in time.
        reply: The spoken part of the reply.
        usage: How the reply used the block; None for a block without items.
        pending: Whether the user is speaking or waits for the reply.
    """

    utterance: str = ""
    block: ContextBlock | None = None
    reply: str = ""
    usage: Usage | None = None
    pending: bool = True

    @property
    def complete(self) -> bool:
        """Whether the exchange has ended."""
        expects_usage = self.block is not None and bool(self.block.items)
        return (
            bool(self.utterance)
            and not self.pending
            and (self.usage is not None or not expects_usage)
        )


class ExchangeListener:
    """Collects the events of a bot into exchanges, one at a time.

    Args:
        bot: The bot, not running yet.
    """

    def __init__(self, bot: Bot) -> None:
        self._exchange = Exchange()
        self._changed = asyncio.Event()
        bot.user.add_event_handler("on_user_turn_started", self._on_user_started)
        bot.user.add_event_handler("on_user_turn_message_added", self._on_user_message)
        bot.memory.add_event_handler("on_memory_recalled", self._on_recalled)
        bot.memory.add_event_handler("on_memory_used", self._on_used)
        bot.assistant.add_event_handler("on_assistant_turn_stopped", self._on_assistant)

    async def next(self, timeout_s: float | None) -> Exchange:
        """Wait for the next complete exchange.

        Args:
            timeout_s: Seconds after which to return an incomplete exchange; None for no limit.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self._exchange.complete:
                    await self._changed.wait()
                    self._changed.clear()
        exchange, self._exchange = self._exchange, Exchange()
        return exchange

    async def _on_user_started(self, _: LLMUserAggregator, __: BaseUserTurnStartStrategy) -> None:
        self._set(replace(self._exchange, pending=True, usage=None))

    async def _on_user_message(
        self, _: LLMUserAggregator, message: UserTurnMessageAddedMessage
    ) -> None:
        self._set(
            replace(
                self._exchange,
                utterance=collapse_spaces(f"{self._exchange.utterance} {message.content}"),
            )
        )

    async def _on_recalled(self, _: HotMemProcessor, block: ContextBlock, __: RecallTiming) -> None:
        self._set(replace(self._exchange, block=block))

    async def _on_assistant(
        self, _: LLMAssistantAggregator, message: AssistantTurnStoppedMessage
    ) -> None:
        reply = collapse_spaces(f"{self._exchange.reply} {message.content}")
        self._set(
            replace(
                self._exchange, reply=reply, pending=self._exchange.pending and message.interrupted
            )
        )

    async def _on_used(self, _: HotMemProcessor, usage: Usage) -> None:
        self._set(replace(self._exchange, usage=usage))

    def _set(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._changed.set()
