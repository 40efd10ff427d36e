"""A change of encoder: a search finds each row by the vector that it has."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Vectors
from hotmem.storage import open_storage, queries, steps
from hotmem.storage.queries import (
    deletions,
    evidence,
    evolutions,
    forget,
    jobs,
    new_memories,
    reembedding,
    turns,
    users,
)
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search import searches, vectors
from hotmem.storage.search.user_index import Index, IndexReader
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.migrations import migrate
from hotmem.types import (
    Category,
    EvidenceKind,
    Interval,
    Kind,
    NewMemory,
    QueryVectors,
    UserKey,
    Vector,
)
from hotmem.types.maintenance import ForgetSession
from tests.conversation import said, store_turns
from tests.letters import DIMENSION, NO_SIGNS
from tests.storage.search.test_vectors import NOW, unit

SERVED = UserRotation()

ENCODER = queries.reembedding.identified("pairs of letters", DIMENSION)

BEFORE, AFTER = unit(1, 64), unit(2, 64)
"""What the former and the file's encoder make of each row, by its number; they have nothing in
common."""

SOUGHT = QueryVectors(unit(3, 1)[0], unit(4, 1)[0])


@contextmanager
def opened() -> Iterator[Connection]:
    """A file of its own for each example."""
    with TemporaryDirectory() as folder, closing(connect(Path(folder) / "memory.db")) as conn:
        conn.execute("PRAGMA synchronous = OFF")
        migrate(conn, Path(folder) / "memory.db")
        vectors.adopt(conn, "pairs of letters", DIMENSION)
        yield conn


def put(conn: Connection, keys: Sequence[int], made: Vectors) -> None:
    """Store what an encoder made of some rows."""
    rows = [made[key] for key in keys]
    vectors.put(conn, EvidenceKind.PASSAGE, keys, rows, [NO_SIGNS] * len(keys))


def tell(conn: Connection, count: int, *, first: int = 0, embedded: bool = True) -> None:
    """Turns of one passage each, numbered from 1 on, with the former encoder's vectors."""
    for number in range(first, first + count):
        turns.add(conn, said(f"number {number}", session=f"s{number // 8}"), NOW)
    if embedded:
        keys = range(first + 1, first + count + 1)
        put(conn, keys, BEFORE)


def renew(conn: Connection, most: int) -> list[int]:
    """Embeds the next rows anew; returns them."""
    rows = reembedding.following(conn, most)
    keys = [key for _, key, _ in rows]
    if keys:
        put(conn, keys, AFTER)
        reembedding.advance(conn, EvidenceKind.PASSAGE, keys)
    return keys


def ana(conn: Connection) -> UserKey:
    """The user's number."""
    user = users.ensure(conn, "ana")
    return user


def cosines(conn: Connection, sought: QueryVectors) -> dict[int, float]:
    """Of each row that has a vector its cosine to what is sought, by hand."""
    upto = reembedding.boundary(conn, EvidenceKind.PASSAGE)
    pairs: dict[int, tuple[Vector, Vector | None]] = {
        key: (BEFORE[key], sought.former) if key <= upto else (AFTER[key], sought.vector)
        for (key,) in conn.execute("SELECT id FROM passages WHERE vector NOT NULL")
    }
    return {
        key: 0.0 if asked is None else float(row @ asked) for key, (row, asked) in pairs.items()
    }


def is_found_as_by_hand(conn: Connection, index: Index, sought: QueryVectors = SOUGHT) -> None:
    """Every row is found, each by its own vector.

    Without the former encoder, those of the new one alone.
    """
    by_hand = cosines(conn, sought)
    upto = reembedding.boundary(conn, EvidenceKind.PASSAGE)
    there = {key for key in by_hand if key > upto or sought.former is not None}
    found = dict(vectors.nearest(conn, index, sought, 64)())
    assert there <= found.keys()
    assert all(abs(found[key] - by_hand[key]) < 0.02 for key in there)
    sessions = conn.column("SELECT id FROM sessions")
    assert dict(vectors.inside(conn, index.user, sessions, sought, 64)()) == pytest.approx(
        by_hand, abs=0.02
    )
    window = Interval(NOW - timedelta(days=9), NOW + timedelta(days=9))
    search = searches.SaidIn(EvidenceKind.PASSAGE, window, sought, 64)
    within = dict(search.run(conn, index.user, lambda _: IndexReader(index))())
    assert all(abs(within[key] - cosine) < 0.02 for key, cosine in by_hand.items())


