"""The written cases of two of a kind, and of one that changes."""

from eval.language.identity import Kind, cases, told
from hotmem import Memory
from hotmem.understanding.facts import relations
from hotmem.understanding.facts.relations import IS_REMINDED, Relation

CHANGES_SEEN = 77
"""Of the changes, those that end or doubt the old value; the other eight are not read, before and
after facts were told apart by name."""


def test_there_are_two_of_a_kind_for_every_relation() -> None:
    every = cases()
    apart, same = ([case for case in every if case.kind is kind] for kind in Kind)
    assert (
        len(apart) >= 150 and len(same) >= 60 and len({case.said for case in every}) == len(every)
    )
    assert {case.relation for case in apart} == {
        name
        for name, relation in vars(relations).items()
        if isinstance(relation, Relation) and relation is not IS_REMINDED
    }, "a reminder never ends another"
    assert all(len(case.said) > 1 and bool(case.old) is (case.kind is Kind.SAME) for case in every)


async def test_two_of_a_kind_end_nothing_and_a_change_still_ends_the_old(memory: Memory) -> None:
    outcomes = await told(memory, cases())
    assert [
        (one.case.said, one.ended)
        for one in outcomes
        if one.case.kind is Kind.APART and not one.right
    ] == []
    assert sum(one.right for one in outcomes if one.case.kind is Kind.SAME) >= CHANGES_SEEN
    read = sum(one.read >= len(one.case.said) for one in outcomes if one.case.kind is Kind.APART)
    assert read >= 200, "what is not read ends nothing either"
