"""Results of `Memory.forget` and of deletions that can be restored."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import IntEnum
from hashlib import sha256
from typing import Any, Final, TypeAlias

COPIES: Final = "Backups, exports and other copies that were made before still hold it."

_SINGULAR: Final = {"memories": "memory", "summaries": "summary", "recalls": "record of use"}
_PLURAL: Final = {"recalls": "records of use"}
_MAIN: Final = ("turns", "memories", "sessions")


class Leftovers(IntEnum):
    """Where copies of what was forgotten remain, out of reach of every query.

    Attributes:
        NONE: Nowhere.
        JOURNAL: In a file's journal, as another program reads it. It is emptied when that program
            ends: that is tried in the background, on closing and on the next opening.
        SERVER: In a server's files until their space is used again after a vacuum, and in its
            write-ahead log.
    """

    NONE = 0
    JOURNAL = 1
    SERVER = 2


_LEFT: Final = {
    Leftovers.NONE: "Nothing of it is left in the memory file.",
    Leftovers.JOURNAL: "Nothing of it is left in the memory file, but its journal has copies as"
    " long as another program reads it; they go once that ends.",
    Leftovers.SERVER: "No query finds it any more. The files of the server hold copies until they"
    " are vacuumed and the space is used again, and its write-ahead log until that is recycled.",
}


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    """Forget one memory, its earlier versions and the turns it was read from."""

    memory_id: str


@dataclass(frozen=True, slots=True)
class ForgetEntity:
    """Forget everything that mentions a name."""

    name: str


@dataclass(frozen=True, slots=True)
class ForgetSession:
    """Forget one session."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ForgetTurns:
    """Forget some turns and what was read from them alone."""

    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForgetSpan:
    """Forget what was said or stored at or after one time and before another; None is open."""

    after: datetime | None
    before: datetime | None


@dataclass(frozen=True, slots=True)
class ForgetEverything:
    """Forget the user."""


ForgetTarget: TypeAlias = (
    ForgetMemory | ForgetEntity | ForgetSession | ForgetTurns | ForgetSpan | ForgetEverything
)
"""What is to be forgotten."""


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What a `forget` removed; `str` describes it in plain English.

    It covers the memory file and its journal. It does not cover copies made before (backups,
    exports, other programs), blocks that the file system has freed but not overwritten, or the
    process's memory until it is reused.

    Attributes:
        turns: Turns removed.
        memories: Memories removed, merged ones included.
        sessions: Sessions of which nothing is left.
        summaries: Summaries removed; those of remaining sessions are made again.
        names: Entity names that nothing mentions any more.
        tags: Tags that no memory has any more.
        decisions: Records of decisions about memories.
        recalls: Records of queries and of what replies used.
        leftovers: Where copies remain that no query reaches.
        restorable_until: Until when `Memory.restore` can undo it; None if it cannot be undone.
        ids: Ids of the turns, and of the memories that were not read from these turns alone; only
            of a preview, and of a deletion that was confirmed by ids.
    """

    turns: int
    memories: int
    sessions: int
    summaries: int = 0
    names: int = 0
    tags: int = 0
    decisions: int = 0
    recalls: int = 0
    leftovers: Leftovers = field(default=Leftovers.NONE, compare=False)
    restorable_until: datetime | None = field(default=None, compare=False)
    ids: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __add__(self, other: "ForgetResult") -> "ForgetResult":
        theirs = other.counts()
        summed: dict[str, Any] = {
            name: count + theirs[name] for name, count in self.counts().items()
        }
        return ForgetResult(**summed, leftovers=max(self.leftovers, other.leftovers))

    @property
    def anything(self) -> bool:
        """Whether anything was removed."""
        return any(self.counts().values())

    @property
    def fingerprint(self) -> str:
        """A short code of `ids`, by which a preview is recognised."""
        return sha256("\n".join(sorted(self.ids)).encode()).hexdigest()[:12]

    def counts(self) -> dict[str, int]:
        """The number of removed records, by attribute name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}

    def __str__(self) -> str:
        """The receipt in plain English."""
        if not self.anything:
            return "Nothing of it is stored, and nothing was removed."
        if self.restorable_until is not None:
            outcome = (
                "It is hidden from everything, and erased after "
                f"{self.restorable_until:%Y-%m-%d %H:%M %Z}; until then it can be brought back."
            )
        else:
            outcome = _LEFT[self.leftovers]
        return f"{self.summary()} removed. {outcome} {COPIES}"

    def summary(self) -> str:
        """The counts in words: "2 turns, 1 memory and 1 session (1 summary)"."""
        counts = self.counts()
        turns, memories, sessions = (_counted(counts[name], name) for name in _MAIN)
        others = [
            _counted(count, name) for name, count in counts.items() if count and name not in _MAIN
        ]
        return f"{turns}, {memories} and {sessions}" + (f" ({', '.join(others)})" if others else "")


@dataclass(frozen=True, slots=True)
class Restorable:
    """A deletion that can be, or was, restored.

    Attributes:
        asked_at: When it was requested.
        erase_at: When it becomes permanent.
        removed: What it removes.
    """

    asked_at: datetime
    erase_at: datetime
    removed: ForgetResult


def _counted(count: int, name: str) -> str:
    return f"{count} {_SINGULAR.get(name, name[:-1]) if count == 1 else _PLURAL.get(name, name)}"
