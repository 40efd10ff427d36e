"""Forgotten content is redacted in a copy of the context."""

from typing import Any

from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage

from hotmem.pipecat.context import REDACTED, Redaction
from tests.tables import tables

CASES = tables(__file__)

CALL: Any = CASES["call"]
MESSAGES: list[Any] = [
    {"role": "system", "content": "Marlow is where this bot works."},
    {"role": "user", "content": [{"type": "text", "text": "I love Marlow."}]},
    {"role": "assistant", "content": "Marlow, nice."},
    CALL,
    {"role": "tool", "tool_call_id": "1", "content": "Marlow"},
    LLMSpecificMessage("google", {"thought": "Marlow"}),
    {"role": "user", "content": "Marlow again?"},
]


def test_only_speech_is_redacted() -> None:
    context, redaction = LLMContext(messages=[*MESSAGES]), Redaction()
    shown = redaction.redact(context, lambda text: "Marlow" in text).get_messages()
    assert context.get_messages() == MESSAGES
    assert [place for place, message in enumerate(shown) if message != MESSAGES[place]] == [1, 2]
    assert shown[1] == {"role": "user", "content": REDACTED}


def test_redacted_messages_stay_redacted() -> None:
    context, redaction = LLMContext(messages=MESSAGES[:3]), Redaction()
    redaction.redact(context, lambda text: "nice" in text)
    messages = redaction.redact(context, lambda _: False).get_messages()
    assert str(messages[2]["content"]) == REDACTED  # type: ignore[index]


def test_without_forgotten_content_there_is_no_copy() -> None:
    context = LLMContext(messages=[*MESSAGES])
    assert Redaction().redact(context, lambda _: False) is context
