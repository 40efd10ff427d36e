"""Records of other programs before they are imported, and what an import reports about them."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from hashlib import blake2b

from hotmem.types import Category


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """A statement stored by another program.

    Attributes:
        id: Its ID there.
        user_id: Target user ID.
        text: The statement.
        categories: Its categories there.
        said_at: When it was last stated or changed, UTC.
        stored_at: When it was stored, UTC.
        expires_at: When it becomes invalid, UTC; None for never.
        note: Its metadata as text.
    """

    id: str
    user_id: str
    text: str
    categories: tuple[str, ...]
    said_at: datetime
    stored_at: datetime
    expires_at: datetime | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationOptions:
    """What a transcript or a list of messages does not contain itself.

    Attributes:
        user_id: Target user ID.
        session: Session ID; further sessions of the file add a number or their start time.
        bots: Names of the speakers that are the bot, in lower case.
        zone: Time zone of times without one.
        undated: Time of turns without a date.
        day_first: Whether 06/05/2024 is in May; None detects it.
    """

    user_id: str
    session: str
    bots: frozenset[str]
    zone: tzinfo
    undated: datetime
    day_first: bool | None = None


@dataclass(slots=True)
class ImportNotes:
    """Counts and warnings collected while a foreign file is read.

    Attributes:
        skipped: Skipped records, by reason.
        undated: Records without a date.
        categories: Memories by foreign category and category of HotMem.
        unsure: Memories with an uncertain category, by foreign category; "" for none.
        unsure_ids: IDs of some of these memories.
        warnings: Other warnings, as sentences.
    """

    skipped: Counter[str] = field(default_factory=Counter)
    undated: int = 0
    categories: defaultdict[str, Counter[Category]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    unsure: Counter[str] = field(default_factory=Counter)
    unsure_ids: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class TurnIds:
    """IDs for turns without one.

    An ID depends on the turn and all turns before it, so that the turns of a file that has grown
    keep their IDs.
    """

    def __init__(self, session: str) -> None:
        self._last = session.encode()

    def next_id(self, fields: Mapping[str, str | None]) -> str:
        """Return the ID of the next turn, given its fields in the file."""
        content = "\0".join(f"{name}\0{value}" for name, value in sorted(fields.items()))
        self._last = blake2b(self._last + content.encode(errors="replace"), digest_size=16).digest()
        return self._last.hex()
