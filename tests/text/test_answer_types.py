"""Expected answer types of spoken questions, and answer types of spoken statements."""

from functools import reduce
from operator import or_

from hotmem.text.answer_types import answer_types, expected_answer_types
from hotmem.types import AnswerType
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

NAME, TIME, NUMBER = AnswerType.NAME, AnswerType.TIME, AnswerType.NUMBER
ANSWERS = NAME | TIME | NUMBER


def types(names: list[str]) -> AnswerType:
    return reduce(or_, (AnswerType[name] for name in names), AnswerType.NONE)


@scored(("question", "answers"), CASES["expected_answer_types"], floor=0.85)
def test_expected_answer_types(question: str, answers: list[str]) -> None:
    assert expected_answer_types(question) == types(answers)


@scored(("statement", "answers"), CASES["answer_types_of_statements"], floor=0.85)
def test_answer_types_of_statements(statement: str, answers: list[str]) -> None:
    assert answer_types(statement) & ANSWERS == types(answers)


@scored(
    "start", ["Potola", "Is it? Potola", "It is. Potola", "Oh… Potola", "No!\nPotola"], floor=1.0
)
def test_a_capital_at_the_start_of_a_sentence_is_no_name(start: str) -> None:
    assert NAME not in answer_types(f"{start} sleeps.")
    assert NAME in answer_types(f"{start} sleeps and Potola snores.")


@scored(
    ("statement", "kept"),
    [
        ("My dog is called Potola.", AnswerType.FIRST_PERSON),
        ("Did you use the ladder? ", AnswerType.QUESTION),
        ("May I?", AnswerType.FIRST_PERSON | AnswerType.QUESTION),
        ("They told us.", AnswerType.NONE),
    ],
    floor=1.0,
)
def test_first_person_and_questions(statement: str, kept: AnswerType) -> None:
    assert answer_types(statement) & (AnswerType.FIRST_PERSON | AnswerType.QUESTION) == kept
