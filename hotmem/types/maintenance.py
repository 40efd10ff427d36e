"""The state of a memory, as the tools tell it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hotmem.types.remember import ForgetResult


class JobKind(StrEnum):
    """Sorts of background work, by what a piece of each is."""

    TURN = "turn"
    PASSAGE = "passage"
    MEMORY = "memory"
    SUMMARY = "summary"
    SESSION = "session"
    CATEGORY = "category"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A piece of background work that failed, and was not done since.

    Attributes:
        user_id: Whose.
        work: What sort of work.
        piece: The id of the turn (of a passage too), memory, session or decision, or the category's
            name.
        tries: How often it failed.
        error: The name of the error's type.
        failed_at: When it failed last, UTC.
        again_at: When it is tried again, in the past if that waits for other work; None if it was
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
    """What there is of a user.

    Attributes:
        turns: What was said.
        sessions: Conversations.
        memories: Statements that are known, those that no longer hold among them.
        ended: Statements that no longer hold, or will not some day.
        merged: Statements that said the same as another and went into it.
        stored: Statements that were stored outright.
        never_used: Statements that no search and no reply has used.
        entities: People, places and things spoken of.
        summaries: Sessions that are summarised.
        waiting: Turns that wait to be understood.
        failed: Pieces of background work that failed and were set aside; `hotmem doctor` names
            them.
        by_category: Statements of each category.
        by_kind: Statements of each kind.
        by_importance: Statements of each importance.
        by_subcategory: Statements of each subcategory, by category.
        tags: Statements under each tag, the most used first.
        first_said: When the first turn was spoken, UTC.
        last_said: When the last one was.
        file_bytes: Size of the whole file, all users together.
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


@dataclass(frozen=True, slots=True)
class TagUse:
    """A tag: its row number, its name, how many memories are filed under it, and whether it stands for others already."""

    key: int
    name: str
    memories: int
    stands: bool = False


@dataclass(frozen=True, slots=True)
class Period:
    """What a day, month or year brought.

    Its ISO date, the turns spoken, and the statements last said in it.
    """

    period: str
    turns: int
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a file: where, how many rows, and what."""

    where: str
    rows: int
    what: str


@dataclass(frozen=True, slots=True)
class Overdue:
    """What is older than a rule lets it be.

    Attributes:
        user_id: Whose.
        rule: The rule, in words.
        gone: How much goes, or went.
    """

    user_id: str
    rule: str
    gone: ForgetResult


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was found of a memory file.

    Attributes:
        about: What was looked at.
        fact: What was found.
        fix: What to do, if it needs attention.
    """

    about: str
    fact: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """In what state a memory file is: what was found, and what failed, the latest first."""

    findings: tuple[Finding, ...]
    failures: tuple[FailedJob, ...]

    @property
    def well(self) -> bool:
        """Whether nothing needs attention."""
        return not any(one.fix for one in self.findings)
