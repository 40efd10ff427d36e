"""Read a language model's context, and make a copy with memory in it.

The given context is never changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pipecat.processors.aggregators.llm_context import (
    LLMContext,
    LLMContextMessage,
    LLMSpecificMessage,
    standard_message_text,
)

from hotmem.types import Role

SPEECH_ROLES: Final = frozenset(Role)
"""Roles whose messages are speech."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The latest user message of a context; equal for two contexts of one turn.

    Attributes:
        turn: The number of user turns that have ended; tells a repeated question from one that
            comes back after a tool call.
        number: The number of user messages in the context, including this one; does the same in
            pipelines without user turn frames.
        text: The text.
    """

    turn: int
    number: int
    text: str


def collapse_spaces(text: str) -> str:
    """The text with single spaces, as speech recognisers pad their segments."""
    return " ".join(text.split())


def latest_user_message(context: LLMContext, turn: int) -> UserMessage | None:
    """The latest user message; None if there is none or it has no text, as with an image alone.

    Args:
        context: The context.
        turn: The number of user turns that have ended.
    """
    from_user = [
        message for message in context.get_messages() if message_role(message) == Role.USER
    ]
    if not from_user or not (text := collapse_spaces(standard_message_text(from_user[-1]))):
        return None
    return UserMessage(turn, len(from_user), text)


def visible_texts(context: LLMContext) -> tuple[str, ...]:
    """Speech of user and bot in the context, without instructions and context blocks."""
    texts = (speech_text(message) for message in context.get_messages())
    return tuple(text for text in texts if text)


def visible_besides(context: LLMContext, message: UserMessage) -> tuple[str, ...]:
    """Speech in the context, without the latest user message."""
    texts = visible_texts(context)
    last = max(index for index, text in enumerate(texts) if text == message.text)
    return (*texts[:last], *texts[last + 1 :])


def inject_blocks(context: LLMContext, *blocks: str, notice: str = "") -> LLMContext:
    """A copy of the context with blocks and a notice before its latest user message.

    Without a user message they come last. The messages are shared with the context, the list is
    not. A late position keeps prompt caches warm; before the question, a block cannot be taken for
    the answer.

    A block has the role `user`, as it quotes people and must not have more authority than they
    have. A notice is HotMem's own text and has the role `developer`.
    """
    index = latest_user_index(context.get_messages())
    injected: list[LLMContextMessage] = [{"role": "user", "content": block} for block in blocks]
    if notice:
        injected.append({"role": "developer", "content": notice})
    return insert_messages(context, index, *injected)


def insert_messages(context: LLMContext, index: int, *messages: LLMContextMessage) -> LLMContext:
    """A copy of the context with messages before the one at an index."""
    old = context.get_messages()
    return LLMContext(
        messages=[*old[:index], *messages, *old[index:]],
        tools=context.tools,
        tool_choice=context.tool_choice,
    )


def latest_user_index(messages: Sequence[LLMContextMessage]) -> int:
    """The index of the latest user message; the number of messages if there is none."""
    return max(
        (index for index, message in enumerate(messages) if message_role(message) == Role.USER),
        default=len(messages),
    )


def speech_text(message: LLMContextMessage) -> str:
    """The text of a message of user or bot; "" for any other message."""
    if message_role(message) not in SPEECH_ROLES:
        return ""
    return collapse_spaces(standard_message_text(message))


def message_role(message: LLMContextMessage) -> str | None:
    """The role of a message; None for a message in the format of one service."""
    return None if isinstance(message, LLMSpecificMessage) else message.get("role")


REDACTED: Final = "[forgotten at the user's request]"


class Redaction:
    """The redacted messages of one conversation.

    A message stays redacted when the user speaks about its content again.
    """

    def __init__(self) -> None:
        self._redacted: set[tuple[str | None, str]] = set()

    def redact(self, context: LLMContext, is_forgotten: Callable[[str], bool]) -> LLMContext:
        """A copy of the context without forgotten speech; the context itself if it has none.

        The latest user message is not redacted. Nor are tool calls and results, which services
        check against each other.

        Args:
            context: The context.
            is_forgotten: Whether a text has forgotten content.
        """
        messages = context.get_messages()
        latest = latest_user_index(messages)
        speech = [
            (message_role(message), "" if index == latest else speech_text(message))
            for index, message in enumerate(messages)
        ]
        self._redacted = {
            one for one in speech if one[1] and (one in self._redacted or is_forgotten(one[1]))
        }
        if not self._redacted:
            return context
        redacted = [
            _redacted(message) if one in self._redacted else message
            for message, one in zip(messages, speech, strict=True)
        ]
        return LLMContext(messages=redacted, tools=context.tools, tool_choice=context.tool_choice)


def _redacted(message: LLMContextMessage) -> LLMContextMessage:
    return {**message, "content": REDACTED}  # type: ignore[return-value, dict-item]  # speech is in standard messages only
