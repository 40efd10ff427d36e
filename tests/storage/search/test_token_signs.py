"""The signs of a passage's word pieces.

They come back as they were put, and go with their passage or their encoder.
"""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hotmem import Memory
from hotmem.models import CachedEncoder, Language
from hotmem.storage import open_storage, queries
from hotmem.storage.queries import evidence, forget, turns, users
from hotmem.storage.search import vectors
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import Evidence, EvidenceKind, SignBits, UserKey
from tests.conversation import remember, said, user_of
from tests.letters import DIMENSION, NO_SIGNS, LetterEncoder

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def signs(seed: int, rows: int = 7, width: int = DIMENSION // 8) -> SignBits:
    """Random signs, uint8 (rows, width)."""
    return np.random.default_rng(seed).integers(0, 256, (rows, width), dtype=np.uint8)


def told(conn: Connection, *texts: str) -> tuple[UserKey, list[int]]:
    """Ana's user number, and the row number of the passage of each text."""
    for number, text in enumerate(texts):
        turns.add(conn, said(text, session=f"s{number}"), NOW)
    return users.ensure(conn, "ana"), conn.column("SELECT id FROM passages ORDER BY id")


def put(conn: Connection, key: int, kept: SignBits) -> None:
    vectors.put(conn, EvidenceKind.PASSAGE, [key], list(LetterEncoder().encode(["one"])), [kept])


def loaded(conn: Connection, user: UserKey, key: int) -> Evidence:
    (found,) = evidence.ask_passages(conn, user, [key], [], 0, 0)()
    return found


def count(conn: Connection) -> int:
    return int(conn.scalar("SELECT count(*) FROM passage_signs"))


@given(arrays.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_bytes_become_the_signs_they_were(kept: SignBits) -> None:
    found = vectors.unpacked_signs(kept.shape[1], kept.tobytes())
    assert found is not None and found.dtype == np.uint8 and np.array_equal(found, kept)


def test_no_bytes_are_no_signs() -> None:
    assert vectors.unpacked_signs(None, None) is None
    assert vectors.unpacked_signs(48, b"") is None


def test_signs_are_stored_and_loaded_with_their_passage(conn: Connection) -> None:
    user, (one, other) = told(conn, "My dog is called Potola.", "I like walnuts.")
    assert loaded(conn, user, one).signs is None, "while they are being made"
    put(conn, one, signs(1))
    put(conn, other, signs(2, rows=3))
    for key, wanted in ((one, signs(1)), (other, signs(2, rows=3))):
        found = loaded(conn, user, key).signs
        assert found is not None and np.array_equal(found, wanted)
    put(conn, one, signs(3, rows=2))
    again = loaded(conn, user, one).signs
    assert again is not None and np.array_equal(again, signs(3, rows=2)) and count(conn) == 2


def test_a_text_without_word_pieces_has_no_signs(conn: Connection) -> None:
    user, (key,) = told(conn, "One.")
    put(conn, key, NO_SIGNS)
    found = loaded(conn, user, key)
    assert found.signs is None and found.vector is not None and count(conn) == 0


def test_signs_of_a_passage_that_is_gone_are_not_kept(conn: Connection) -> None:
    told(conn, "One.")
    put(conn, 999, signs(1))
    assert count(conn) == 0


def test_signs_are_forgotten_with_their_passage(conn: Connection) -> None:
    user, (one, other) = told(conn, "My dog is called Potola.", "I like walnuts.")
    put(conn, one, signs(1))
    put(conn, other, signs(2))
    forget.remove_session(conn, user, "s0")
    assert conn.execute("SELECT passage FROM passage_signs").fetchall() == [(other,)]
    forget.remove_user(conn, user)
    assert count(conn) == 0


def test_another_encoders_signs_are_never_compared(conn: Connection) -> None:
    """They would mean nothing, and be of another width."""
    user, (key,) = told(conn, "One.")
    put(conn, key, signs(1))
    vectors.adopt(conn, "another encoder", 2 * DIMENSION)
    found = loaded(conn, user, key)
    assert found.signs is None and found.vector is None and count(conn) == 0


async def test_what_is_remembered_is_kept_word_piece_by_word_piece(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    async with Memory.open(database, encoder=encoder, language=language) as memory:
        await remember(memory, "My dog is called Potola.", end="monday")
    storage = open_storage(database)
    user = await user_of(storage.database)
    found = {
        one.kind: one
        for one in await storage.database.read(
            queries.evidence.load, user, {kind: [1] for kind in EvidenceKind}
        )
    }
    await storage.database.close()
    kept = found[EvidenceKind.PASSAGE].signs
    assert kept is not None and np.array_equal(
        kept, encoder.encode_tokens(["Ana: My dog is called Potola."])[0].token_signs
    )
    assert found[EvidenceKind.MEMORY].signs is found[EvidenceKind.SUMMARY].signs is None
