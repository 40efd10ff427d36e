"""The vector search against a search by hand, and what vectors keep of the originals."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models.encoder import Vectors, unit_rows
from hotmem.storage.queries import turns, users
from hotmem.storage.queries.index_entries import to_bits
from hotmem.storage.search import vectors
from hotmem.storage.search.user_index import WORD, Index
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import EvidenceKind, QueryVectors
from tests.conversation import said
from tests.letters import DIMENSION, NO_SIGNS

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def unit(seed: int, rows: int, dimension: int = DIMENSION) -> Vectors:
    """Random unit rows, float32 (rows, dimension)."""
    drawn = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return unit_rows(drawn)


def put(conn: Connection, keys: Sequence[int], rows: Vectors) -> None:
    """Stores the rows of passages, without word pieces."""
    vectors.put(conn, EvidenceKind.PASSAGE, keys, list(rows), [NO_SIGNS] * len(keys))


@pytest.mark.parametrize("seed", range(8))
def test_all_of_the_users_rows_are_found_in_the_order_of_their_cosine(
    conn: Connection, seed: int
) -> None:
    rows = unit(seed, 60)
    for number in range(60):
        turns.add(conn, said(f"number {number}", user="ana" if number % 2 else "ben"), NOW)
    keys = conn.column("SELECT id FROM passages ORDER BY id")
    put(conn, keys, rows)
    user = users.ensure(conn, "ana")
    query = unit(seed + 100, 1)[0]
    found = vectors.nearest(conn, Index(EvidenceKind.PASSAGE, user), QueryVectors(query), 30)()
    by_hand = {
        key: float(row @ query)
        for number, (key, row) in enumerate(zip(keys, rows, strict=True))
        if number % 2
    }
    assert {key for key, _ in found} == by_hand.keys()
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert all(abs(cosine - by_hand[key]) < 0.02 for key, cosine in found)


def test_the_nearest_few_are_nearly_those_of_an_exact_search(conn: Connection) -> None:
    rng = np.random.default_rng(7)
    centres = unit(1, 20)
    rows = np.repeat(centres, 20, axis=0) + rng.normal(scale=0.05, size=(400, DIMENSION)).astype(
        np.float32
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for number in range(400):
        turns.add(conn, said(f"number {number}"), NOW)
    keys = conn.column("SELECT id FROM passages ORDER BY id")
    put(conn, keys, rows)
    user = users.ensure(conn, "ana")
    for centre in centres:
        exact = {keys[place] for place in np.argsort(-(rows @ centre))[:20]}
        found = {
            key
            for key, _ in vectors.nearest(
                conn, Index(EvidenceKind.PASSAGE, user), QueryVectors(centre), 20
            )()
        }
        assert len(found & exact) >= 18


def test_put_replaces_and_skips_rows_that_are_gone(conn: Connection) -> None:
    turns.add(conn, said("one"), NOW)
    key = conn.scalar("SELECT id FROM passages")
    first, second = unit(3, 2)
    put(conn, [key, 999], np.stack([first, second]))
    put(conn, [key], second[None])
    user = users.ensure(conn, "ana")
    found = vectors.nearest(conn, Index(EvidenceKind.PASSAGE, user), QueryVectors(second), 5)()
    assert [row for row, _ in found] == [key] and found[0][1] > 0.99
    assert conn.scalar("SELECT count(*) FROM passage_entries") == 1


def test_the_whole_queue_is_asked_for_in_portions(conn: Connection) -> None:
    for number in range(5):
        turns.add(conn, said(f"number {number}"), NOW)
    assert [text for _, _, text in vectors.waiting(conn, 3)] == [
        "Ana: number 0",
        "Ana: number 1",
        "Ana: number 2",
    ]


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_bytes_keep_the_cosine_of_long_vectors(seed: int) -> None:
    one, other = unit(seed, 2, 384)
    kept = vectors.from_bytes([vectors.to_bytes(one), vectors.to_bytes(other)])
    assert abs(float(kept[0] @ kept[1]) - float(one @ other)) < 0.02
    assert np.allclose(np.linalg.norm(kept, axis=1), 1, atol=1e-5)
    assert len(to_bits(one)) == 48


def test_bits_are_the_signs() -> None:
    assert to_bits(np.array([1, -1, 1, 1, -1, -1, -1, 1], dtype=np.float32)) == bytes([0b10001101])


def test_a_search_inside_sessions_stays_there(conn: Connection) -> None:
    for number in range(12):
        turns.add(
            conn,
            said(
                f"number {number}",
                session=f"session {number % 3}",
                user="ana" if number < 9 else "ben",
            ),
            NOW,
        )
    keys = conn.column("SELECT id FROM passages ORDER BY id")
    rows = unit(5, 12)
    put(conn, keys, rows)
    user = users.ensure(conn, "ana")
    sessions = conn.column(
        "SELECT id FROM sessions WHERE public_id IN ('session 0', 'session 2') ORDER BY id"
    )
    found = vectors.inside(conn, user, sessions, QueryVectors(rows[0]), 10)()
    assert {key for key, _ in found} == {keys[number] for number in (0, 2, 3, 5, 6, 8)}
    assert found[0][0] == keys[0]
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 300),
    dimension=st.sampled_from((20, 64, 100, 384)),
)
def test_the_steps_of_a_search_count_what_they_say(seed: int, rows: int, dimension: int) -> None:
    drawn, query = unit(seed, rows, dimension), unit(seed + 1, 1, dimension)[0]
    octets = np.frombuffer(
        b"".join(to_bits(row).ljust(-(-dimension // 64) * 8, b"\0") for row in drawn),
        dtype=np.uint8,
    )
    bits = np.ascontiguousarray(octets.reshape(rows, -1).view(WORD).T)
    assert (
        vectors.hamming(bits, query).tolist() == ((drawn > 0) != (query > 0)).sum(axis=1).tolist()
    )
    agreements = np.where(drawn > 0, 1, -1) @ query
    assert np.allclose(vectors.agreements(bits, query), agreements, atol=1e-4)
    best = set(np.argsort(-agreements)[:5].tolist())
    assert best <= set(vectors.by_sign(bits, query, rows, 5).tolist())


def test_a_byte_vector_uses_the_whole_byte() -> None:
    row = unit(1, 1, 384)[0]
    kept = np.frombuffer(vectors.to_bytes(row), dtype=np.int8)
    assert np.abs(kept).max() == vectors.BYTE_SCALE
    assert float(vectors.from_bytes([vectors.to_bytes(row)])[0] @ row) > 0.9999
    assert vectors.to_bytes(np.zeros(4, dtype=np.float32)) == bytes(4)
