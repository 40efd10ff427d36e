"""Everyday and Locomo-Plus as datasets; short histories and other sources."""

import re
from pathlib import Path

import pytest

from eval.datasets import everyday, locomo_plus
from eval.datasets.base import Conversation
from eval.frontier import OWN
from eval.histories import (
    MAX_UNKNOWN_QUESTIONS,
    NOT_YET_KNOWN,
    Source,
    cut_after,
    from_source,
    histories,
    training_groups,
)
from hotmem.types import Role

DATA = Path(OWN.partition("=")[2])


@pytest.fixture(scope="module")
def batches() -> list[Conversation]:
    return list(everyday.load(DATA))


def test_the_statements_are_as_many_as_they_should_be(batches: list[Conversation]) -> None:
    assert len(batches) == 8 and sum(len(one.notes) for one in batches) >= 600
    questions = [question for one in batches for question in one.questions]
    assert sum(bool(question.evidence) for question in questions) >= 1500
    assert sum(question.category == everyday.UNANSWERABLE for question in questions) >= 400
    for one in batches:
        turns = {turn.id: turn for turn in one.turns}
        assert all(
            turns[turn].role is Role.USER
            for question in one.questions
            for turn in question.evidence
        )
        assert len({question.id for question in one.questions}) == len(one.questions)


def test_half_of_the_questions_share_no_content_word_with_their_statement(
    batches: list[Conversation],
) -> None:
    def stems(text: str) -> set[str]:
        return {word[:5] for word in re.findall(r"[a-z]{6,}", text.lower())}

    asked = [
        (question, one)
        for one in batches
        for question in one.questions
        if question.category == "paraphrase"
    ]
    sharing = 0
    for question, one in asked:
        turns = {turn.id: turn.text for turn in one.turns}
        sharing += any(
            stems(question.text) & stems(f"{turns[turn]} {one.notes[turn]}")
            for turn in question.evidence
        )
    assert len(asked) >= 800 and sharing <= 0.02 * len(asked), (
        "six letters or more; function words are shorter, but for a few"
    )


def test_a_cut_history_knows_its_first_sessions_alone(batches: list[Conversation]) -> None:
    whole = batches[0]
    part = cut_after(whole, 2)
    known = {turn.id for turn in part.turns}
    assert [session.id for session in part.sessions] == ["s1", "s2"]
    assert all(set(question.evidence) <= known for question in part.questions)
    later = [question for question in part.questions if question.category == NOT_YET_KNOWN]
    assert len(later) == MAX_UNKNOWN_QUESTIONS and all(question.abstain for question in later)
    assert all(
        question.asked_at > max(turn.spoken_at for turn in part.turns)
        for question in part.questions
    )


def test_the_same_is_known_from_every_source(batches: list[Conversation]) -> None:
    whole = batches[0]
    stored, mixed, imported = (
        from_source(whole, source) for source in (Source.STORED, Source.MIXED, Source.IMPORTED)
    )
    assert not stored.sessions and {turn.id for turn in stored.stored} == set(whole.notes)
    notes = [turn.text == whole.notes[turn.id] for turn in stored.stored]
    assert 0.4 <= sum(notes) / len(notes) <= 0.6
    assert {turn.id for turn in mixed.turns} == {turn.id for turn in whole.turns} and 0 < len(
        mixed.stored
    ) < len(whole.notes)
    assert imported.imported and imported.turns == whole.turns


def test_histories_keep_the_place_of_their_conversation(batches: list[Conversation]) -> None:
    for name, part in training_groups("everyday", batches):
        assert name in ("everyday told", "everyday stored", "everyday mixed", "everyday young")
        assert [one.user for one in part] == [one.user for one in batches]
    assert {history.source for history in histories(batches[0], (0,))} == set(Source)
    assert not list(histories(batches[0], (len(batches[0].sessions),))), "that is the whole one"


def test_a_dialogue_is_told_and_implied(tmp_path: Path) -> None:
    pair = (
        '{"relation_type": "causal", "cue_dialogue": "A: I gave up sugar.\\nB: Well done!", '
        '"trigger_query": "A: Dessert?", "time_gap": "a week"}'
    )
    file = tmp_path / "pairs.json"
    file.write_text(f"[{pair}, {pair}]", encoding="utf-8")
    (one,) = locomo_plus.load(file)
    assert [(turn.role, turn.text) for turn in one.turns[:2]] == [
        (Role.USER, "I gave up sugar."),
        (Role.ASSISTANT, "Well done!"),
    ]
    assert [(question.text, question.evidence) for question in one.questions] == [
        ("Dessert?", ("0:0",)),
        ("Dessert?", ("1:0",)),
    ]
