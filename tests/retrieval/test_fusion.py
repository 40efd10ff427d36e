"""Fusion of hits into candidates, without those already in the visible conversation."""

from functools import partial

import pytest

from hotmem.retrieval.fusion import Candidate, fuse, pool_scores, split_visible
from hotmem.types import EvidenceKind, Hit, Layer
from tests.ranking.statements import evidence, query
from tests.tables import tables

CASES = tables(__file__)


def test_pool_scores_keeps_the_best_score_of_each_layer() -> None:
    passage = (EvidenceKind.PASSAGE, 1)
    hits = [
        Hit(Layer.VERBATIM, *passage, 2.0),
        Hit(Layer.VERBATIM, *passage, 5.0),
        Hit(Layer.SEMANTIC, *passage, -0.5),
        Hit(Layer.FACTS, EvidenceKind.MEMORY, 1, 0.1),
    ]
    assert pool_scores(hits) == {
        passage: {Layer.VERBATIM: 5.0, Layer.SEMANTIC: -0.5},
        (EvidenceKind.MEMORY, 1): {Layer.FACTS: 0.1},
    }


def test_a_neighbour_not_found_by_a_layer_has_no_scores() -> None:
    found, neighbour = evidence(key=1), evidence(key=2)
    first, second = fuse(
        pool_scores([Hit(Layer.VERBATIM, EvidenceKind.PASSAGE, 1, 2.0)]), [found, neighbour]
    )
    assert (
        first.scores == {Layer.VERBATIM: 2.0}
        and second.scores == {}
        and second.evidence is neighbour
    )


@pytest.mark.parametrize(
    "visible", ["The dog sleeps.", "the  DOG sleeps.\n", "Ana: The dog sleeps. And so on."]
)
def test_visible_passages_are_recognized_regardless_of_case_and_spaces(visible: str) -> None:
    kept, _ = split_visible(
        [
            Candidate(evidence("The dog sleeps.", key=1), {}),
            Candidate(evidence("The dog barks.", key=2), {}),
        ],
        [visible],
        query(),
    )
    assert [candidate.evidence.key for candidate in kept] == [2]


@pytest.mark.parametrize(("asked", "kept"), CASES["the_query_and_the_same_question_asked_before"])
def test_the_query_and_the_same_question_asked_before_are_dropped(
    asked: str, kept: list[int]
) -> None:
    texts = CASES["said"]
    said = [
        Candidate(evidence(text, key=key, session=key), {}) for key, text in enumerate(texts, 1)
    ]
    found, _ = split_visible(said, [], query(asked, session="s9"))
    assert [candidate.evidence.key for candidate in found] == kept


def test_a_fact_of_the_live_session_is_visible_if_its_words_are() -> None:
    fact = evidence("The user's dog is called Rocky.", kind=EvidenceKind.MEMORY, key=1, session=1)
    candidate = Candidate(fact, {})
    part = partial(split_visible, [candidate])
    assert part(["My dog is called Rocky."], query(session="s1")) == ([], [candidate])
    assert part(["My dog is called Rex.", "Rocky is a film."], query(session="s1")) == (
        [candidate],
        [],
    )
    assert part(["My dog is called Rocky."], query(session="s2")) == ([candidate], []), (
        "an earlier session's facts may be told"
    )


def test_a_correction_is_kept_with_the_fact_it_corrects() -> None:
    stale = evidence(
        "The user's dog is called Rex.", kind=EvidenceKind.MEMORY, key=1, session=2
    )._replace(replaced_by=2)
    fact = evidence("The user's dog is called Rocky.", kind=EvidenceKind.MEMORY, key=2, session=1)
    kept, _ = split_visible(
        [Candidate(stale, {}), Candidate(fact, {})],
        ["My dog is called Rocky."],
        query(session="s1"),
    )
    assert [candidate.evidence.key for candidate in kept] == [1, 2]


@pytest.mark.parametrize(("fact", "visible", "question"), CASES["a_fact_is_kept_unless_a_visible"])
def test_a_fact_is_kept_unless_a_visible_text_contains_all_its_words(
    fact: str, visible: list[str], question: str
) -> None:
    found = evidence(fact, kind=EvidenceKind.MEMORY, key=1, session=1)
    lacking, _ = split_visible([Candidate(found, {})], visible, query(question, session="s1"))
    assert lacking
