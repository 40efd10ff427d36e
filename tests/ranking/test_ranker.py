"""Ranking and deduplication: order, duplicates, and the layers of both."""

from datetime import timedelta

import numpy as np
from hypothesis import given

from hotmem.ranking.features import FEATURES
from hotmem.ranking.neighbors import MIN_FACT_RELEVANCE, deduplicate
from hotmem.ranking.ranker import COSINE, OVERLAP, PLAIN_COSINE, PLAIN_OVERLAP, has_plain_match
from hotmem.ranking.relevance import DOUBTFUL_BELOW, NOTHING_BELOW, Answerability
from hotmem.types import Evidence, EvidenceKind, Layer
from tests.conversation import START
from tests.ranking.statements import evidence, query, rank_statements, ranked, statements


@given(statements())
def test_candidates_are_ordered_by_score_and_unique(drawn: list[tuple[Evidence, float]]) -> None:
    found = ranked(drawn)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.relevance <= 1 and 0 <= one.confidence <= 1 and one.layers for one in found)
    kept, merged = deduplicate(found)
    assert len(kept) + merged == len(found)
    assert len(
        {(one.evidence.kind, one.evidence.speaker, one.evidence.text.casefold()) for one in kept}
    ) == len(kept)
    assert {one.evidence.key for one in kept} <= {one.evidence.key for one in found}


@given(statements(most=12))
def test_deduplication_keeps_the_highest_relevance(drawn: list[tuple[Evidence, float]]) -> None:
    found = ranked(drawn)
    kept, _ = deduplicate(found)
    assert max((one.relevance for one in found), default=0) == max(
        (one.relevance for one in kept), default=0
    )


def test_the_same_words_of_one_speaker_are_merged_with_both_layers() -> None:
    told = [(evidence("I like walnuts.", key=1), 0.6), (evidence("i like Walnuts.", key=2), 0.4)]
    (one,), merged = deduplicate(
        ranked(told, layers=[{Layer.VERBATIM: 1.0}, {Layer.SEMANTIC: 0.9}])
    )
    assert (
        merged == 1
        and one.evidence.key == 1
        and set(one.layers) == {Layer.VERBATIM, Layer.SEMANTIC}
    )


def test_the_same_words_of_two_speakers_are_not_merged() -> None:
    told = [
        (evidence("I like walnuts.", key=1), 0.6),
        (evidence("I like walnuts.", key=2, speaker="Ben"), 0.4),
    ]
    assert len(deduplicate(ranked(told))[0]) == 2


def test_near_duplicates_are_merged_only_if_no_word_is_lost() -> None:
    vector = np.eye(1, 16, dtype=np.float32)[0]
    more = evidence("I like walnuts and cakes.", key=1, vector=vector)
    less = evidence("I like walnuts.", key=2, vector=vector)
    other = evidence("I like hazelnuts.", key=3, vector=vector)
    assert [
        one.evidence.key for one in deduplicate(ranked([(more, 0.6), (less, 0.5), (other, 0.4)]))[0]
    ] == [1, 3]


def test_a_fact_replaces_its_passage() -> None:
    passage = evidence("My dog is called Potola.", key=1, turn=7)
    fact = evidence("Ana's dog is called Potola, my dear.", EvidenceKind.MEMORY, key=2, turn=7)
    for better, worse in (((passage, 0.6), (fact, 0.4)), ((fact, 0.6), (passage, 0.4))):
        (one,), merged = deduplicate(ranked([better, worse]))
        assert merged == 1 and one.evidence is fact and abs(one.relevance - 0.6) < 1e-6
    elsewhere = passage._replace(key=3, turns=(8,), turn_ids=("t8",))
    assert len(deduplicate(ranked([(elsewhere, 0.6), (fact, 0.4)]))[0]) == 2


def test_the_current_statement_precedes_the_replaced_one() -> None:
    old = evidence("Ana lives in Porto.", EvidenceKind.MEMORY, key=1)._replace(
        valid_until=START + timedelta(days=1)
    )
    new = evidence("Ana lives in Lisbon.", EvidenceKind.MEMORY, key=2)
    found = ranked([(old, 0.5), (new, 0.5)])
    assert [one.evidence.key for one in found] == [2, 1]
    before = ranked([(old, 0.5), (new, 0.4)], query(at=START))
    assert [one.evidence.key for one in before] == [1, 2], "at the time it still held"


def test_an_irrelevant_fact_does_not_replace_its_passage() -> None:
    passage = evidence("My dog is called Potola.", key=1, turn=7)
    fact = evidence("Ana's dog is called Potola, my dear.", EvidenceKind.MEMORY, key=2, turn=7)
    (one,), merged = deduplicate(ranked([(passage, 0.6), (fact, MIN_FACT_RELEVANCE / 2)]))
    assert merged == 1 and one.evidence is passage
    (two,), _ = deduplicate(
        ranked([(passage, MIN_FACT_RELEVANCE / 3), (fact, MIN_FACT_RELEVANCE / 2)])
    )
    assert two.evidence is passage and abs(two.relevance - MIN_FACT_RELEVANCE / 2) < 1e-6


def test_answerability_of_a_ranking() -> None:
    embedded = evidence(vector=np.eye(1, 16, dtype=np.float32)[0])
    assert rank_statements([]) == ([], Answerability.NOTHING)
    assert rank_statements([(embedded, NOTHING_BELOW / 2)])[1] is Answerability.NOTHING
    assert rank_statements([(embedded, NOTHING_BELOW + 0.01)])[1] is Answerability.UNLIKELY
    assert rank_statements([(embedded, DOUBTFUL_BELOW[0] - 0.01)])[1] is Answerability.DOUBTFUL
    assert rank_statements([(embedded, (1 + DOUBTFUL_BELOW[0]) / 2)])[1] is Answerability.SOMETHING


def test_candidates_without_embedding_are_at_least_doubtful() -> None:
    embedded = evidence(vector=np.eye(1, 16, dtype=np.float32)[0])
    for probability in (NOTHING_BELOW / 2, NOTHING_BELOW + 0.01):
        found = [(embedded, probability), (evidence(key=2), probability)]
        assert rank_statements(found)[1] is Answerability.DOUBTFUL


def test_a_plain_match_is_at_least_doubtful() -> None:
    table = np.zeros((3, len(FEATURES)), dtype=np.float32)
    assert not has_plain_match(table)
    for column, value in ((COSINE, PLAIN_COSINE), (OVERLAP, PLAIN_OVERLAP)):
        found = table.copy()
        found[1, column] = value
        assert has_plain_match(found)


def test_layers_are_ordered_by_their_contribution() -> None:
    (one,) = ranked([(evidence(), 0.6)], layers=[{Layer.FACTS: 1.0, Layer.SEMANTIC: 0.5}])
    assert set(one.layers) == {Layer.FACTS, Layer.SEMANTIC}
    (neighbour,) = ranked([(evidence(), 0.6)], layers=[{}])
    assert len(neighbour.layers) == 1, "what no layer found is credited to one"
