"""Data of the maintenance tools: statistics, health and failed jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hotmem.types.extraction import ExtractionCosts
from hotmem.types.forgetting import ForgetResult


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
