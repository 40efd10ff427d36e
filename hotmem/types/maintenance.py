"""Data of the maintenance tools: statistics, jobs, forgetting, subcategories, the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import IntEnum, StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hotmem.types.understanding import ExtractionCosts
from hotmem.types.vocabulary import Category

if TYPE_CHECKING:
    from hotmem.types.arrays import Vector, Vectors

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

    def __add__(self, other: ForgetResult) -> ForgetResult:
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


class JobKind(StrEnum):
    """The kind of a background job, named after what it processes."""

    TURN = "turn"
    PASSAGE = "passage"
    MEMORY = "memory"
    SUMMARY = "summary"
    SESSION = "session"
    CATEGORY = "category"
    EXTRACTION = "extraction"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A background job that failed and has not succeeded since.

    Attributes:
        user_id: The user.
        work: The kind of job.
        piece: Id of the turn (also for a passage), memory, session or decision, or the category's
            name.
        tries: Number of failed attempts.
        error: Name of the exception type.
        failed_at: When it last failed, UTC.
        again_at: When it is retried, UTC; in the past if it waits for other jobs; None if it was
            set aside.
    """

    user_id: str
    work: JobKind
    piece: str
    tries: int
    error: str
    failed_at: datetime
    again_at: datetime | None


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what is stored of a user.

    Attributes:
        turns: Turns.
        sessions: Sessions.
        memories: Memories, ended ones included.
        ended: Memories with an end of validity, past or future.
        merged: Memories that were merged into another as duplicates.
        stored: Memories that were stored explicitly, not read from turns.
        never_used: Memories that no search and no reply has used.
        entities: People, places and things mentioned.
        summaries: Sessions with a summary.
        waiting: Turns whose facts are not extracted yet.
        failed: Background jobs that failed and were set aside; `hotmem doctor` lists them.
        by_category: Memories by category.
        by_kind: Memories by kind.
        by_importance: Memories by importance.
        by_subcategory: Memories by category and subcategory.
        tags: Memories by tag that is shown, most used first.
        first_said: When the first turn was spoken, UTC.
        last_said: When the last turn was spoken, UTC.
        file_bytes: Size of the whole file, all users together.
        extraction: Calls to the configured language model, and what they cost.
    """

    turns: int
    sessions: int
    memories: int
    ended: int
    merged: int
    stored: int
    never_used: int
    entities: int
    summaries: int
    waiting: int
    failed: int
    by_category: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_importance: Mapping[str, int]
    by_subcategory: Mapping[str, Mapping[str, int]]
    tags: Mapping[str, int]
    first_said: datetime | None
    last_said: datetime | None
    file_bytes: int
    extraction: ExtractionCosts


@dataclass(frozen=True, slots=True)
class UserSummary:
    """What is stored of one user.

    Attributes:
        user_id: The user.
        turns: Turns.
        memories: Memories, ended ones included.
        last_said: When the last turn was spoken, UTC; None without turns.
    """

    user_id: str
    turns: int
    memories: int
    last_said: datetime | None


@dataclass(frozen=True, slots=True)
class TagUse:
    """A tag and its use.

    Attributes:
        key: Its row number.
        name: Its name.
        memories: Number of memories with it.
        stands: Whether it already replaces other tags.
        given: Whether it was given to a memory, not only found in words.
    """

    key: int
    name: str
    memories: int
    stands: bool = False
    given: bool = False


@dataclass(frozen=True, slots=True)
class Period:
    """A day, month or year of the timeline.

    Attributes:
        period: Its ISO date.
        turns: Number of turns spoken in it.
        memories: Statements last said in it.
    """

    period: str
    turns: int
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """An integrity error of a file: its place, the number of rows, and a description."""

    where: str
    rows: int
    what: str


@dataclass(frozen=True, slots=True)
class Overdue:
    """Records older than a retention rule allows.

    Attributes:
        user_id: The user.
        rule: The rule, in words.
        gone: What is, or was, removed.
    """

    user_id: str
    rule: str
    gone: ForgetResult


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check of a memory file.

    Attributes:
        about: What was checked.
        fact: The result.
        fix: What to do, if it needs attention.
    """

    about: str
    fact: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The health of a memory file: the checks' results, and failed jobs, latest first."""

    findings: tuple[Finding, ...]
    failures: tuple[FailedJob, ...]

    @property
    def well(self) -> bool:
        """Whether nothing needs attention."""
        return not any(one.fix for one in self.findings)


