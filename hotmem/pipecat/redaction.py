"""Keeps from the language model what the user had forgotten, which the conversation still holds."""

from collections.abc import Callable
from typing import Final

from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from hotmem.pipecat.context import latest_user_message, role_of, spoken_in

NOTE: Final = "[forgotten at the user's request]"


class Redaction:
    """The messages of one conversation that stay hidden, also once the user speaks of the same again."""

    def __init__(self) -> None:
        self._hidden: set[tuple[str | None, str]] = set()

    def applied(self, context: LLMContext, forgotten: Callable[[str], bool]) -> LLMContext:
        """The context, or a copy in which a note stands for what user and bot said before of what is forgotten.

        What the user says last stays as it is. So do calls of tools with their results, which
        services check against each other.

        Args:
            context: The context; it is not changed.
            forgotten: Whether a text tells what was forgotten.
        """
        messages = context.get_messages()
        latest = latest_user_message(messages)
        said = [
            (role_of(message), "" if place == latest else spoken_in(message))
            for place, message in enumerate(messages)
        ]
        self._hidden = {
            one for one in said if one[1] and (one in self._hidden or forgotten(one[1]))
        }
        if not self._hidden:
            return context
        shown = [
            _noted(message) if one in self._hidden else message
            for message, one in zip(messages, said, strict=True)
        ]
        return LLMContext(messages=shown, tools=context.tools, tool_choice=context.tool_choice)


def _noted(message: LLMContextMessage) -> LLMContextMessage:
    return {**message, "content": NOTE}  # type: ignore[return-value, dict-item]  # a message of the standard form, as it held speech
