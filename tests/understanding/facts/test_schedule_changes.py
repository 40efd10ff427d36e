"""Whether a later turn cancels, moves or restores a plan."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.understanding.facts.events import CHANGE_WORDS, affects_plan, changed_events
from tests.scored import scored

MONDAY = datetime(2026, 11, 16, 10, tzinfo=UTC)

CHANGED = (
    ("i've got a haircut on friday the twentieth", "i cancelled my haircut"),
    ("we've got a barbecue at dave's on friday the twentieth", "the barbecue's off"),
    ("we're going to the zoo on friday the twentieth", "the zoo is cancelled we're not going"),
    ("i've got a dentist appointment on the twentieth", "the dentist cancelled"),
    (
        "i have a dentist appointment on the twentieth",
        "i moved the dentist appointment to the twenty fourth",
    ),
    (
        "the boiler man is coming on the twentieth",
        "the boiler man isn't coming on the twentieth anymore",
    ),
    ("the board meeting is on the twentieth", "the board meeting got moved to the twelfth"),
    (
        "mum's operation is on the twentieth",
        "mum's operation got postponed to the third of december",
    ),
    ("i've got physio on the twentieth", "the physio is now on the twenty seventh"),
    ("i'm seeing the physio on the twentieth", "the physio rang to cancel"),
    ("we've got a picnic on the twentieth", "we're not doing the picnic anymore"),
    ("the board meeting is on the twentieth", "i can't make the board meeting"),
    ("the review with priya is on the twentieth", "they've brought the review forward to nine"),
    ("i'm going to a concert on the twentieth", "the concert is no longer happening"),
    ("we're going to the zoo on the twentieth", "We're not going to the zoo."),
    ("i have a job interview on the twentieth", "They called off the interview."),
    ("we've got a party on the twentieth", "we had to put off the party till july"),
    (
        "i've got a vet appointment on the twentieth",
        "The appointment at the vet got pushed back a week.",
    ),
    ("i've got yoga on the twentieth", "there's no yoga on the twentieth"),
    ("i'm flying to lisbon on the twentieth", "my flight to lisbon was cancelled"),
    ("i'm driving to leeds on the twentieth", "i'm not going to leeds after all"),
    ("i have an exam on the twentieth", "My exam has been rescheduled for Monday."),
    ("we're meeting the accountant on the twentieth", "we have to reschedule the accountant"),
    ("i've got a haircut on the twentieth", "my haircut is on monday instead"),
    ("dinner with sam is on the twentieth", "dinner with sam is off"),
    ("we have a viewing on the twentieth", "The viewing isn't on Friday, it's on Saturday."),
)

AS_BEFORE = (
    ("we've got a barbecue on the twentieth", "I moved the sofa for the barbecue"),
    ("we've got a barbecue on the twentieth", "dave is bringing the kids to the barbecue"),
    ("i've got a dentist appointment on the twentieth", "i cancelled my vet appointment"),
    ("i've got a haircut on the twentieth", "i didn't cancel my haircut"),
    ("i've got a haircut on the twentieth", "should i cancel my haircut"),
    ("i've got a haircut on the twentieth", "if it rains we'll cancel the haircut"),
    ("we've got a barbecue on the twentieth", "dave turned the barbecue off"),
    ("the heating engineer is coming on the twentieth", "the heating is off again"),
    ("we're going to the zoo on the twentieth", "i'm not going to wear a hat at the zoo"),
    ("i have a board meeting on the twentieth", "i pushed the door of the meeting room"),
    ("i've got the dentist on the twentieth", "i don't like the dentist"),
    ("we've got a barbecue on the twentieth", "i put the barbecue back in the shed"),
    ("i've got physio on the twentieth", "I changed my shoes before physio"),
    ("we've got a party on the twentieth", "i cancelled the gym because of the party"),
    ("i'm seeing mum on the twentieth", "mum moved the table to the kitchen"),
    ("i've got a haircut on the twentieth", "can you move my haircut to monday"),
    ("the sofa is being delivered on the twentieth", "we moved the sofa"),
    ("my exam is on the twentieth", "the exam might be postponed"),
    ("dave's coming on the twentieth", "dave is off to the shops"),
    ("i've got a haircut on the twentieth", "i haven't cancelled the haircut"),
    ("i've got a meeting with priya on the twentieth", "priya is not happy"),
    ("i've got swimming on the twentieth", "my swimming goggles are off colour"),
)


def is_changed(language: Language, plan: str, later: str) -> bool:
    words, doc = language.parse([plan, later], names=False)
    return bool(CHANGE_WORDS.search(later)) and any(
        affects_plan(thing, words) for thing in changed_events(doc, MONDAY)
    )


@scored(("plan", "later"), CHANGED)
def test_a_changed_plan(language: Language, plan: str, later: str) -> None:
    assert is_changed(language, plan, later)


@scored(("plan", "later"), AS_BEFORE)
def test_similar_words_change_nothing(language: Language, plan: str, later: str) -> None:
    assert not is_changed(language, plan, later)


def test_on_again(language: Language) -> None:
    assert is_changed(language, "we've got a barbecue on the twentieth", "the barbecue is back on")
    assert not is_changed(
        language, "we've got a barbecue on the twentieth", "the barbecue is on friday"
    )
