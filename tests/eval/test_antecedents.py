"""How an expansion of a question is judged."""

import pytest

from eval.language.antecedents import is_right, wanted
from eval.language.dialogues import Query

ASKED = Query(
    "How tall is it?",
    "How tall is the Ulm Minster tower?",
    ("Who built the Ulm Minster?",),
    (True,),
)
CLEAR = Query("Who built the bridge?", "Who built the bridge?", ("Is Ulm old?",), (True,))


@pytest.mark.parametrize(
    ("query", "addition", "right"),
    [
        (ASKED, "Ulm Minster", True),
        (ASKED, "Minster towers", True),
        (ASKED, "Ulm", False),
        (ASKED, "Ulm Minster city", True),
        (ASKED, "Ulm Minster in a big old city", False),
        (ASKED, "", False),
        (CLEAR, "", True),
        (CLEAR, "the bridge", True),
        (CLEAR, "Ulm", False),
    ],
)
def test_an_addition_is_right_if_it_holds_half_of_what_is_wanted_and_little_else(
    query: Query, addition: str, right: bool
) -> None:
    assert is_right(query, addition) is right


def test_only_new_content_words_are_wanted() -> None:
    assert wanted(ASKED) == {"ulm", "minster", "tower"}
    assert wanted(CLEAR) == frozenset()
