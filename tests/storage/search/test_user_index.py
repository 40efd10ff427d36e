"""The index in memory beside the file: it follows every change, whoever makes it."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.storage.queries import forget, sessions, turns, users
from hotmem.storage.queries.index_entries import to_bits
from hotmem.storage.search import bm25, postings, user_index, vectors
from hotmem.storage.search.user_index import Index, IndexCache
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.types import EvidenceKind, QueryVectors, SessionSummary, SignBits, UserKey, Vector
from tests.conversation import said
from tests.letters import LetterEncoder

NOW = datetime(2026, 3, 2, tzinfo=UTC)
NO_SIGNS: SignBits = np.empty((0, 0), dtype=np.uint8)

steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("say"),
            st.sampled_from(("ana", "ben")),
            st.sampled_from(("one", "two", "three")),
        ),
        st.tuples(st.just("embed"), st.integers(1, 4), st.just("")),
        st.tuples(st.just("forget"), st.sampled_from(("one", "two", "three")), st.just("")),
        st.tuples(st.just("summarise"), st.sampled_from(("one", "two", "three")), st.just("")),
    ),
    max_size=20,
)


@pytest.fixture
def reader(conn: Connection, database: Path) -> Iterator[Connection]:
    """Another connection to the same file, as another process has it."""
    with closing(connect(database, read_only=True)) as opened:
        yield opened


def embed(conn: Connection, limit: int = 100) -> None:
    for kind, key, text in vectors.waiting(conn, limit):
        vectors.put(conn, kind, [key], list(LetterEncoder().encode([text])), [NO_SIGNS])


def summarise(conn: Connection, session: int) -> None:
    (user,) = conn.execute("SELECT user_key FROM sessions WHERE id = ?", (session,)).fetchone()
    seen = sessions.unsummarised(conn, user, session)
    if seen is not None:
        text = f"About {len(seen.turns)} turns."
        sessions.put(conn, user, seen, SessionSummary(topics=("talk",)), {}, text)


def ana(conn: Connection) -> UserKey:
    return users.ensure(conn, "ana")


def in_file(
    conn: Connection, kind: EvidenceKind, user: UserKey
) -> list[tuple[int, int, int, bytes | None]]:
    return conn.execute(
        f"SELECT id, session, length, bits FROM {kind}_entries WHERE user_key = ? ORDER BY id",
        (user,),
    ).fetchall()


def in_memory(conn: Connection, held: Index) -> list[tuple[int, int, int, bytes | None]]:
    entries = held.read(conn)
    octets = np.ascontiguousarray(entries.bits.T).view(np.uint8)
    sessions = entries.sessions[entries.places]
    rows = zip(
        entries.keys.tolist(), sessions.tolist(), entries.lengths.tolist(), octets, strict=True
    )
    return [
        (key, session, int(length), row.tobytes() if row.any() else None)
        for key, session, length, row in rows
    ]


@settings(max_examples=60)
@given(steps=steps, portion=st.integers(1, 4))
def test_it_holds_what_the_file_holds_after_every_change(
    conn: Connection, reader: Connection, steps: list[tuple[str, str | int, str]], portion: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(user_index, "PAGE_SIZE", portion)
        user = ana(conn)
        followed = {kind: Index(kind, user) for kind in EvidenceKind}
        for step, what, session in steps:
            match step:
                case "say":
                    turns.add(
                        conn,
                        said("The dog barks at the ferry.", user=str(what), session=session),
                        NOW,
                    )
                case "embed":
                    embed(conn, int(what))
                case "forget":
                    forget.remove_session(conn, user, str(what))
                case "summarise":
                    row = conn.execute(
                        "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?", (user, what)
                    ).fetchone()
                    if row:
                        summarise(conn, row[0])
            for kind, held in followed.items():
                assert in_memory(reader, held) == in_file(reader, kind, user)
                entries = held.read(reader)
                assert entries.session_lengths.sum() == entries.lengths.sum()
            passages = followed[EvidenceKind.PASSAGE]
            assert len(bm25.search(reader, passages, ["ferry"], 100)()) == len(
                passages.read(reader).keys
            )
        forget.remove_user(conn, user)
        assert all(in_memory(reader, held) == [] for held in followed.values())


def test_what_an_older_reader_does_not_see_yet_is_not_lost(
    conn: Connection, reader: Connection
) -> None:
    turns.add(conn, said("The ferry is late."), NOW)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    reader.execute("BEGIN")
    assert len(held.read(reader).keys) == 1
    turns.add(conn, said("The ferry is here."), NOW)
    embed(conn)
    assert len(held.read(conn).keys) == 2
    assert len(bm25.search(reader, held, ["ferry"], 10)()) == 1, (
        "what it does not see, it does not say"
    )
    assert len(bm25.search(conn, held, ["ferry"], 10)()) == 2, "nor does it hide it from others"
    reader.execute("ROLLBACK")
    assert in_memory(reader, held) == in_file(reader, EvidenceKind.PASSAGE, ana(conn))


def test_a_search_under_way_while_rows_go_misleads_no_later_one(
    conn: Connection, reader: Connection
) -> None:
    for session, text in (
        ("gone", "The ferry is late."),
        ("kept", "The dog barks."),
        ("kept", "The ferry is here."),
    ):
        turns.add(conn, said(text, session=session), NOW)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    reader.execute("BEGIN")
    before = held.read(reader)
    forget.remove_session(conn, ana(conn), "gone")
    assert len(held.read(conn).keys) == 2
    assert before.postings.places(reader, before.keys, ["ferri"])()["ferri"].tolist() == [0, 2]
    assert len(bm25.search(reader, held, ["ferry"], 10)()) == 1, (
        "it may know of the removal before it sees it"
    )
    reader.execute("ROLLBACK")
    assert [key for key, _ in bm25.search(conn, held, ["ferry"], 10)()] == [3]


def test_a_forgotten_row_is_found_no_more_by_an_index_that_does_not_know(conn: Connection) -> None:
    turns.add(conn, said("The ferry is late.", session="gone"), NOW)
    turns.add(conn, said("The ferry is here.", session="kept"), NOW)
    embed(conn)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    query: Vector = LetterEncoder().encode(["The ferry"])[0]
    assert len(vectors.nearest(conn, held, QueryVectors(query), 5)()) == 2
    forget.remove_session(conn, ana(conn), "gone")
    held._revision += 1  # the change goes unnoticed
    assert len(held.read(conn).keys) == 2
    ((key, _),) = vectors.nearest(conn, held, QueryVectors(query), 5)()
    assert conn.scalar("SELECT session FROM passages WHERE id = ?", (key,)) == 2


def test_signs_of_any_dimension_fill_whole_words(conn: Connection) -> None:
    vectors.adopt(conn, "another", 20)
    turns.add(conn, said("The ferry is late."), NOW)
    ((kind, key, _),) = vectors.waiting(conn, 5)
    vector = np.linspace(-1, 1, 20, dtype=np.float32)
    vectors.put(conn, kind, [key], [vector], [NO_SIGNS])
    bits = Index(EvidenceKind.PASSAGE, ana(conn)).read(conn).bits
    assert bits.shape == (1, 1)
    assert bits.tobytes() == to_bits(vector).ljust(8, b"\0")


def test_what_waits_for_its_vectors_is_not_read_again_and_again(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_index, "PAGE_SIZE", 2)
    for number in range(9):
        turns.add(conn, said(f"The ferry is late, number {number}."), NOW)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    held.read(conn)
    asked: list[str] = []

    def note(_cursor: object, sql: str, _values: object) -> bool:
        asked.append(sql)
        return True

    conn.set_exec_trace(note)
    held.read(conn)
    assert len(asked) == 1, "whether anything is new"
    turns.add(conn, said("The ferry is here."), NOW)
    embed(conn, 3)
    asked.clear()
    held.read(conn)
    assert len(asked) == 1 + 3 + 1, (
        "the two portions with new vectors, the one after them, and the rest"
    )
    conn.set_exec_trace(None)
    assert in_memory(conn, held) == in_file(conn, EvidenceKind.PASSAGE, ana(conn))


def test_terms_not_asked_for_lately_are_dropped(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        turns.add(conn, said(f"The ferry and the dog, number {number}."), NOW)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    bm25.search(conn, held, ["ferry"], 5)()
    one = held.nbytes
    bm25.search(conn, held, ["dog"], 5)()
    assert held.nbytes == one + 20 * 4
    monkeypatch.setattr(postings, "BYTES", 100)
    limited = Index(EvidenceKind.PASSAGE, ana(conn))
    assert len(bm25.search(conn, limited, ["ferry", "dog"], 50)()) == 20
    assert limited.nbytes == one


def test_the_cache_evicts_the_least_recently_used_index(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_index, "BYTES", 1)
    indexes = IndexCache()
    turns.add(conn, said("The ferry is late."), NOW)
    first = indexes.index(EvidenceKind.PASSAGE, ana(conn))
    first.read(conn)
    assert indexes.index(EvidenceKind.PASSAGE, ana(conn)) is first, "the one in use stays"
    indexes.index(EvidenceKind.PASSAGE, UserKey(99))
    again = indexes.index(EvidenceKind.PASSAGE, ana(conn))
    assert again is not first and not again.loaded
    indexes.drop(ana(conn))
    assert indexes.index(EvidenceKind.PASSAGE, ana(conn)) is not again


def test_what_is_said_beside_an_import_gets_its_vector_first(
    conn: Connection, reader: Connection
) -> None:
    for number in range(5):
        turns.add(conn, said(f"The ferry number {number} is late."), NOW, came_with=1)
    held = Index(EvidenceKind.PASSAGE, ana(conn))
    assert len(held.read(reader).keys) == 5
    for number in range(3):
        turns.add(conn, said(f"The dog number {number} barks."), NOW)
        held.read(reader)
        embed(conn)
        assert in_memory(reader, held) == in_file(conn, EvidenceKind.PASSAGE, ana(conn))
