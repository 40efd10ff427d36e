"""Resolution of subjects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.revision.same_subject import find_same_subjects
from hotmem.types import KnownSubjects
from tests.tables import named_rows, tables

CASES = tables(__file__)


@pytest.mark.parametrize(("subject", "known", "same"), named_rows(CASES["sure"]))
def test_same_subjects(subject: str, known: list[Any], same: list[str]) -> None:
    assert find_same_subjects(subject, KnownSubjects(*known)) == frozenset(same)


@pytest.mark.parametrize(("subject", "known"), named_rows(CASES["doubtful"]))
def test_ambiguous_subjects(subject: str, known: list[Any]) -> None:
    assert find_same_subjects(subject, KnownSubjects(*known)) is None


def test_negated_statement_is_about_the_known_subject() -> None:
    assert find_same_subjects(
        "Ana's uncle", KnownSubjects(("Ana's uncle",)), denies=True
    ) == frozenset({"Ana's uncle"})
    assert (
        find_same_subjects(
            "Ana's uncle", KnownSubjects(("Ana's uncle", "Ana's uncle Bob")), denies=True
        )
        is None
    )


subjects = st.lists(
    st.sampled_from(
        ["Ana", "Ben", "son", "sister", "dog", "friend", "work phone", "Max", "Leo", "Max Berg"]
    ),
    min_size=1,
    max_size=5,
).map(lambda words: "'s ".join(words)) | st.text(max_size=30)


@given(
    subjects,
    st.lists(subjects, max_size=6),
    st.lists(st.tuples(subjects, subjects, st.booleans()), max_size=3),
)
def test_any_subjects_are_accepted(
    subject: str, known: list[str], names: list[tuple[str, str, bool]]
) -> None:
    found = find_same_subjects(subject, KnownSubjects(tuple(known), tuple(names)))
    assert found is None or (subject in found and found <= {subject, *known})
