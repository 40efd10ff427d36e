"""What is known is a function of what was said: properties of the derivation alone."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from hotmem.revision.derivation import Link, Said, derive
from hotmem.types import Category, Kind, StoredMemory
from tests.conversation import START

DAY: Final = timedelta(days=1)

SUBJECTS: Final = ("Ana", "Ben")

STATED: Final = st.lists(
    st.tuples(
        st.sampled_from(SUBJECTS),
        st.sampled_from(("lives in", "likes")),
        st.sampled_from(("Leith", "Oban")),
        st.booleans(),
    ),
    max_size=12,
)
"""Subjects, relations, values, and whether it is a denial."""


def said(place: int, subject: str, relation: str, value: str, denied: bool = False) -> Said:
    """A statement of a day, read from a turn of its own."""
    at, kind, category = START + place * DAY, Kind.FACT, Category.CONTEXTS
    single = relation == "lives in"
    facts = (subject, relation, value, kind, category, 3, denied and not single, False, single)
    memory = StoredMemory(str(place), f"{subject} {value}", *facts, at, at, None, 0, ())
    return Said(memory, place, at, at)


Known = dict[str, tuple[StoredMemory, list[int | None], str | None]]


def known(rows: list[Said], *links: Link, apart: frozenset[tuple[str, str]] = frozenset()) -> Known:
    """What is derived, by first statement."""
    return {
        one.memory.id: (
            replace(one.memory, doubted_by=None),
            [other.turn for other in one.said],
            None if one.ended_by is None else one.ended_by.memory.id,
        )
        for one in derive(rows, links, apart)
    }


@given(STATED)
def test_the_order_of_statements_about_others_does_not_matter(
    told: list[tuple[str, str, str, bool]],
) -> None:
    rows = [said(place, *one) for place, one in enumerate(told)]
    ordered = sorted(rows, key=lambda row: row.memory.subject)
    assert known(rows) == known(ordered)
    alone = [row for row in rows if row.memory.subject == "Ana"]
    assert known(alone).items() <= known(rows).items()


@given(STATED, st.integers(0, 11))
def test_a_link_counts_only_while_both_of_its_ends_do(
    told: list[tuple[str, str, str, bool]], gone: int
) -> None:
    rows = [said(place, *one) for place, one in enumerate(told)]
    links = [Link(str(gone), row.memory.id, START + gone * DAY, ended=True) for row in rows]
    left = [row for row in rows if row.turn != gone]
    assert known(left, *links) == known(left)


def test_a_recorded_effect_ends_what_no_rule_does() -> None:
    rows = [said(0, "Ana", "likes", "Oban"), said(1, "Ben", "lives in", "Leith")]
    link = Link("1", "0", START + DAY, ended=True)
    assert known(rows, link)["0"][2] == "1"
    again = known([*rows, said(2, "Ana", "likes", "Oban")], link)
    assert (again["0"][0].valid_until, again["2"][0].valid_until) == (START + DAY, None)


def test_what_a_person_keeps_apart_has_no_effect() -> None:
    rows = [said(0, "Ana", "lives in", "Leith"), said(1, "Ana", "lives in", "Oban")]
    assert known(rows)["0"][2] == "1"
    assert known(rows, apart=frozenset({("0", "1")}))["0"][2] is None
