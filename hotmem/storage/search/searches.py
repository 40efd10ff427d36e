"""The searches that a layer can run.

A layer's searches go into one read: each further one would wait for the interpreter's lock again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import event_times, memories, reembedding
from hotmem.storage.queries.times import to_stored
from hotmem.storage.search import bm25, vectors
from hotmem.storage.search.user_index import IndexReader
from hotmem.storage.search.vectors import nearest_rows
from hotmem.types import EvidenceKind, Interval, QueryVectors, UserKey

MOST: Final = 1000
"""Turns, or memories, of a window that are looked at, the latest."""

TURNS: Final = """(SELECT id, session FROM turns
    WHERE user_key = :user AND spoken_at >= :start AND spoken_at < :end
    ORDER BY spoken_at DESC, id DESC LIMIT :most) t"""

ROWS: Final = {
    EvidenceKind.PASSAGE: f"SELECT r.id, r.vector FROM {TURNS} JOIN passages r ON r.turn = t.id",
    EvidenceKind.MEMORY: """SELECT r.id, r.vector FROM memories r
        WHERE r.user_key = :user AND r.said_at >= :start AND r.said_at < :end
        AND r.merged_into IS NULL ORDER BY r.said_at DESC, r.id DESC LIMIT :most""",
    EvidenceKind.SUMMARY: f"""SELECT r.id, r.vector
        FROM (SELECT DISTINCT session FROM {TURNS}) s JOIN summaries r ON r.id = s.session""",
}
"""Row numbers and vectors of what was said in a window."""


Ranking: TypeAlias = list[tuple[int, float]]
"""Row numbers and scores, best first."""

IndexOf: TypeAlias = Callable[[EvidenceKind], IndexReader]
"""The user's index of a kind."""


class Search(ABC):
    """One search among a user's rows."""

    @property
    def reads(self) -> tuple[EvidenceKind, ...]:
        """Kinds whose index it reads."""
        return ()

    @abstractmethod
    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """The best rows; other users' are out of its reach."""


@dataclass(frozen=True, slots=True)
class LexicalSearch(Search):
    """Rows that hold any of the terms, by BM25; summaries by all that was said in their session.

    Attributes:
        kind: Kind of the rows.
        terms: Words, or phrases all of whose words must be there.
        limit: Rows at most.
    """

    kind: EvidenceKind
    terms: Sequence[str]
    limit: int

    @property
    def reads(self) -> tuple[EvidenceKind, ...]:
        """Kinds whose index it reads."""
        return (EvidenceKind.PASSAGE if self.kind is EvidenceKind.SUMMARY else self.kind,)

    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """Row numbers and BM25 scores."""
        search = bm25.sessions if self.kind is EvidenceKind.SUMMARY else bm25.search
        return search(conn, index_of(self.reads[0]), self.terms, self.limit)


@dataclass(frozen=True, slots=True)
class VectorSearch(Search):
    """The rows nearest to the query.

    Attributes:
        kind: Kind of the rows.
        sought: The query's embeddings.
        limit: Rows at most.
    """

    kind: EvidenceKind
    sought: QueryVectors
    limit: int

    @property
    def reads(self) -> tuple[EvidenceKind, ...]:
        """Kinds whose index it reads."""
        return (self.kind,)

    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """Row numbers and cosines."""
        return vectors.nearest(conn, index_of(self.kind), self.sought, self.limit)


@dataclass(frozen=True, slots=True)
class SessionSearch(Search):
    """The passages of some sessions nearest to the query; the cost is theirs alone.

    Attributes:
        sessions: Row numbers of sessions.
        sought: The query's embeddings.
        limit: Passages at most.
    """

    sessions: Sequence[int]
    sought: QueryVectors
    limit: int

    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """Row numbers and cosines."""
        return vectors.inside(conn, user, self.sessions, self.sought, self.limit)


@dataclass(frozen=True, slots=True)
class EntitySearch(Search):
    """Memories that mention one of the names, latest first.

    Attributes:
        names: Names, whatever their case.
        limit: Memories at most.
    """

    names: Sequence[str]
    limit: int

    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """Row numbers, each with the same score."""
        keys = memories.ask_of_entities(conn, user, self.names, self.limit)
        return lambda: [(key, 1.0) for key in keys()]


@dataclass(frozen=True, slots=True)
class SaidIn(Search):
    """The rows said within a window that are nearest to the query.

    Summaries of the sessions that were held in it.

    Attributes:
        kind: Kind of the rows.
        window: The span of time.
        sought: The query's embeddings.
        limit: Rows at most.
    """

    kind: EvidenceKind
    window: Interval
    sought: QueryVectors
    limit: int

    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """Row numbers and cosines, nearest first; 0 for what has no vector yet."""
        start, end = to_stored(self.window.start), to_stored(self.window.end)
        boundaries = reembedding.ask_boundaries(conn)
        rows = conn.execute(
            ROWS[self.kind], {"user": user, "start": start, "end": end, "most": MOST}
        )

        def ranking() -> Ranking:
            boundary = boundaries().get(self.kind, reembedding.NONE_LEFT)
            return nearest_rows(rows.fetchall(), self.sought, boundary, self.limit)

        return ranking


@dataclass(frozen=True, slots=True)
class HappenedIn(Search):
    """Passages or memories that mention an event within a time window, latest first.

    Attributes:
        kind: Kind of the rows.
        window: The span of time.
        limit: Rows at most.
    """

    kind: EvidenceKind
    window: Interval
    limit: int

    def run(self, conn: Connection, user: UserKey, index_of: IndexOf) -> Pending[Ranking]:
        """Row numbers, each with the same score."""
        keys = event_times.ask_in_window(conn, user, self.kind, self.window, self.limit)
        return lambda: [(key, 1.0) for key in keys()]


def run(
    conn: Connection, user: UserKey, searches: Sequence[Search], index_of: IndexOf
) -> list[Ranking]:
    """The ranking of each search, in order."""
    (rankings,) = run_all(conn, user, [(searches, index_of)])
    return rankings


def run_all(
    conn: Connection, user: UserKey, groups: Sequence[tuple[Sequence[Search], IndexOf]]
) -> list[list[Ranking]]:
    """The rankings of the searches of each group, in order."""
    pending = [
        [search.run(conn, user, index_of) for search in searches] for searches, index_of in groups
    ]
    return [[ranking() for ranking in rankings] for rankings in pending]
