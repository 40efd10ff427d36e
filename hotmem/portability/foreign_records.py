"""What is read of a foreign file before it is ours, and what an import notes about it."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from hashlib import blake2b

from hotmem.types import Category


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """A statement that another program kept.

    Attributes:
        id: Its id there.
        user_id: Whose memory it goes into.
        text: The words.
        categories: What it was filed under.
        said_at: When it was last said or changed, UTC.
        stored_at: When it was stored, UTC.
        expires_at: When it stops being true, UTC; None for never.
        note: What else was kept of it.
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
class Talk:
    """What a file of talk does not say itself.

    Attributes:
        user_id: Whose memory it goes into.
        session: Name of the conversation; the sessions of a long file are named after it and their
            beginning.
        bots: Names, in lower case, of the speakers that are the bot.
        zone: The time zone of its clock.
        undated: When what carries no date was said.
        day_first: Whether 06/05/2024 is in May; None finds out.
    """

    user_id: str
    session: str
    bots: frozenset[str]
    zone: tzinfo
    undated: datetime
    day_first: bool | None = None


@dataclass(slots=True)
class Notes:
    """What is counted while a foreign file is read.

    Attributes:
        left_out: Records that are not taken, by reason.
        undated: Records without a date.
        filed: For each foreign category the memories of each of ours.
        unsure: For each foreign category, "" for none, the memories whose category is unsure.
        ids: Some of those, by their ids.
        told: What else was unsure, in sentences.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    undated: int = 0
    filed: defaultdict[str, Counter[Category]] = field(default_factory=lambda: defaultdict(Counter))
    unsure: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


class Names:
    """Ids of turns that carry none.

    Each follows from its words and all before it, so that a file that has grown keeps those it had.
    """

    def __init__(self, session: str) -> None:
        self._last = session.encode()

    def following(self, words: Mapping[str, str | None]) -> str:
        """The id of the next turn, by what is written of it."""
        said = "\0".join(f"{name}\0{value}" for name, value in sorted(words.items()))
        self._last = blake2b(self._last + said.encode(errors="replace"), digest_size=16).digest()
        return self._last.hex()
