"""Session summaries and their input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from hotmem.types.turns import Turn

if TYPE_CHECKING:
    from hotmem.types.arrays import Vectors


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of a summary, and the id of the turn that it quotes."""

    text: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A summary of a session: extractive, or written by a language model and checked.

    Attributes:
        topics: Its topics, highest weight first.
        narrative: The most central sentences, in order.
        decisions: Sentences that state decisions.
        open_loops: Sentences that state what is left to do or to find out.
        title: One line that stands for it in a list; None if there is no statement.
    """

    topics: tuple[str, ...] = ()
    narrative: tuple[SummarySentence, ...] = ()
    decisions: tuple[SummarySentence, ...] = ()
    open_loops: tuple[SummarySentence, ...] = ()
    title: SummarySentence | None = None

    @property
    def parts(self) -> dict[str, tuple[SummarySentence, ...]]:
        """The sentences by part, as they are stored."""
        return {
            "title": () if self.title is None else (self.title,),
            "narrative": self.narrative,
            "decisions": self.decisions,
            "open_loops": self.open_loops,
        }


class SessionTitle(NamedTuple):
    """A session in a list.

    Attributes:
        session_id: Its id.
        title: The title of its summary, or "" if it has none.
        last_spoken: Time of its last turn, UTC.
    """

    session_id: str
    title: str
    last_spoken: datetime


class Topic(NamedTuple):
    """A topic of a session.

    Attributes:
        written: Its first spelling.
        weight: Number of mentions; those by the user count more.
    """

    written: str
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class SummaryInput:
    """The input of a session's next summary.

    It is the whole session or, of a long one, the turns that its current summary quotes and those
    after it.

    Attributes:
        session: The session's row number.
        turns: The turns, in the order they were spoken.
        vectors: Their embeddings, unit rows, float32 (turns, dimension).
        keys: Their row numbers.
        fresh: Row numbers of the turns whose topics are not counted yet.
        topics: Topic counts so far, by stems.
        summarised: Last turn of the current summary's input; None without a summary.
        through: Last of `keys` that the next summary covers.
        latest: Last turn of the session.
    """

    session: int
    turns: tuple[Turn, ...]
    vectors: Vectors
    keys: tuple[int, ...]
    fresh: frozenset[int]
    topics: Mapping[str, Topic]
    summarised: int | None
    through: int
    latest: int
