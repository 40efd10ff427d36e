"""The features of the candidates, which do not depend on their order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotmem.models import CachedEncoder
from hotmem.ranking.features import FEATURES, candidate_features
from hotmem.retrieval.fusion import Candidate
from hotmem.types import Evidence, EvidenceKind, Layer, Query
from tests.ranking.statements import evidence, query, statements


def table(asked: Query, told: Sequence[Candidate]) -> dict[str, NDArray[np.float32]]:
    """The columns by name."""
    return dict(zip(FEATURES, candidate_features(asked, told).T, strict=True))


def found(*told: Evidence, by: Layer = Layer.VERBATIM) -> list[Candidate]:
    """Candidates that one layer found, the first best."""
    return [Candidate(one, {by: 1.0 / place}) for place, one in enumerate(told, 1)]


def read(encoder: CachedEncoder, one: Evidence) -> Evidence:
    """The statement as it is once it is embedded."""
    reading = encoder.encode_tokens([f"{one.speaker}: {one.text}"])[0]
    return one._replace(vector=reading.vector, signs=reading.token_signs)


@given(statements(most=12), st.data())
def test_candidate_features_are_finite_and_independent_of_order(
    drawn: list[tuple[Evidence, float]], data: st.DataObject
) -> None:
    distinct = {(one.kind, one.session, one.position, one.key): one for one, _ in drawn}
    told = found(*distinct.values())
    first = candidate_features(query(), told)
    assert (
        first.shape == (len(told), len(FEATURES))
        and first.dtype == np.float32
        and np.all(np.isfinite(first))
    )
    order = data.draw(st.permutations(range(len(told))))
    assert np.allclose(
        candidate_features(query(), [told[row] for row in order]), first[order], atol=1e-5
    )


def test_statements_with_the_same_words_have_the_same_ranks_in_any_order() -> None:
    told = found(*(evidence("DOG", key=key) for key in (1, 2)), evidence("A cat.", key=3))
    ranks = candidate_features(query(), told)
    assert np.array_equal(candidate_features(query(), told[::-1]), ranks[::-1])


def test_the_answer_has_the_highest_overlap_cosine_and_match(
    encoder: CachedEncoder,
) -> None:
    reading = encoder.encode_tokens(["What is my dog called?"])[0]
    asked = replace(
        query("What is my dog called?"), vector=reading.vector, pieces=reading.token_states
    )
    dog, train = (
        read(encoder, one)
        for one in (
            evidence("My dog is called Potola.", key=1),
            evidence("The train leaves at noon.", key=5, session=2),
        )
    )
    columns = table(asked, found(train, dog))
    for name in (
        "overlap",
        "cosine",
        "match",
        "match_all",
        "window_match",
        "session_match",
        "session_overlap",
        "session_cosine",
    ):
        assert columns[name][1] > columns[name][0] + 0.1, name
    assert (
        columns["cosine_gap"][1] == columns["match_gap"][1] == columns["window_match_gap"][1] == 0
    )
    assert columns["match_gap"][0] == pytest.approx(columns["match"][0] - columns["match"][1])


def test_neighbours_and_sessions_share_values(encoder: CachedEncoder) -> None:
    reading = encoder.encode_tokens(["What is my dog called?"])[0]
    asked = replace(
        query("What is my dog called?"), vector=reading.vector, pieces=reading.token_states
    )
    told = [
        evidence("My dog is called Potola.", key=1),
        evidence("How lovely!", key=2),
        evidence("The rest.", key=9),
        evidence("Else.", key=4, session=2),
    ]
    columns = table(asked, found(*(read(encoder, one) for one in told)))
    assert columns["window_match"][1] == columns["window_match"][0] > columns["window_match"][2]
    assert (
        columns["session_match"][0]
        == columns["session_match"][1]
        == columns["session_match"][2]
        > columns["session_match"][3]
    )
    assert columns["window_words"][1] == pytest.approx((1.0 + 0.0) / 2)


def test_a_statement_without_embedding_has_lexical_features() -> None:
    columns = table(
        query(), found(evidence("The dog sleeps.", key=1), evidence("The cat eats.", key=5))
    )
    assert columns["overlap"][0] > columns["overlap"][1] == 0
    assert not columns["cosine"].any() and not columns["match"].any()


def test_speaker_features() -> None:
    asked = replace(query("What did Ben say about the dog?"), speakers=("Ana", "Ben Ode"))
    columns = table(
        asked, found(evidence(key=1, speaker="Ben Ode"), evidence(key=5, speaker="Ana"))
    )
    assert (columns["speaker_fits"].tolist(), columns["other_speaker"].tolist()) == ([1, 0], [0, 1])
    nobody = table(
        replace(asked, text="Where is the dog?"),
        found(evidence(key=1, speaker="Ben Ode"), evidence(key=5, speaker="Ana")),
    )
    assert (nobody["speaker_fits"].tolist(), nobody["other_speaker"].tolist()) == ([1, 1], [0, 0])


def test_a_passage_has_the_score_of_its_fact() -> None:
    fact = evidence("Ana has a dog.", EvidenceKind.MEMORY, key=3, turn=1)
    columns = table(
        query(), [*found(fact, by=Layer.FACTS), *found(evidence(key=1), evidence(key=5))]
    )
    assert columns["fact"].tolist() == [1, 1, 0]


def test_no_candidates_have_no_features() -> None:
    assert candidate_features(query(), []).shape == (0, len(FEATURES))
