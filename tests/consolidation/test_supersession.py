"""Supersession and derivation: tables, and independence of the order of import."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise, permutations
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.revision.derivation import Link, Said, derive
from hotmem.revision.supersession import find_corrected, find_supersession
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Category,
    Correction,
    Kind,
    Statement,
    StoredMemory,
    Supersession,
)
from tests.conversation import START
from tests.tables import named_rows, tables

CASES = tables(__file__)

LIVES, LIKES = "lives in", "likes"


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def statement(value: str, relation: str = LIVES, *, negated: bool = False) -> Statement:
    text = f"Ana {'never ' if negated else ''}{relation} {value}."
    facts = ("Ana", relation, value, Kind.FACT, Category.CONTEXTS, 3)
    return Statement(text, *facts, 0, len(text), negated=negated, single=relation == LIVES)


def known(
    value: str,
    said: int,
    relation: str = LIVES,
    *,
    until: int | None = None,
    negated: bool = False,
    name: str = "",
) -> StoredMemory:
    new = statement(value, relation, negated=negated)
    at, ended = day(said), None if until is None else day(until)
    facts = ("Ana", relation, value, new.kind, new.category, 3, negated, new.changes, new.single)
    return StoredMemory(name or value, new.text, *facts, at, at, ended, 0, ("t",))


def supersession(
    confirms: str | None = None,
    ends: Sequence[str] = (),
    doubts: Sequence[str] = (),
    ended_by: str | None = None,
) -> Supersession:
    return Supersession(confirms, tuple(ends), tuple(doubts), ended_by)


@pytest.mark.parametrize(
    ("new", "said", "memories", "revision"), named_rows(CASES["earlier_or_later"])
)
def test_find_supersession(
    new: dict[str, Any], said: int, memories: list[dict[str, Any]], revision: dict[str, Any]
) -> None:
    stored = [known(**one) for one in memories]
    assert find_supersession(statement(**new), day(said), stored) == supersession(**revision)


def stored_after(spoken: list[tuple[str, int]]) -> dict[str, tuple[int, datetime | None]]:
    """When each value was said and until when it was valid, after import in this order."""
    memories: dict[str, StoredMemory] = {}
    for value, said in spoken:
        latest_first = sorted(memories.values(), key=lambda memory: memory.said_at, reverse=True)
        revision = find_supersession(statement(value), day(said), latest_first)
        assert revision.confirms is None
        for ended in revision.ends:
            memories[ended] = known(ended, (memories[ended].said_at - START).days, until=said)
        ending = None if revision.ended_by is None else memories[revision.ended_by]
        until = None if ending is None else (ending.said_at - START).days
        memories[value] = known(value, said, until=until)
    return {
        value: ((memory.said_at - START).days, memory.valid_until)
        for value, memory in memories.items()
    }


@given(st.lists(st.integers(0, 50), min_size=2, max_size=4, unique=True))
def test_order_of_import_does_not_matter(days: list[int]) -> None:
    new = [(f"Town {number}", said) for number, said in enumerate(days)]
    outcomes = [stored_after(list(order)) for order in permutations(new)]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    in_time = sorted(new, key=lambda one: one[1])
    for (value, _), (_, following) in pairwise(in_time):
        assert outcomes[0][value][1] == day(following)
    assert outcomes[0][in_time[-1][0]][1] is None


SISTER = "Ana's sister"


@pytest.mark.parametrize(
    ("new", "changed", "certain", "revision"), named_rows(CASES["what_is_in_doubt"])
)
def test_what_is_in_doubt_ends_nothing(
    new: dict[str, Any], changed: dict[str, Any], certain: bool, revision: dict[str, Any]
) -> None:
    said = replace(statement(**new), **changed)
    found = find_supersession(said, day(5), [known("Porto", 1)], certain=certain)
    assert found == supersession(**revision)


def test_a_doubtful_statement_that_is_imported_late_is_in_doubt_itself() -> None:
    sister = replace(statement("Braga"), subject=SISTER)
    later = known("Porto", 5)
    assert find_supersession(sister, day(1), [later]) == Supersession(doubted_by="Porto")


def test_what_had_put_a_confirmed_memory_in_doubt_is_in_doubt() -> None:
    doubted = replace(known("Porto", 1), doubted_at=day(2), doubted_by="Braga")
    found = find_supersession(statement("Porto"), day(5), [known("Braga", 2), doubted])
    assert found == Supersession(confirms="Porto", doubts=("Braga",))


def test_named_mistake_is_corrected() -> None:
    dog = known("Paola", 1, "is called")
    amended = find_corrected(Correction("Paola", "Potola", 3, 20), [known("Porto", 2), dog])
    assert amended is not None
    old, new = amended
    assert old is dog
    assert (new.text, new.object, new.relation, new.start, new.stop) == (
        "Ana is called Potola.",
        "Potola",
        "is called",
        3,
        20,
    )
    assert new.entities == ("Potola",)


def test_corrected_fact_still_changes_with_time() -> None:
    for old in (
        known("Siemens", 1, "works at"),
        replace(known("Siemens", 1, "works at"), changes=True),
    ):
        amended = find_corrected(Correction("Siemens", "Bosch", 0, 5), [old])
        assert amended is not None and amended[1].changes is old.changes


def test_latest_memory_with_the_mistake_is_corrected() -> None:
    amended = find_corrected(
        Correction("porto", "Lisbon", 0, 5), [known("Porto", 5, "works in"), known("Porto", 1)]
    )
    assert (
        amended is not None
        and amended[0].relation == "works in"
        and amended[1].text == "Ana works in Lisbon."
    )


def test_mistakes_are_whole_words() -> None:
    assert find_corrected(Correction("Port", "Lisbon", 0, 5), [known("Porto", 1)]) is None
    assert find_corrected(Correction("C++", "Rust", 0, 5), [known("C++", 1, LIKES)]) is not None


def test_unnamed_mistake_is_the_last_of_its_relation() -> None:
    memories = [known("tea", 3, LIKES), known("Porto", 2), known("Braga", 1)]
    amended = find_corrected(Correction("", "Lisbon", 0, 5, LIVES), memories)
    assert (
        amended is not None
        and amended[0].object == "Porto"
        and amended[1].text == "Ana lives in Lisbon."
    )
    assert find_corrected(Correction("", "Porto", 0, 5, LIVES), memories[:2]) is None, (
        "what holds already is no mistake"
    )
    assert find_corrected(Correction("", "Lisbon", 0, 5), memories) is None
    assert find_corrected(Correction("", "Lisbon", 0, 5, LIVES), []) is None


def test_corrected_count_of_the_same_thing() -> None:
    kids, cats = known("two kids", 1, "has"), known("two cats", 2, "has")
    old, new = find_corrected(Correction("", "three kids", 0, 5), [cats, kids]) or pytest.fail(
        "not understood"
    )
    assert (old, new.text) == (kids, "Ana has three kids.")
    assert find_corrected(Correction("", "three kids", 0, 5), [known("kids", 1, "has")]) is None


def test_corrected_day_replaces_the_latest_planned_one() -> None:
    vet = known("pick up Milo on 2026-11-23 (Monday) at 17:00", 3, "has to")
    past, later = known("moved in the week of 2020-03-02", 4, "did"), known("Porto", 5)
    assert START.date() < date(2026, 11, 23)
    old, new = find_corrected(
        Correction("", "2026-11-26 (Thursday)", 0, 5, "is on"), [later, past, vet]
    ) or pytest.fail("not understood")
    assert (old, new.object) == (vet, "pick up Milo on 2026-11-26 (Thursday) at 17:00")
    assert new.text == "Ana has to pick up Milo on 2026-11-26 (Thursday) at 17:00."
    assert find_corrected(Correction("", "2026-11-23 (Monday)", 0, 5, "is on"), [vet]) is None, (
        "it says the same"
    )


@given(st.text(max_size=30), st.text(min_size=1, max_size=30), st.text(max_size=30))
def test_any_correction_is_accepted(wrong: str, right: str, value: str) -> None:
    amended = find_corrected(Correction(wrong, right, 0, 1, LIVES), [known(value, 1)])
    assert amended is None or isinstance(amended[1], Statement)


@pytest.mark.parametrize(
    ("value", "bare"),
    CASES["values_are_normalized"],
)
def test_values_are_normalized(value: str, bare: str) -> None:
    assert normalize_value(value) == bare


@given(st.text(max_size=40))
def test_normalization_is_idempotent(value: str) -> None:
    assert normalize_value(value) == " ".join(normalize_value(value).split())


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


def spoken(place: int, subject: str, relation: str, value: str, denied: bool = False) -> Said:
    """A statement of a day, read from a turn of its own."""
    at, kind, category = day(place), Kind.FACT, Category.CONTEXTS
    single = relation == "lives in"
    facts = (subject, relation, value, kind, category, 3, denied and not single, False, single)
    memory = StoredMemory(str(place), f"{subject} {value}", *facts, at, at, None, 0, ())
    return Said(memory, place, at, at)


Outcome = dict[str, tuple[StoredMemory, list[int | None], str | None]]


def derived(
    rows: list[Said], *links: Link, apart: frozenset[tuple[str, str]] = frozenset()
) -> Outcome:
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
    rows = [spoken(place, *one) for place, one in enumerate(told)]
    ordered = sorted(rows, key=lambda row: row.memory.subject)
    assert derived(rows) == derived(ordered)
    alone = [row for row in rows if row.memory.subject == "Ana"]
    assert derived(alone).items() <= derived(rows).items()


@given(STATED, st.integers(0, 11))
def test_a_link_counts_only_while_both_of_its_ends_do(
    told: list[tuple[str, str, str, bool]], gone: int
) -> None:
    rows = [spoken(place, *one) for place, one in enumerate(told)]
    links = [Link(str(gone), row.memory.id, day(gone), ended=True) for row in rows]
    left = [row for row in rows if row.turn != gone]
    assert derived(left, *links) == derived(left)


def test_a_recorded_effect_ends_what_no_rule_does() -> None:
    rows = [spoken(0, "Ana", "likes", "Oban"), spoken(1, "Ben", "lives in", "Leith")]
    link = Link("1", "0", day(1), ended=True)
    assert derived(rows, link)["0"][2] == "1"
    again = derived([*rows, spoken(2, "Ana", "likes", "Oban")], link)
    assert (again["0"][0].valid_until, again["2"][0].valid_until) == (day(1), None)


def test_what_a_person_keeps_apart_has_no_effect() -> None:
    rows = [spoken(0, "Ana", "lives in", "Leith"), spoken(1, "Ana", "lives in", "Oban")]
    assert derived(rows)["0"][2] == "1"
    assert derived(rows, apart=frozenset({("0", "1")}))["0"][2] is None
