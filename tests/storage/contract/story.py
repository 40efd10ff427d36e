"""Test data: turns, memories and vectors, stored with query functions."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search import vectors
from hotmem.types import (
    Category,
    EvidenceKind,
    Interval,
    Kind,
    NewMemory,
    QueryVectors,
    Role,
    Statement,
    Turn,
    Understanding,
    UserKey,
)
from hotmem.types.understanding import EventTime
from tests.letters import NO_SIGNS, LetterEncoder

NOW: Final = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
"""The wall clock of most tests."""

ENCODER: Final = queries.reembedding.identified(LetterEncoder.name, LetterEncoder.dimension)


def adopt(conn: Connection) -> None:
    """Make the letter encoder the database's."""
    vectors.adopt(conn, LetterEncoder.name, LetterEncoder.dimension)


def user_key(conn: Connection, name: str) -> UserKey:
    """The row number of a user, who is created if there is none."""
    return queries.users.ensure(conn, name)


def turn(
    text: str,
    *,
    user: str = "ana",
    session: str = "harbour",
    at: datetime = NOW,
    name: str = "t1",
    role: Role = Role.USER,
) -> Turn:
    """A turn of a user."""
    return Turn(user, session, role, text, at, "Skipper", name)


def say(conn: Connection, *texts: str, user: str = "ana", session: str = "harbour") -> None:
    """Store turns, a minute apart, named after the session: "harbour-0", "harbour-1"."""
    for number, text in enumerate(texts):
        at = NOW + timedelta(minutes=number)
        said = turn(text, user=user, session=session, at=at, name=f"{session}-{number}")
        assert queries.turns.add(conn, said, at)


def embed(conn: Connection) -> int:
    """Embed all rows that wait; return how many."""
    done = 0
    while texts := queries.embedding.waiting(conn, ENCODER, 100, UserRotation()):
        for one in texts:
            rows = list(LetterEncoder().encode([one[2]]))
            queries.embedding.put(conn, ENCODER, [one], rows, [NO_SIGNS])
        done += len(texts)
    return done


def sought(text: str) -> QueryVectors:
    """The embeddings of a query."""
    return QueryVectors(LetterEncoder().encode([text])[0])


def note(
    conn: Connection,
    text: str,
    user: UserKey,
    *,
    entities: Sequence[str] = (),
    tags: Sequence[str] = (),
    found_tags: Sequence[str] = (),
) -> str:
    """Store a memory as written; return its id."""
    return queries.new_memories.insert(
        conn,
        user,
        NewMemory(
            text,
            Kind.FACT,
            Category.CONTEXTS,
            3,
            tags=tuple(tags),
            found_tags=tuple(found_tags),
            tag_vectors={tag: LetterEncoder().encode([tag])[0] for tag in (*tags, *found_tags)},
            entities=tuple(entities),
        ),
        LetterEncoder().encode([text])[0],
        NO_SIGNS,
        NOW,
        "a test",
    )


def owns(value: str, stop: int, entities: tuple[str, ...] = ()) -> Statement:
    """The statement "Skipper owns VALUE", read from the beginning of a turn."""
    text, kind, category = f"Skipper owns {value}.", Kind.FACT, Category.CONTEXTS
    return Statement(text, "Skipper", "owns", value, kind, category, 3, 0, stop, entities=entities)


def understand(
    conn: Connection, value: str, *, entities: Sequence[str] = (), tells_of: Interval | None = None
) -> int:
    """Store the statement "Skipper owns VALUE" for each turn that waits; return how many."""
    waiting = queries.turns.waiting(conn, UserRotation(), 100)
    for key, said in waiting:
        statement = owns(value, len(said.text), tuple(entities))
        times = () if tells_of is None else (EventTime(0, len(said.text), tells_of),)
        read = Understanding((statement,), entities=tuple(entities), event_times=times)
        store_understanding(conn, key, read)
    return len(waiting)


def lives_in(place: str, stop: int) -> Statement:
    """The statement "Skipper lives in PLACE", read from a whole turn."""
    text = f"Skipper lives in {place}."
    kind, category = Kind.FACT, Category.CONTEXTS
    return Statement(text, "Skipper", "lives in", place, kind, category, 3, 0, stop, single=True)


def move(conn: Connection, place: str | None) -> None:
    """Store the statement "Skipper lives in PLACE", or none, for the next turn that waits."""
    ((key, said),) = queries.turns.waiting(conn, UserRotation(), 1)
    statements = () if place is None else (lives_in(place, len(said.text)),)
    read = Understanding(statements)
    store_understanding(conn, key, read)


def passages(conn: Connection, user: UserKey) -> list[int]:
    """Row numbers of a user's passages."""
    page = conn.search.index_page(conn, user, EvidenceKind.PASSAGE, 0, 1000)()
    return [int(key) for key in page.keys]


def postings(
    conn: Connection, user: UserKey, term: str, kind: EvidenceKind = EvidenceKind.PASSAGE
) -> list[int]:
    """Row numbers of a user's passages, or memories, with a term."""
    return [int(key) for key in conn.search.postings(conn, user, kind, {term: 0})()[term]]


def texts_of(conn: Connection, user: UserKey) -> list[str]:
    """Texts of a user's turns, by row number."""
    return [said.text for _, said in queries.turns.of_user(conn, user, 0, 1000)]


def memories_of(conn: Connection, user: UserKey) -> list[str]:
    """Texts of a user's memories, past ones included."""
    return sorted(one.text for one in queries.memories.of_user(conn, user, NOW, past=True))


def pass_time(conn: Connection, seconds: float) -> None:
    """Let leases be so many seconds older."""
    conn.execute("UPDATE leases SET expires_at = expires_at - ?", (round(seconds * 1e6),))
