"""Answers are stated with what the question says."""

from hotmem.models import Language
from hotmem.understanding.facts.answers import last_question, statement_of_answer
from tests.scored import scored


def stated(language: Language, question: str, answer: str) -> str:
    asked, said = language.parse([question, answer])
    return statement_of_answer(asked, said, "the user")


@scored(
    ("question", "answer", "expected"),
    [
        ("Any allergies?", "Just shellfish.", "The user's allergies: just shellfish."),
        ("Any allergies I should know of?", "Just pecans", "The user's allergies: just pecans."),
        ("Any allergies?", "No, none.", "The user has no allergies."),
        ("Any allergies?", "Yes", "The user has allergies."),
        ("And your address?", "12 King's Road", "The user's address: 12 King's Road."),
        ("Do you have a car?", "Yeah, a Saab", "The user's car: a Saab."),
        ("Do you have a dog?", "Nope", "The user has no dog."),
        (
            "Is there a code for the front door?",
            "5-0-9-1, then the pound",
            "The code for the front door: 5-0-9-1, then the pound.",
        ),
        ("Do you smoke?", "Not any more.", "The user does not smoke any more."),
        ("Do you smoke?", "No", "The user does not smoke."),
        ("Do you smoke?", "Yes, ten a day", "The user smokes, ten a day."),
        ("Do you smoke?", "I don't.", "The user does not smoke."),
        ("Great! Do you still live in Leeds?", "No", "The user does not live in Leeds any more."),
        ("Do you still live in Leeds?", "I do", "The user still lives in Leeds."),
        ("Do you eat meat?", "Only at weekends", "The user eats meat only at weekends."),
        ("Are you married?", "Yes", "The user is married."),
        ("Were you born in Denmark?", "Yes", "The user was born in Denmark."),
        ("Can you swim?", "No", "The user cannot swim."),
        (
            "Does your mother live with you?",
            "No, in Leeds",
            "The user's mother does not live with the user, but in Leeds.",
        ),
        ("And is the church still on Elm Street?", "Yes", "The church is still on Elm Street."),
        (
            "Is it okay if I remind you at night?",
            "No",
            "It is not okay if the bot reminds the user at night.",
        ),
        (
            "How many grandchildren have you now?",
            "Eleven, with the new one.",
            "The user has eleven grandchildren now, with the new one.",
        ),
        ("What's your name?", "Bob", "The user's name is Bob."),
        ("What's the baby's blood type?", "O negative", "The baby's blood type is O negative."),
        (
            "And your phone number?",
            "Oh seven seven double oh nine",
            "The user's phone number: oh seven seven double oh nine.",
        ),
        ("So do you still smoke?", "Yep", "The user still smokes."),
        (
            "What's the key safe code?",
            "It's 4417, pull the flap down",
            "The key safe code is 4417, pull the flap down.",
        ),
        ("Where do you live?", "In Leeds", "The user lives in Leeds."),
        (
            "How would you like to pay?",
            "Always the joint account",
            "How the user would like to pay: always the joint account.",
        ),
    ],
)
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
