"""Expected answer types of spoken questions, and answer types of spoken statements."""

from functools import reduce
from operator import or_

from hotmem.text.answer_types import answer_types, expected_answer_types
from hotmem.types import AnswerType
from tests.scored import scored

NAME, TIME, NUMBER = AnswerType.NAME, AnswerType.TIME, AnswerType.NUMBER
ANSWERS = NAME | TIME | NUMBER


@scored(
    ("question", "answers"),
    [
        ("Where did Marta go in May?", {NAME}),
        ("Which cities have I been to?", {NAME}),
        ("whose keys were on the ferry", {NAME}),
        ("What's the name of my dentist?", {NAME}),
        ("What is my dog called?", {NAME}),
        ("Which book did you recommend to me?", {NAME}),
        ("When is my sister's wedding?", {TIME, NUMBER}),
        ("What time does the train leave?", {TIME, NUMBER}),
        ("Which day was the dentist?", {TIME}),
        ("How long ago did we move?", {TIME, NUMBER}),
        ("How many cats does Ingrid have?", {NUMBER}),
        ("How old is Bea?", {NUMBER}),
        ("HOW OFTEN DO I GO RUNNING?", {NUMBER}),
        ("Why did I leave the choir?", set()),
        ("What did Rui say about oak?", set()),
        ("Do I like walnuts?", set()),
        ("", set()),
    ],
    floor=0.85,
)
def test_expected_answer_types(question: str, answers: set[AnswerType]) -> None:
    assert expected_answer_types(question) == reduce(or_, answers, AnswerType.NONE)


@scored(
    ("statement", "answers"),
    [
        ("We moved to Porto.", {NAME}),
        ("I finally read “The Old Mill” to the end.", {NAME}),
        ('She sang "over the hills" for us.', {NAME}),
        ("we meet at the bakery on tuesdays", {TIME}),
        ("I started to learn the cello in 2019.", {TIME, NUMBER}),
        ("It is on the 21st.", {TIME, NUMBER}),
        ("Last spring I broke my wrist.", {TIME}),
        ("There were a dozen of them.", {NUMBER}),
        ("My brother has two cats, Minka and Bo.", {NAME, NUMBER}),
        ("Nothing much happened.", set()),
        ("That's great! Good for you.", set()),
        ("Well, I think I should.", set()),
        ("", set()),
    ],
    floor=0.85,
)
def test_answer_types_of_statements(statement: str, answers: set[AnswerType]) -> None:
    assert answer_types(statement) & ANSWERS == reduce(or_, answers, AnswerType.NONE)


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
