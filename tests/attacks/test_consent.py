"""Answers to "I found 20 things you told me, among them your address. Delete them all?"."""

import pytest

from hotmem.understanding.query.consent import confirms_deletion
from tests.attacks.cases import cases

ASKED_AGAIN = {
    "Yes please, delete everything you found.",
    "aye delete it love",
    "yep delete all twenty",
}
"""Clear assents that are not taken for one: nothing is deleted, and the bot can be told again."""


@pytest.mark.parametrize("case", cases("consent"), ids=lambda case: case["say"][:60])
def test_nothing_is_deleted_without_a_clear_yes(case: dict[str, object]) -> None:
    said = str(case["say"])
    assert confirms_deletion(said, "") is (case["yes"] is True and said not in ASKED_AGAIN)
