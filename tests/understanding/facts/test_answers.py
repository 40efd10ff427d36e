"""Answers are stated with what the question says."""

from hotmem.models import Language
from hotmem.understanding.facts.question_statements import last_question, statement_of_answer
from tests.scored import scored
from tests.tables import tables

ANSWERS = tables(__file__, "answers")
"""Question, answer and statement."""


def stated(language: Language, question: str, answer: str) -> str:
    asked, said = language.parse([question, answer])
    return statement_of_answer(asked, said, "the user")


@scored(("question", "answer", "expected"), ANSWERS)
def test_an_answer_is_stated_with_its_question(
    language: Language, question: str, answer: str, expected: str
) -> None:
    assert stated(language, question, answer) == expected


def test_a_pronoun_at_the_start_is_the_subject_of_the_question(language: Language) -> None:
    text = stated(language, "Is your son still doing karate?", "He plays the cello now.")

    assert text == "The user's son plays the cello now."


@scored(
    ("question", "answer"),
    [
        ("Would you like me to use your first name?", "Sister Mabel, please."),
        ("Anything else?", "A blue one."),
        ("Are you still off sugar?", "Fell off that wagon Sunday."),
    ],
    floor=1.0,
)
def test_both_are_quoted_where_the_parse_does_not_tell(
    language: Language, question: str, answer: str
) -> None:
    expected = f'Asked "{question}", the user said: "{answer}"'

    assert stated(language, question, answer) == expected


def test_an_answer_that_stands_alone_needs_no_question(language: Language) -> None:
    assert stated(language, "What do you do?", "I'm a nurse") == "The user is a nurse."


@scored("turn", ["Good to hear.", "I have noted that.", "", "Do you? I see."], floor=1.0)
def test_a_turn_that_does_not_end_with_a_question_asks_nothing(
    language: Language, turn: str
) -> None:
    (doc,) = language.parse([turn])

    assert last_question(doc) is None
