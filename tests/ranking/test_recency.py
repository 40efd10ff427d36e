"""A statement of a change precedes the statement it changes; others keep their order."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings

from hotmem.ranking.recency import promote_current
from hotmem.types import Evidence, EvidenceKind, Query
from tests.conversation import START
from tests.ranking.statements import evidence, query, ranked, statements

ASKED = "How many cards are in my gallery?"
EIGHT = evidence("I have a gallery with 8 cards.", key=1)
TEN = evidence(
    "I've added two, so my gallery has 10 cards in all.", key=2, said_at=START + timedelta(days=1)
)


def about_cards(asked: str) -> Query:
    found = query(asked)
    return replace(found, analysis=replace(found.analysis, terms=("cards", "gallery")))


def order(asked: str, *weighed: tuple[Evidence, float]) -> list[int]:
    return [one.evidence.key for one in ranked(weighed, about_cards(asked))]


def test_a_change_precedes_only_what_it_changes() -> None:
    best = evidence(
        "The gallery of the town has 300 cards by Ben.",
        key=3,
        said_at=START + timedelta(days=2),
        speaker="Ben",
    )
    assert order(ASKED, (best, 0.9), (EIGHT, 0.6), (TEN, 0.4)) == [3, 2, 1]


@pytest.mark.parametrize(
    ("asked", "earlier", "later", "relevance"),
    [
        ("How many cards were in my gallery before?", EIGHT, TEN, 0.4),
        ("Tell me about my gallery of cards.", EIGHT, TEN, 0.4),
        (ASKED, EIGHT, TEN, 0.1),
        (ASKED, EIGHT, TEN._replace(speaker="Ben"), 0.4),
        (ASKED, EIGHT, TEN._replace(said_at=START), 0.4),
        (
            ASKED,
            EIGHT,
            evidence(
                "My gallery with 8 cards is lovely.", key=2, said_at=START + timedelta(days=1)
            ),
            0.4,
        ),
        (
            ASKED,
            EIGHT,
            evidence(
                "I've added two to the 10 in the shop.", key=2, said_at=START + timedelta(days=1)
            ),
            0.4,
        ),
        (ASKED, evidence("A gallery of 8 cards.", EvidenceKind.SUMMARY, key=1), TEN, 0.4),
    ],
    ids=[
        "asked for before",
        "no value asked for",
        "hardly relevant",
        "another speaker",
        "said at once",
        "no change",
        "something else",
        "a summary",
    ],
)
def test_other_candidates_keep_their_order(
    asked: str, earlier: Evidence, later: Evidence, relevance: float
) -> None:
    assert order(asked, (earlier, 0.6), (later, relevance)) == [1, 2]


@pytest.mark.parametrize(
    ("asked", "terms", "first", "second"),
    [
        (
            "How much is Leo's rent?",
            ("leo", "rent"),
            "Leo's rent is 700 dollars.",
            "Max's rent was raised to 900 dollars.",
        ),
        (
            "How many miles has my son done?",
            ("miles", "son"),
            "My son did 5 miles.",
            "My son Max has reached 7 miles.",
        ),
        (
            "How much is the rent?",
            ("rent",),
            "The rent is 700 dollars.",
            "My sister Carla has had her rent raised to 900 dollars.",
        ),
        (
            "How much is the rent?",
            ("rent",),
            "The rent is 700 dollars.",
            "Carla's rent was raised to 900 dollars.",
        ),
        (
            "How many miles has my bike done?",
            ("miles", "bike"),
            "My bike has done 500 miles.",
            "My work bike has reached 900 miles.",
        ),
    ],
)
def test_a_change_of_another_subject_is_not_promoted(
    asked: str, terms: tuple[str, ...], first: str, second: str
) -> None:
    found = query(asked)
    names = tuple(name for name in ("Leo",) if name in asked)
    found = replace(found, analysis=replace(found.analysis, terms=terms, entities=names))
    told = (
        (evidence(first, key=1), 0.6),
        (evidence(second, key=2, said_at=START + timedelta(days=1)), 0.4),
    )
    assert [one.evidence.key for one in promote_current(found, ranked(told, found))] == [1, 2]


def test_a_change_of_the_subject_asked_for_is_promoted() -> None:
    found = query("How much is Leo's rent?")
    found = replace(
        found, analysis=replace(found.analysis, terms=("leo", "rent"), entities=("Leo",))
    )
    later = evidence(
        "Leo's rent was raised to 900 dollars.", key=2, said_at=START + timedelta(days=1)
    )
    told = (evidence("Leo's rent is 700 dollars.", key=1), 0.6), (later, 0.4)
    assert [one.evidence.key for one in promote_current(found, ranked(told, found))] == [2, 1]


@settings(max_examples=50, deadline=None)
@given(statements())
def test_promotion_keeps_all_candidates_in_order_of_score(
    drawn: list[tuple[Evidence, float]],
) -> None:
    before = ranked(drawn, query("How many dogs has Ana?"))
    after = promote_current(query("How many dogs has Ana?"), before)
    assert sorted(id(one.evidence) for one in after) == sorted(id(one.evidence) for one in before)
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
