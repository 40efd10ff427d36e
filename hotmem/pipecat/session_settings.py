"""Settings of one conversation, from arguments, the memory's options and the environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hotmem.core.validation import validate_number
from hotmem.options import MIN_TOKENS, Options
from hotmem.settings import Settings

MEMORY_SHARE: Final = 0.95
"""Share of the deadline that the memory gets, so that a partial block still arrives in time."""

LONG_DEADLINE_MS: Final = 2000.0
"""Deadline of a recall that no frame waits for, in milliseconds."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of one conversation.

    Attributes:
        user_id: The user.
        session_id: The conversation.
        deadline_ms: Maximum time a context frame waits for its block, in milliseconds; 0 takes
            only what is ready.
        max_tokens: Maximum number of tokens of a block; None for the memory's option.
        clock: The current time, in the user's time zone.
        opening_tokens: Maximum number of tokens of the opening block; None for the memory's
            option, 0 for no opening block.
        user_name: The user's name.
        bot_name: The bot's name.
        speakers: Names by the transport's ids of the speakers.
    """

    user_id: str
    session_id: str
    deadline_ms: float
    max_tokens: int | None
    clock: Callable[[], datetime]
    opening_tokens: int | None = None
    user_name: str | None = None
    bot_name: str | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)

    @property
    def recall_ms(self) -> float:
        """Deadline of a recall that a context frame waits for, in milliseconds."""
        return self.deadline_ms * MEMORY_SHARE or LONG_DEADLINE_MS

    def is_guest(self, speaker: str | None) -> bool:
        """Whether a speaker is known not to be the user."""
        if speaker is None or speaker not in self.speakers:
            return False
        return self.speakers[speaker] != self.user_name

    def user_speaker_name(self, speaker: str | None) -> str | None:
        """The name of the speaker of a user turn."""
        return self.speakers.get(speaker or "", self.user_name)


def resolve_deadline_ms(given: float | None, options: Options) -> float:
    """The recall deadline: the argument, else the memory's option, else the environment's.

    Raises:
        InvalidInput: If the argument or the variable is invalid.
    """
    if given is not None:
        return validate_number(given, "deadline_ms", 0.0)
    if options.recall.deadline_ms is not None:
        return options.recall.deadline_ms
    return Settings.from_environment().recall_deadline_ms


def validate_max_tokens(given: int | None) -> int | None:
    """Return the argument unchanged.

    Raises:
        InvalidInput: If it is too small for a block.
    """
    if given is None:
        return None
    return validate_number(given, "max_tokens", MIN_TOKENS, whole=True)


def validate_opening_tokens(given: int | None) -> int | None:
    """Return the argument unchanged.

    Raises:
        InvalidInput: If it is negative.
    """
    return None if given is None else validate_number(given, "opening_tokens", 0, whole=True)
