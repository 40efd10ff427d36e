"""The metric by arithmetic and by properties."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.content_words import content_words, words
from eval.datasets import Conversation, Question, Session
from eval.evidence import (
    MAX_IDS,
    SUFFICIENT_WORDS,
    answer_share,
    first_sessions,
    is_delivered,
    score,
)
from hotmem import Turn

NOW = datetime(2024, 5, 6, tzinfo=UTC)


@dataclass(frozen=True)
class Piece:
    text: str
    turn_ids: tuple[str, ...]
    session_id: str = "mon"
    relevance: float = 0.5


# Five content words: loom, eight, shafts, linen, warp.
TEXT = "My loom has eight shafts and a linen warp."


def test_content_words() -> None:
    assert content_words(TEXT) == {"loom", "eight", "shafts", "linen", "warp"}
    assert words("Ana\u2019s dog isn't HERE") == ["ana", "dog", "isn't", "here"]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (TEXT, True),
        ("loom eight shafts", True),  # 3 of 5 is 60 %
        ("loom eight", False),
        ("LOOM, eight; 'shafts'", True),
        ("looms eights shaft", False),  # whole words
        ("", False),
        ("t1", False),
    ],
)
def test_share_of_words(shown: str, expected: bool) -> None:
    assert is_delivered("t1", TEXT, [Piece(shown, ("t1",))]) is expected


def test_fifteen_words_of_a_long_turn_are_enough() -> None:
    turn = " ".join(f"word{number}" for number in range(100))
    assert is_delivered(
        "t1",
        turn,
        [Piece(" ".join(f"word{number}" for number in range(SUFFICIENT_WORDS)), ("t1",))],
    )
    assert not is_delivered(
        "t1",
        turn,
        [Piece(" ".join(f"word{number}" for number in range(SUFFICIENT_WORDS - 1)), ("t1",))],
    )


def test_one_item_must_do_it() -> None:
    halves = [Piece("loom eight", ("t1",)), Piece("shafts linen warp"[:12], ("t1",))]
    assert not is_delivered("t1", TEXT, halves)


def test_the_item_must_name_the_turn() -> None:
    assert not is_delivered("t1", TEXT, [Piece(TEXT, ("t2",))])
    assert is_delivered("t1", TEXT, [Piece(TEXT, ("t2", "t1"))])


def test_a_long_list_of_ids_earns_nothing() -> None:
    ids = tuple(f"t{number}" for number in range(MAX_IDS + 1))
    assert not is_delivered("t1", TEXT, [Piece(TEXT, ids)])
    assert is_delivered("t1", TEXT, [Piece(TEXT, ids[:-1])])


def test_a_turn_of_stop_words_is_compared_by_all_of_them() -> None:
    assert is_delivered("t1", "Yes, I will.", [Piece("- Ana: Yes, I will.", ("t1",))])
    assert not is_delivered("t1", "Yes, I will.", [Piece("- Ana: No.", ("t1",))])


def test_answer() -> None:
    assert answer_share("8 May, 2023", "said on 8 may") == pytest.approx(2 / 3)
    assert answer_share("", "anything") is None
    assert answer_share(" ".join(f"word{number}" for number in range(11)), "word1") is None


def test_sessions_by_relevance() -> None:
    pieces = [Piece("x", ("t",), f"s{number}", relevance=number / 10) for number in range(7)]
    assert first_sessions([*pieces, pieces[6]]) == ("s6", "s5", "s4", "s3", "s2")


def conversation(question: Question) -> Conversation:
    turns = tuple(
        Turn(user_id="ana", session_id=session, role="user", text=text, spoken_at=NOW, id=turn)
        for session, turn, text in (
            ("mon", "t1", TEXT),
            ("tue", "t2", "The barn roof leaks badly."),
        )
    )
    sessions = tuple(Session(turn.session_id, (turn,)) for turn in turns)
    return Conversation("ana", sessions, (question,))


def test_score() -> None:
    question = Question("q", "What leaks?", NOW, ("t1", "t2"), "barn roof", "own")
    found = score(
        question, conversation(question), "the roof", [Piece("barn roof leaks", ("t2",), "tue")]
    )
    assert (found.delivered, found.all, found.answer, found.sessions) == (0.5, 0.0, 0.5, 0.0)
    both = [Piece("barn roof leaks", ("t2",), "tue"), Piece(TEXT, ("t1",), "mon")]
    assert score(question, conversation(question), "barn roof", both).all == 1.0


def test_unscored_is_not_zero() -> None:
    abstained = Question("q", "What?", NOW, ("t1",), "x", "own", abstain=True)
    found = score(abstained, conversation(abstained), "", [])
    assert (found.delivered, found.all, found.answer, found.sessions) == (None, None, None, None)
    without = Question("q", "What?", NOW, (), "barn roof", "own")
    found = score(without, conversation(without), "barn", [])
    assert (found.delivered, found.answer) == (None, 0.5)


texts = st.text(max_size=200)


@given(texts, st.lists(texts, max_size=4))
def test_more_items_never_deliver_less(text: str, others: list[str]) -> None:
    pieces = [Piece(other, ("t1",)) for other in others]
    if is_delivered("t1", text, pieces):
        assert is_delivered("t1", text, [*pieces, Piece("more", ("t2",))])
    assert is_delivered("t1", text, [*pieces, Piece(text, ("t1",))]) is bool(words(text))
    assert not is_delivered("t3", text, pieces)


@given(texts, texts)
def test_answer_share_is_a_share(answer: str, block: str) -> None:
    share = answer_share(answer, block)
    assert share is None or 0 <= share <= 1
    assert answer_share(answer, answer) in (None, 1.0)
