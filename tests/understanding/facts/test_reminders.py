"""Requests to be reminded, and the kind and times of plans. Said on Wednesday, 7 October 2026."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.types import Kind, Role, Understanding
from hotmem.understanding.facts import extract_facts
from hotmem.understanding.facts.events import plan_statement
from tests.scored import scored

SAID_AT = datetime(2026, 10, 7, 9, 30, tzinfo=UTC)


def read(language: Language, said: str) -> Understanding:
    doc = language.parse([said])[0]
    return extract_facts(doc, lambda text: language.parse([text])[0], "Ana", Role.USER, SAID_AT)


def reminders(language: Language, said: str) -> list[str]:
    return [one.text for one in read(language, said).statements if one.kind is Kind.REMINDER]


@scored(
    ("said", "text"),
    [
        (
            "Remind me to write the rollout document before Friday",
            "Ana wants to be reminded to write the rollout document before 2026-10-09 (Friday).",
        ),
        (
            "um can you remind me on um thursday to sign the camp form",
            "Ana wants to be reminded on 2026-10-08 (Thursday) to sign the camp form.",
        ),
        (
            "don't let me forget the black pudding on saturday",
            "Ana wants to be reminded of the black pudding on 2026-10-10 (Saturday).",
        ),
        (
            "At 7 p.m. on the 24th remind me to switch on the star.",
            "Ana wants to be reminded on 2026-10-24 (Saturday) at 19:00 to switch on the star.",
        ),
        (
            "Wake me at quarter to six tomorrow, I've got the early milking.",
            "Ana wants to be woken on 2026-10-08 (Thursday) at 05:45.",
        ),
        (
            "Rent's due on the first, don't let me forget.",
            "Ana wants to be reminded on 2026-11-01 (Sunday) that rent's due.",
        ),
        (
            "remind me when i get home to look at the fuse",
            "Ana wants to be reminded when Ana gets home to look at the fuse.",
        ),
    ],
    floor=0.85,
)
def test_a_request_is_a_reminder(language: Language, said: str, text: str) -> None:
    assert [one.casefold() for one in reminders(language, said)] == [text.casefold()]


@scored(
    "said",
    [
        "Remind me what she said about the garden.",
        "remind me when my appointment is",
        "You remind me of my sister.",
        "Don't remind me.",
        "He asked me to remind him about the key.",
        "remind me about the dentist",
        "my mum said don't forget your coat",
        "I don't forget birthdays.",
        "We had pizza tonight.",
        "Finished the crossword in twelve minutes.",
        "I deployed the auth fixes.",
        "I have to wear a brace.",
    ],
    floor=0.85,
)
def test_other_words_are_no_reminder(language: Language, said: str) -> None:
    asked = [one for one in read(language, said).statements if "remind" in one.relation]
    assert asked == []


@scored(
    ("said", "start", "end"),
    [
        ("Remind me to call Tom before Friday.", "2026-10-08 00:00", "2026-10-10 00:00"),
        ("Remind me to call Tom by Friday.", "2026-10-09 00:00", "2026-10-10 00:00"),
        ("Remind me to call Tom before four.", "2026-10-07 09:30", "2026-10-07 16:01"),
        ("Remind me to call Tom at six.", "2026-10-07 18:00", "2026-10-07 18:01"),
        ("I have to renew my visa by Friday.", "2026-10-09 00:00", "2026-10-10 00:00"),
        ("I have got ballet on the fifteenth.", "2026-10-15 00:00", "2026-10-16 00:00"),
        ("I start at the bakery in May.", "2027-05-01 00:00", "2027-06-01 00:00"),
    ],
    floor=0.85,
)
def test_a_plan_has_a_time_of_its_own(language: Language, said: str, start: str, end: str) -> None:
    found = read(language, said)
    (plan,) = [one for one in found.statements if one.kind is Kind.REMINDER]
    (time,) = [one for one in found.event_times if one.start < plan.stop and one.stop > plan.start]
    assert (f"{time.interval.start:%Y-%m-%d %H:%M}", f"{time.interval.end:%Y-%m-%d %H:%M}") == (
        start,
        end,
    )


@scored(
    ("said", "part", "text", "day"),
    [
        (
            "gogo is sick again we must take her to bara on monday for the x ray",
            "we must take her to bara on monday for the x ray",
            "Ana must take her to bara on 2026-10-12 (Monday) for the x ray.",
            "2026-10-12",
        ),
        (
            "Next Tuesday is free, so we can move the sofa.",
            "we can move the sofa",
            "Ana can move the sofa.",
            "2026-10-13",
        ),
        (
            "pay the rent by the twenty sixth else they shout",
            "pay the rent by the twenty sixth",
            "Ana wants to be reminded to pay the rent by 2026-10-26 (Monday).",
            "2026-10-26",
        ),
        ("eye clinic and Rose is running me over", "eye clinic", "Eye clinic.", "2026-10-08"),
    ],
    floor=1.0,
)
def test_words_known_to_be_a_plan_make_one(
    language: Language, said: str, part: str, text: str, day: str
) -> None:
    """The model says which words are a plan; "tomorrow" was in the bot's question."""
    doc = language.parse([said])[0]
    start = said.index(part)
    asked = read(language, "tomorrow").event_times[0].interval
    plan = plan_statement(doc, start, start + len(part), "Ana", SAID_AT, default=asked)
    assert plan.statement.text == text
    assert plan.statement.kind is Kind.REMINDER
    (time,) = plan.times
    assert f"{time.interval.start:%Y-%m-%d}" == day
    assert time.start < plan.statement.stop
    assert time.stop > plan.statement.start
