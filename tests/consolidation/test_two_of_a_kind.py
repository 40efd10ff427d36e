"""Two of a kind: what is said of one person or thing ends nothing that was said of another.

Pairs of statements are generated for every relation of the closed set, about two of a kind by name
and by role, and stored as turns are.
"""

from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from itertools import count
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.sqlite.connection import connect
from hotmem.storage.sqlite.migrations import migrate
from hotmem.types import MemoryRecord, Statement, Understanding
from hotmem.understanding.extraction.proposals import RELATIONS as PROPOSED
from hotmem.understanding.facts.relations import IS_CALLED, Relation
from hotmem.understanding.lexicon import ANIMATE, FAMILY, PETS, POSSESSIONS, UNIQUE_ROLES
from tests.conversation import START, said

RELATIONS: Final = sorted(PROPOSED.values(), key=repr)
PEOPLE, THINGS = (
    sorted(ANIMATE - UNIQUE_ROLES),
    sorted((FAMILY | PETS | POSSESSIONS) - UNIQUE_ROLES),
)
NAMES: Final = ("Bea", "Carlo", "Dora", "Egon", "Fay", "Rex")
VALUES: Final = ("Leeds", "Porto", "a Saab", "seven", "2027-03-04 (Thursday)", "the night shift")

names = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)
values = st.lists(st.sampled_from(VALUES), min_size=2, max_size=2, unique=True)
of_kind = st.sampled_from(PEOPLE + THINGS)
owners = st.sampled_from(("Ana", "Ana's sister Vera", "Vera"))
number = count()


@pytest.fixture(scope="module")
def conn(tmp_path_factory: pytest.TempPathFactory) -> Iterable[Connection]:
    """A memory of several users; each example has one of its own."""
    path = tmp_path_factory.mktemp("kinds") / "memory.db"
    with closing(connect(path)) as opened:
        migrate(opened, path)
        opened.execute("BEGIN")  # never committed
        yield opened


def state(relation: Relation, subject: str, value: str) -> Statement:
    """A statement of a relation, read from a whole turn."""
    text = f"{subject} {relation.name} {value}."
    return relation.statement(subject, value, text, 0, len(text))


def told(conn: Connection, *statements: Statement) -> dict[str, MemoryRecord]:
    """What is known after the statements were made one day after the other, by text."""
    user_id = f"user {next(number)}"
    for day, statement in enumerate(statements):
        at = timedelta(days=day)
        turn = said(statement.text, user=user_id, minutes=at // timedelta(minutes=1))
        queries.turns.add(conn, turn, START + at)
        ((key, _),) = queries.turns.waiting(conn, UserRotation(), 9)
        store_understanding(conn, key, Understanding((statement,)))
    user = queries.users.find(conn, user_id)
    assert user is not None
    return {one.text: one for _, one in queries.export_rows.memories(conn, user, 0, 99, 2**62)}


checked = settings(max_examples=25)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda one: one.name)
@given(owners, of_kind, names, values)
@checked
def test_two_of_a_kind_by_name_end_nothing(
    conn: Connection, relation: Relation, owner: str, kind: str, two: list[str], of: list[str]
) -> None:
    first, second = (
        state(relation, f"{owner}'s {kind} {name}", value)
        for name, value in zip(two, of, strict=True)
    )
    known = told(conn, first, second)
    assert not [one for one in known.values() if one.valid_until or one.doubted_at]
    assert len(known) == 2


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda one: one.name)
@given(owners, of_kind, values, st.booleans(), st.sampled_from(NAMES))
@checked
def test_two_of_a_kind_by_role_end_nothing(
    conn: Connection,
    relation: Relation,
    owner: str,
    kind: str,
    of: list[str],
    named: bool,
    name: str,
) -> None:
    first = state(relation, f"{owner}'s {kind}{f' {name}' if named else ''}", of[0])
    second = state(relation, f"{owner}'s {kind}", of[1])
    known = told(conn, first, second)
    assert not [one for one in known.values() if one.valid_until]
    assert known[second.text].doubted_at is None
    if not relation.single or relation is IS_CALLED:
        assert known[first.text].doubted_at is None


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda one: one.name)
@given(owners, of_kind, names, values, st.booleans())
@checked
def test_the_same_by_name_ends_what_had_one_value(
    conn: Connection,
    relation: Relation,
    owner: str,
    kind: str,
    two: list[str],
    of: list[str],
    alone: bool,
) -> None:
    subject = two[0] if alone else f"{owner}'s {kind} {two[0]}"
    first, second = (state(relation, subject, value) for value in of)
    known = told(conn, first, second)
    assert (known[first.text].valid_until is not None) == relation.single
    assert known[second.text].valid_until is None
    assert not [one for one in known.values() if one.doubted_at]
