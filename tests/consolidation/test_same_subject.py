"""Resolution of subjects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.consolidation.same_subject import find_same_subjects
from hotmem.types import KnownSubjects


def named(*pairs: tuple[str, str], sole: bool = False) -> tuple[tuple[str, str, bool], ...]:
    return tuple((subject, name, sole) for subject, name in pairs)


SON, MAX, LEO = "Ana's son", "Ana's son Max", "Ana's son Leo"
NUMBER, WORK_NUMBER = "Ana's phone number", "Ana's work phone number"

SURE = [
    ("nobody known", SON, KnownSubjects(), {SON}),
    ("the same words", SON, KnownSubjects((SON,)), {SON}),
    ("another name", LEO, KnownSubjects((MAX,)), {LEO}),
    ("the only one known by name", SON, KnownSubjects((SON, MAX)), {SON, MAX}),
    ("the only one named", SON, KnownSubjects((SON,), named((SON, "Max"))), {SON}),
    ("a name for one known without", MAX, KnownSubjects((SON,), named((SON, "Max"))), {MAX}),
    (
        "a name for one said to be called so",
        MAX,
        KnownSubjects((SON,), named((SON, "Max"), sole=True)),
        {MAX, SON},
    ),
    (
        "a name for the only one there is",
        "Ana's wife Clara",
        KnownSubjects(("Ana's wife",)),
        {"Ana's wife Clara", "Ana's wife"},
    ),
    (
        "a second wife",
        "Ana's wife Clara",
        KnownSubjects(("Ana's wife", "Ana's wife Jane")),
        {"Ana's wife Clara"},
    ),
    (
        "the name with a qualifier",
        MAX,
        KnownSubjects(("Ana's older son Max",)),
        {MAX, "Ana's older son Max"},
    ),
    ("the name alone", "Max", KnownSubjects((MAX,)), {"Max", MAX}),
    ("the name with what he is", MAX, KnownSubjects(("Max",)), {MAX, "Max"}),
    ("the speaker's namesake", "Ana", KnownSubjects(("Ana's cousin Ana",)), {"Ana"}),
    ("a thing of another purpose", NUMBER, KnownSubjects((WORK_NUMBER,)), {NUMBER}),
    ("a thing of that purpose", WORK_NUMBER, KnownSubjects((NUMBER, WORK_NUMBER)), {WORK_NUMBER}),
    (
        "what the only son has",
        "Ana's son's school",
        KnownSubjects(("Ana's son Max's school",)),
        {"Ana's son's school", "Ana's son Max's school"},
    ),
    (
        "another family's son",
        "Ana's sister's son",
        KnownSubjects((SON, MAX)),
        {"Ana's sister's son"},
    ),
]

DOUBTFUL = [
    ("two by name", SON, KnownSubjects((MAX, LEO))),
    ("two named", SON, KnownSubjects((), named((SON, "Max"), (SON, "Leo")))),
    ("said to be two", SON, KnownSubjects((), (), (("Ana", "two sons"),))),
    ("mentioned in the plural", SON, KnownSubjects(("Ana's sons",))),
    ("an older one too", SON, KnownSubjects(("Ana's older son",))),
    ("of whom there are mostly several", "Ana's friend", KnownSubjects()),
    ("two of the name", "Max", KnownSubjects((MAX, "Ana's friend Max"))),
    (
        "two of the first name",
        "Anna",
        KnownSubjects(("Ana's friend Anna Berg", "Ana's friend Anna Lind")),
    ),
    ("what one of two has", "Ana's son's school", KnownSubjects((MAX, LEO))),
]


@pytest.mark.parametrize(
    ("subject", "known", "same"), [case[1:] for case in SURE], ids=[case[0] for case in SURE]
)
def test_same_subjects(subject: str, known: KnownSubjects, same: set[str]) -> None:
    assert find_same_subjects(subject, known) == frozenset(same)


@pytest.mark.parametrize(
    ("subject", "known"), [case[1:] for case in DOUBTFUL], ids=[case[0] for case in DOUBTFUL]
)
def test_ambiguous_subjects(subject: str, known: KnownSubjects) -> None:
    assert find_same_subjects(subject, known) is None


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
