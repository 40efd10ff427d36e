"""What HotMem reads from a language model's context, and the copy it hands on.

The context it is given is never changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pipecat.processors.aggregators.llm_context import (
    LLMContext,
    LLMContextMessage,
    LLMSpecificMessage,
    standard_message_text,
)

from hotmem.types import Role

SPEAKING: Final = frozenset(Role)
"""Roles whose messages are speech."""


@dataclass(frozen=True, slots=True)
class Question:
    """The latest thing the user said; equal for two contexts of one turn.

    Attributes:
        turn: How many turns the user had ended when it was asked; tells a repeated question from
            one that comes back.
        number: How many user messages the context holds, this one included; tells the same where
            turns are not told of.
        text: Its words.
    """

    turn: int
    number: int
    text: str


def spoken(text: str) -> str:
    """The words with single spaces: recognisers pad their segments with blanks."""
    return " ".join(text.split())


def latest_question(context: LLMContext, turn: int) -> Question | None:
    """The latest user message, or None if there is none or it holds no words (an image alone).

    Args:
        context: The context.
        turn: How many turns the user has ended.
    """
    asked = [message for message in context.get_messages() if role_of(message) == Role.USER]
    if not asked or not (text := spoken(standard_message_text(asked[-1]))):
        return None
    return Question(turn, len(asked), text)


def visible_texts(context: LLMContext) -> tuple[str, ...]:
    """What user and bot said, as far as the language model still sees it.

    Instructions and blocks are not speech.
    """
    texts = (spoken_in(message) for message in context.get_messages())
    return tuple(text for text in texts if text)


def visible_before(context: LLMContext, question: Question) -> tuple[str, ...]:
    """What the language model sees besides the question itself."""
    texts = visible_texts(context)
    last = max(place for place, text in enumerate(texts) if text == question.text)
    return (*texts[:last], *texts[last + 1 :])


def with_block(context: LLMContext, *blocks: str, notice: str = "") -> LLMContext:
    """A new context with blocks and a notice as messages of their own just before the latest user message, or at the end where there is none.

    The messages themselves are shared, the list is not. Late in the list a block leaves prompt
    caches warm; before the question it cannot be taken for the answer. A block quotes what people
    said and so has a user's authority, whatever stands in it; a notice is HotMem's own word alone
    and has a developer's.
    """
    messages = [*context.get_messages()]
    place = latest_user_message(messages)
    told: list[LLMContextMessage] = [{"role": "user", "content": block} for block in blocks]
    if notice:
        told.append({"role": "developer", "content": notice})
    messages[place:place] = told
    return LLMContext(messages=messages, tools=context.tools, tool_choice=context.tool_choice)


def latest_user_message(messages: Sequence[LLMContextMessage]) -> int:
    """The place of the latest user message; behind the last message where there is none."""
    return max(
        (place for place, message in enumerate(messages) if role_of(message) == Role.USER),
        default=len(messages),
    )


def spoken_in(message: LLMContextMessage) -> str:
    """The words of a message that is speech of user or bot, "" of any other."""
    return spoken(standard_message_text(message)) if role_of(message) in SPEAKING else ""


def role_of(message: LLMContextMessage) -> str | None:
    """The message's role; None for messages in a service's own format."""
    return None if isinstance(message, LLMSpecificMessage) else message.get("role")
