"""Answers to "I found 20 things you told me, among them your address. Delete them all?"."""

from hotmem.understanding.query.consent import confirms_deletion
from tests.attacks.cases import cases
from tests.scored import scored


@scored("case", [case for case in cases("consent") if not case["yes"]], floor=1.0)
def test_nothing_is_deleted_without_a_clear_yes(case: dict[str, str]) -> None:
    assert not confirms_deletion(case["say"])
