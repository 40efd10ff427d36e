"""Utterances that memory cannot help with, and similar ones that it can."""

from datetime import UTC, datetime
from time import thread_time

from hotmem.models import Language
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.cues import COURTESIES, GENERAL_QUESTIONS
from tests.scored import scored

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def needed(language: Language, text: str, *known: str) -> bool:
    return analyse(language.parse([text], names=False)[0], MONDAY, known).needs_memory


@scored(
    "text",
    [
        "Turn on the lamp.",
        "set a timer for ten minutes",
        "Could you close the blinds?",
        "What's the weather like?",
        "What time is it?",
        "What's the temperature outside right now?",
        "Turn the volume up a bit, please.",
        "How do you boil an egg?",
        "What's the capital of France?",
        "Tell me a joke.",
        "Good morning, nice to hear you.",
        "Good evening, my friend.",
        "Thank you, that's very kind of you.",
        "You're a funny one.",
        "Terrible weather out there.",
        "I love your accent.",
        "Oh my goodness, what a week.",
        "Stop, that's enough.",
        "Could you say that again, please?",
        "volume seven",
        "Turn it down a bit.",
        "Do you ever sleep?",
        "Are you a real person?",
        "What's your favourite colour?",
        "What's nineteen plus twenty-four?",
    ],
)
def test_commands_and_general_questions_need_no_memory(language: Language, text: str) -> None:
    assert not needed(language, text)


@scored(
    "text",
    [
        "Turn on my favourite lamp.",
        "Play the song I told you about.",
        "Hey, what's my dog's name?",
        "What time is the wedding?",
        "What's the time of the meeting with the landlord?",
        "What's the temperature the cake needs?",
        "What day is it that the plumber comes?",
        "Switch the appointment with Dr Lee on Friday to Monday.",
        "How do you cook the stew from Sunday?",
        "What's the news about the exam?",
        "How do you cook the stew my grandmother made?",
        "Play that again.",
        "Call my friend.",
        "How is my dear friend?",
        "Do you like the song I wrote?",
        "Are you sure he comes?",
        "That's my sister.",
        "The weather in my garden was terrible.",
        "It was lovely at the lake.",
        "Which restaurant was it?",
    ],
)
def test_first_person_and_ambiguous_utterances_need_memory(language: Language, text: str) -> None:
    assert needed(language, text)


def test_stored_names_need_memory(language: Language) -> None:
    assert not needed(language, "What is the capital of Mongolia?")
    assert needed(language, "What is the capital of Mongolia?", "Mongolia")


def test_what_never_ends_takes_no_time() -> None:
    began = thread_time()
    assert not GENERAL_QUESTIONS.search("what is " + "xteen" * 30 + " y")
    assert not GENERAL_QUESTIONS.search("what is " + "seven " * 500)
    assert not list(COURTESIES.finditer("so very too " * 2_000 + "long"))
    assert GENERAL_QUESTIONS.search("what is twenty-five times sixteen")
    assert thread_time() - began < 1
