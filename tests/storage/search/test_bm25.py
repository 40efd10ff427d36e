"""The word search against a search by hand."""

import re
from datetime import UTC, datetime
from math import log

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.storage.queries import turns, users
from hotmem.storage.queries.index_entries import WORDED
from hotmem.storage.search import bm25
from hotmem.storage.search.user_index import Index
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import EvidenceKind, UserKey
from tests.conversation import said
from tests.tables import tables

CASES = tables(__file__)

NOW = datetime(2026, 3, 2, tzinfo=UTC)
VOCABULARY = CASES["vocabulary"]
stem = Stemmer.Stemmer("porter").stemWord

sentences = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(" ".join)
told = st.lists(
    st.tuples(st.sampled_from(("ana", "ben", "u1")), sentences), min_size=1, max_size=15
)
asked = st.lists(st.sampled_from(VOCABULARY), max_size=4)


def stems(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.casefold())}


def text_of(conn: Connection, passage: int) -> str:
    return str(
        conn.scalar(
            "SELECT t.text FROM passages p JOIN turns t ON t.id = p.turn WHERE p.id = ?", (passage,)
        )
    )


@settings(max_examples=60)
@given(told=told, asked=asked)
def test_exactly_the_users_rows_with_a_word_are_found(
    conn: Connection, told: list[tuple[str, str]], asked: list[str]
) -> None:
    conn.execute("BEGIN")
    try:
        for user, text in told:
            turns.add(conn, said(text, user=user), NOW)
        for user in {user for user, _ in told}:
            key = users.ensure(conn, user)
            index = Index(EvidenceKind.PASSAGE, key)
            found = bm25.search(conn, index, asked, 100)()
            texts = [text_of(conn, row) for row, _ in found]
            wanted = stems(" ".join(asked))
            assert sorted(texts) == sorted(
                text for whose, text in told if whose == user and stems(text) & wanted
            )
            assert [score for _, score in found] == sorted(
                (score for _, score in found), reverse=True
            )
            assert bm25.search(conn, index, asked, 1)() == found[:1]
    finally:
        conn.execute("ROLLBACK")


@settings(max_examples=100)
@given(terms=st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=4))
def test_no_term_is_an_operator(conn: Connection, terms: list[str]) -> None:
    for kind in WORDED:
        assert bm25.search(conn, Index(kind, UserKey(1)), terms, 5)() == []


def test_rarer_words_score_higher(conn: Connection) -> None:
    for text in ("dog one", "dog two", "dog three", "cello four", "ferry five", "walnut six"):
        turns.add(conn, said(text), NOW)
    user = users.ensure(conn, "ana")
    best = bm25.search(conn, Index(EvidenceKind.PASSAGE, user), ["dog", "cello"], 10)()[0]
    assert text_of(conn, best[0]) == "cello four"


def test_the_score_is_that_of_the_formula(conn: Connection) -> None:
    for text in ("dog", "dog cello porto ferry", "walnut walnut", "ferry late again today"):
        turns.add(conn, said(text), NOW)
    user = users.ensure(conn, "ana")
    (best, score), (other, less) = bm25.search(
        conn, Index(EvidenceKind.PASSAGE, user), ["dogs"], 10
    )()
    assert (text_of(conn, best), text_of(conn, other)) == ("dog", "dog cello porto ferry")
    rarity = log((4 - 2 + 0.5) / (2 + 0.5))
    assert rarity == 0, "half of the rows hold it"
    assert score == pytest.approx(bm25.MIN_WEIGHT * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / 2.75)))
    assert less == pytest.approx(bm25.MIN_WEIGHT * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 4 / 2.75)))


def test_a_phrase_wants_all_its_words(conn: Connection) -> None:
    for text in ("the old mill", "the old ferry", "a mill of old", "the mill"):
        turns.add(conn, said(text), NOW)
    user = users.ensure(conn, "ana")
    found = bm25.search(
        conn, Index(EvidenceKind.PASSAGE, user), ["old mill", "old, mill", "!?"], 10
    )()
    assert {text_of(conn, key) for key, _ in found} == {"the old mill", "a mill of old"}


def test_a_session_is_found_by_all_that_was_said_in_it(conn: Connection) -> None:
    lines = CASES["a_session_is_found_by_all_that_was_said_in_it"]
    for session, text in lines:
        turns.add(conn, said(text, session=session), NOW)
    user = users.ensure(conn, "ana")
    names = dict(conn.execute("SELECT id, public_id FROM sessions").fetchall())
    found = [
        (names[key], score)
        for key, score in bm25.sessions(
            conn, Index(EvidenceKind.PASSAGE, user), ["rain", "barking"], 10
        )()
    ]
    assert [name for name, _ in found] == ["garden", "mill"]
    usual = (3 + 3 + 2 + 3 + 2) / 3
    rain, barks = log((3 - 2 + 0.5) / 2.5), log((3 - 1 + 0.5) / 1.5)
    assert rain < 0 < barks, "most sessions hold rain"
    share = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 8 / usual))
    assert found[0][1] == pytest.approx(barks * share + bm25.MIN_WEIGHT * share)


@given(
    keys=st.lists(st.integers(1, 1000), unique=True).map(sorted),
    limit=st.integers(1, 20),
    data=st.data(),
)
def test_the_best_are_those_of_a_whole_sort(
    keys: list[int], limit: int, data: st.DataObject
) -> None:
    scores = data.draw(st.lists(st.integers(0, 5), min_size=len(keys), max_size=len(keys)))
    wanted = sorted(
        ((key, score) for key, score in zip(keys, scores, strict=True) if score),
        key=lambda pair: (-pair[1], pair[0]),
    )
    assert (
        bm25.best(np.array(keys, dtype=np.int64), np.array(scores, dtype=np.float32), limit)
        == wanted[:limit]
    )