@settings(max_examples=60)
@given(
    steps=st.lists(st.sampled_from(["renew", "tell", "embed", "forget"]), min_size=1, max_size=14),
    portion=st.integers(1, 9),
)
def test_each_row_is_found_by_the_vector_it_has(steps: Sequence[str], portion: int) -> None:
    with opened() as conn:
        tell(conn, 16)
        held = Index(EvidenceKind.PASSAGE, ana(conn))
        vectors.nearest(conn, held, SOUGHT, 64)()
        vectors.adopt(conn, "another", DIMENSION)
        told = 16
        for step in steps:
            if step == "renew":
                renew(conn, portion)
            elif step == "tell" and told < 60:
                tell(conn, 1, first=told, embedded=False)
                told += 1
            elif step == "embed":
                waiting = [
                    key for kind, key, _ in vectors.waiting(conn, 3) if kind is EvidenceKind.PASSAGE
                ]
                put(conn, waiting, AFTER)
            elif step == "forget":
                forget.remove_session(conn, held.user, f"s{told // 16}")
            is_found_as_by_hand(conn, held)
            is_found_as_by_hand(conn, held, QueryVectors(SOUGHT.vector))
        while renew(conn, portion):
            is_found_as_by_hand(conn, held)
        reembedding.finish(conn)
        fresh = Index(EvidenceKind.PASSAGE, held.user)
        assert (
            vectors.nearest(conn, held, SOUGHT, 64)() == vectors.nearest(conn, fresh, SOUGHT, 64)()
        )


def test_the_newest_are_embedded_anew_first_and_no_index_is_read_again_for_it(
    conn: Connection,
) -> None:
    tell(conn, 20)
    vectors.adopt(conn, "another", DIMENSION)
    assert reembedding.former_encoder(conn) == f"pairs of letters/{DIMENSION}"
    revisions = conn.execute("SELECT * FROM index_revisions").fetchall()
    assert (
        renew(conn, 3) == [20, 19, 18]
        and renew(conn, 100) == list(range(17, 0, -1))
        and renew(conn, 3) == []
    )
    assert conn.execute("SELECT * FROM index_revisions").fetchall() == revisions
    assert reembedding.former_encoder(conn) is not None, "until it is said to be finished"
    reembedding.finish(conn)
    assert reembedding.former_encoder(conn) is None and reembedding.ask_boundaries(conn)() == {}


def test_what_waits_when_the_encoder_changes_is_embedded_by_the_new_one_alone(
    conn: Connection,
) -> None:
    tell(conn, 4)
    tell(conn, 2, first=4, embedded=False)
    tell(conn, 2, first=6)
    vectors.adopt(conn, "another", DIMENSION)
    tell(conn, 1, first=8, embedded=False)
    assert [key for _, key, _ in vectors.waiting(conn, 9)] == [9], (
        "those before are not known to be of the new encoder"
    )
    assert renew(conn, 1) == [8] and renew(conn, 2) == [7, 4]
    assert sorted(key for _, key, _ in vectors.waiting(conn, 9)) == [5, 6, 9]


def test_vectors_of_another_length_cannot_be_searched_and_go(conn: Connection) -> None:
    tell(conn, 3)
    vectors.adopt(conn, "longer", 2 * DIMENSION)
    assert reembedding.former_encoder(conn) is None and len(vectors.waiting(conn, 9)) == 3
    assert conn.scalar("SELECT count(*) FROM passage_entries WHERE bits NOT NULL") == 0


def test_a_second_change_lets_the_oldest_vectors_go(conn: Connection) -> None:
    tell(conn, 6)
    vectors.adopt(conn, "second", DIMENSION)
    renew(conn, 2)
    vectors.adopt(conn, "third", DIMENSION)
    assert reembedding.former_encoder(conn) == f"second/{DIMENSION}"
    assert conn.column("SELECT id FROM passages WHERE vector NOT NULL ORDER BY id") == [5, 6]
    assert renew(conn, 9) == [6, 5] and renew(conn, 9) == []
    reembedding.finish(conn)
    assert sorted(key for _, key, _ in vectors.waiting(conn, 9)) == [1, 2, 3, 4]


def test_changed_back_at_once_nearly_all_rows_have_their_vectors_already(conn: Connection) -> None:
    tell(conn, 6)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    before = vectors.nearest(conn, held, SOUGHT, 9)()
    vectors.adopt(conn, "another", DIMENSION)
    renew(conn, 2)
    vectors.nearest(conn, held, SOUGHT, 9)()
    vectors.adopt(conn, "pairs of letters", DIMENSION)
    assert reembedding.former_encoder(conn) is None
    assert sorted(key for _, key, _ in vectors.waiting(conn, 9)) == [5, 6]
    put(conn, [5, 6], BEFORE)
    assert (
        vectors.nearest(conn, held, SOUGHT, 9)()
        == vectors.nearest(conn, Index(EvidenceKind.PASSAGE, held.user), SOUGHT, 9)()
        == before
    )