class Actor(StrEnum):
    """The interface through which an action was requested."""

    VOICE = "voice"
    TOOL = "tool"
    MCP = "mcp"
    INSPECTOR = "inspector"
    COMMAND_LINE = "command line"
    PROGRAM = "program"
    RETENTION = "retention"


class Action(StrEnum):
    """The kind of action. The reasons for changes are recorded as decisions."""

    READ = "read"
    CHANGE = "change"
    FORGET = "forget"
    EXPORT = "export"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class Act:
    """An action and the number of records it affected.

    Attributes:
        action: The kind of action.
        what: The name of the tool or page, or the kind of records that were removed.
        turns: Turns read or removed.
        memories: Memories read or removed.
        sessions: Sessions read or removed.
    """

    action: Action
    what: str
    turns: int = 0
    memories: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the audit log.

    Attributes:
        number: The entry's number, which remains when the user is erased.
        at: When, UTC.
        user_id: The user; None for all users together and for a user who was erased.
        who: The interface.
        act: The action.
    """

    number: int
    at: datetime
    user_id: str | None
    who: Actor
    act: Act


@dataclass(frozen=True, slots=True)
class Subcategory:
    """A cluster of a category's memories.

    Attributes:
        category: The category.
        name: The topic of its memories, or what a person called it. It keeps its name while most
            of its memories stay together.
        keywords: Words more frequent in its memories than in the rest of the category, highest
            weight first.
        memories: Number of its memories.
        digest: Its most central statements.
        since: When it first existed, UTC.
        evolved_at: When the category was last clustered, UTC.
        pinned: Whether it keeps its name, its memories and its centroid when the category evolves.
    """

    category: Category
    name: str
    keywords: tuple[str, ...]
    memories: int
    digest: tuple[str, ...]
    since: datetime
    evolved_at: datetime
    pinned: bool


@dataclass(frozen=True, slots=True, eq=False)
class SubcategoryState:
    """A subcategory with its memories, live or in a draft.

    Attributes:
        name: Its name.
        keywords: Its keywords.
        examples: Ids of its most central memories.
        since: When it first existed, UTC.
        centroid: Mean of its memories' embeddings, a unit row; None while unknown.
        members: Row numbers of its memories.
        pinned: Whether it stays as it is when the category evolves.
    """

    name: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    since: datetime
    centroid: Vector | None
    members: frozenset[int]
    pinned: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CategoryMembers:
    """The memories of a category to be clustered, and their current subcategories.

    Attributes:
        keys: Row numbers.
        ids: Memory ids.
        texts: Texts.
        tags: Tags of each.
        rows: Embeddings, unit rows, float32 (memories, dimension).
        named: The subcategories by name.
        total: Number of memories in the category, those that are not clustered included.
    """

    keys: tuple[int, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    rows: Vectors
    named: dict[str, SubcategoryState]
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class EvolutionDraft:
    """The subcategories of a category that are not live yet.

    Attributes:
        subcategories: The subcategories; memories that are in none stay in the category itself.
        centre: Direction that all memories of the category share, a unit row.
    """

    subcategories: tuple[SubcategoryState, ...]
    centre: Vector


@dataclass(frozen=True, slots=True)
class EvolutionResult:
    """The result of clustering a category.

    Attributes:
        category: The category.
        memories: Number of its memories.
        subcategories: Names of its subcategories.
        new: Names of those that did not exist before.
        decision: Id of the decision, for undoing it; None if nothing changed.
    """

    category: Category
    memories: int
    subcategories: tuple[str, ...]
    new: tuple[str, ...]
    decision: str | None
