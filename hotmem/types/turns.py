"""Turns: the input of the write path."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from hotmem.errors import InvalidInput
from hotmem.text.validation import validate_id, validate_name, validate_text
from hotmem.types.vocabulary import Role


def aware(moment: datetime, name: str) -> datetime:
    """Check that a datetime has a time zone, and return it unchanged.

    Raises:
        InvalidInput: If it is not a datetime, has no time zone, or is outside the years that UTC
            can express.
    """
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{name} is {type(moment).__name__}, not a datetime. Pass datetime.now(timezone.utc)."
        )
    if moment.utcoffset() is None:
        raise InvalidInput(
            f"{name} has no time zone. Pass datetime.now(timezone.utc) or add tzinfo."
        )
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(
            f"{name} is outside the years 1 to 9999 in UTC. Pass a time within them."
        ) from error
    return moment


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of one speaker, verbatim.

    Attributes:
        user_id: The user whose memory the turn belongs to.
        session_id: The session (conversation) it was spoken in.
        role: "user" or "assistant".
        text: The utterance, without characters that cannot be stored.
        spoken_at: When it was spoken, in the speaker's time zone; relative times ("yesterday") are
            resolved against it. Turns may be added in any order.
        speaker: The speaker's name, if known.
        id: The caller's id. Remembering the same id again has no effect.

    Raises:
        InvalidInput: If a field is not valid.
    """

    user_id: str
    session_id: str
    role: Role | str
    text: str
    spoken_at: datetime
    speaker: str | None = None
    id: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        if self.role not in tuple(Role):
            raise InvalidInput(f"role is {self.role!r}. Use one of: {', '.join(Role)}.")
        for name in ("user_id", "session_id", "id"):
            validate_id(getattr(self, name), name)
        if self.speaker is not None:
            name = validate_name(self.speaker, "speaker").strip()
            object.__setattr__(self, "speaker", name or None)
        object.__setattr__(self, "role", Role(self.role))
        object.__setattr__(self, "text", validate_text(self.text))
        object.__setattr__(self, "spoken_at", aware(self.spoken_at, "spoken_at"))