def test_changed_back_late_the_many_that_were_changed_are_kept(conn: Connection) -> None:
    tell(conn, 6)
    vectors.adopt(conn, "another", DIMENSION)
    renew(conn, 4)
    vectors.adopt(conn, "pairs of letters", DIMENSION)
    assert reembedding.former_encoder(conn) == f"another/{DIMENSION}"
    assert conn.column("SELECT id FROM passages WHERE vector NOT NULL ORDER BY id") == [3, 4, 5, 6]


def test_a_search_before_anything_is_embedded_finds_nothing(conn: Connection) -> None:
    tell(conn, 60, embedded=False)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    assert vectors.nearest(conn, held, QueryVectors(SOUGHT.vector), 3)() == []
    assert vectors.nearest(conn, held, SOUGHT, 1)() == []


def test_what_cannot_be_embedded_anew_waits_as_new_rows_do(conn: Connection) -> None:
    tell(conn, 3)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    vectors.adopt(conn, "another", DIMENSION)
    vectors.nearest(conn, held, SOUGHT, 9)()
    keys = [key for _, key, _ in reembedding.following(conn, 2)]
    reembedding.advance(conn, EvidenceKind.PASSAGE, keys)
    reembedding.postpone(conn, EvidenceKind.PASSAGE, keys)
    assert sorted(key for _, key, _ in vectors.waiting(conn, 9)) == [2, 3] and renew(conn, 9) == [1]
    put(conn, [2, 3], AFTER)
    is_found_as_by_hand(conn, held)


def test_what_is_loaded_says_which_encoder_its_vector_is_of(conn: Connection) -> None:
    tell(conn, 4)
    vectors.adopt(conn, "another", DIMENSION)
    renew(conn, 2)
    found = evidence.load(conn, ana(conn), {EvidenceKind.PASSAGE: range(1, 5)})
    assert {one.key: one.former for one in found} == {1: True, 2: True, 3: False, 4: False}


def test_no_subcategories_are_found_in_vectors_of_two_encoders(conn: Connection) -> None:
    tell(conn, 1)
    user = ana(conn)
    for key, text in enumerate(("I like tea.", "I like coffee.", "I like milk."), start=1):
        note = NewMemory(text, Kind.PREFERENCE, Category.CONTEXTS, 3)
        new_memories.insert(conn, user, note, BEFORE[key], NO_SIGNS, NOW, "told")
    vectors.adopt(conn, "another", DIMENSION)
    vectors.put(conn, EvidenceKind.MEMORY, [3], [AFTER[3]], [NO_SIGNS])
    reembedding.advance(conn, EvidenceKind.MEMORY, [3])
    assert evolutions.members(conn, user, Category.CONTEXTS, 9).texts == ("I like milk.",)


def test_no_summary_is_made_of_vectors_of_two_encoders(conn: Connection) -> None:
    tell(conn, 12)
    conn.execute("UPDATE sessions SET summary_due = ?", (jobs.WHEN_ENDED,))
    vectors.adopt(conn, "another", DIMENSION)
    assert jobs.next_session(conn, jobs.UserRotation())[0] is None
    renew(conn, 4)
    second = conn.scalar("SELECT id FROM sessions WHERE public_id = 's1'")
    due, _ = jobs.next_session(conn, jobs.UserRotation())
    assert due is not None and due.key == second, "the first session is still of the former one"


def test_what_is_brought_back_meanwhile_is_embedded_by_the_new_encoder(conn: Connection) -> None:
    tell(conn, 12)
    user = ana(conn)
    vectors.adopt(conn, "another", DIMENSION)
    renew(conn, 2)
    until = NOW + timedelta(days=1)
    forgotten = deletions.delete(conn, user, ForgetSession("s1"), NOW, until)
    assert forgotten.turns == 4
    deletions.restore(conn, user)
    while renew(conn, 3):
        pass
    assert sorted(key for _, key, _ in vectors.waiting(conn, 9)) == [9, 10, 11, 12]
    assert np.array_equal(
        conn.column("SELECT id FROM passages WHERE vector NOT NULL ORDER BY id"),
        range(1, 9),
    )


async def test_an_embedding_of_words_that_have_changed_meanwhile_is_not_stored(
    database: Path,
) -> None:
    """As when a summary is cut, and brought back while the cut one is being embedded."""
    storage = open_storage(database)
    await steps.adopt_encoder(storage.database, "pairs of letters", DIMENSION)
    for number in range(2):
        await store_turns(storage.database, said(f"number {number}", name=f"t{number}"), now=NOW)
    (_, first, _), second = await storage.database.read_all(
        queries.embedding.waiting, ENCODER, 9, SERVED
    )
    await storage.database.write_all(
        queries.embedding.put,
        ENCODER,
        [(EvidenceKind.PASSAGE, first, "Ana: other words"), second],
        list(AFTER[:2]),
        [NO_SIGNS] * 2,
    )
    assert [
        key
        for _, key, _ in await storage.database.read_all(
            queries.embedding.waiting, ENCODER, 9, SERVED
        )
    ] == [first]
    await storage.database.close()
