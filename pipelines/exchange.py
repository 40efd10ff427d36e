"""What was said, recalled, answered and learnt in one exchange, gathered from the bot's own events."""

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

PATIENCE_S: Final = 30.0
"""Seconds a reply may take before the next utterance is taken anyway."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of the user and what came of it.

    Attributes:
        heard: The user's words as recognised.
        block: The block recalled for them, or None if none came in time.
        reply: What the bot said.
        usage: What the reply made of the block, or None for a block without items.
        awaited: Whether the user is speaking or waits for a reply.
    """

    heard: str = ""
    block: ContextBlock | None = None
    reply: str = ""
    usage: Usage | None = None
    awaited: bool = True

    @property
    def complete(self) -> bool:
        """Whether nothing more is to come."""
        learning = self.block is not None and bool(self.block.items)
        return bool(self.heard) and not self.awaited and (self.usage is not None or not learning)


class ExchangeListener:
    """Gathers a bot's events into exchanges, one at a time.

    Args:
        bot: The bot to listen to; call this before it runs.
    """

    def __init__(self, bot: Bot) -> None:
        """Registers the listener with the bot's parts."""
        self._exchange = Exchange()
        self._changed = asyncio.Event()
        bot.user.add_event_handler("on_user_turn_started", self._on_user_speaks)
        bot.user.add_event_handler("on_user_turn_message_added", self._on_user)
        bot.memory.add_event_handler("on_memory_recalled", self._on_recalled)
        bot.memory.add_event_handler("on_memory_used", self._on_feedback)
        bot.assistant.add_event_handler("on_assistant_turn_stopped", self._on_assistant)

    async def next(self, timeout_s: float | None) -> Exchange:
        """The next exchange: complete, or as far as it came in `timeout_s` seconds.

        None waits for ever.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self._exchange.complete:
                    await self._changed.wait()
                    self._changed.clear()
        exchange, self._exchange = self._exchange, Exchange()
        return exchange

    async def _on_user_speaks(self, _: LLMUserAggregator, __: BaseUserTurnStartStrategy) -> None:
        self._note(replace(self._exchange, awaited=True, usage=None))

    async def _on_user(self, _: LLMUserAggregator, message: UserTurnMessageAddedMessage) -> None:
        self._note(
            replace(
                self._exchange, heard=collapse_spaces(f"{self._exchange.heard} {message.content}")
            )
        )

    async def _on_recalled(self, _: HotMemProcessor, block: ContextBlock, __: RecallTiming) -> None:
        self._note(replace(self._exchange, block=block))

    async def _on_assistant(
        self, _: LLMAssistantAggregator, message: AssistantTurnStoppedMessage
    ) -> None:
        reply = collapse_spaces(f"{self._exchange.reply} {message.content}")
        self._note(
            replace(
                self._exchange, reply=reply, awaited=self._exchange.awaited and message.interrupted
            )
        )

    async def _on_feedback(self, _: HotMemProcessor, usage: Usage) -> None:
        self._note(replace(self._exchange, usage=usage))

    def _note(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._changed.set()
