"""Hide forgotten content that is still in the conversation from the language model."""

from collections.abc import Callable
from typing import Final

from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from hotmem.pipecat.context import latest_user_index, message_role, speech_text

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
