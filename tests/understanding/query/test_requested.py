"""What a search asks for by kind, tag and time, and which searches ask by words alone."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from hotmem.types import Interval
from hotmem.understanding.query.requested import Requested, RequestedKind, requested_memories
from tests.scored import scored

AT = datetime(2026, 7, 1, 8, 20, tzinfo=UTC)
"""A Wednesday."""


def day(month: int, date: int) -> datetime:
    return datetime(2026, month, date, tzinfo=UTC)


THIS_WEEK = Interval(day(6, 29), day(7, 6))
MAY = Interval(day(5, 1), day(6, 1))
JUNE = Interval(day(6, 1), day(7, 1))


@scored(
    ("query", "expected"),
    [
        ("reminders", Requested(RequestedKind.REMINDERS)),
        ("What do I still have to do?", Requested(RequestedKind.REMINDERS)),
        ("my to-do list", Requested(RequestedKind.REMINDERS)),
        ("dentist appointments", Requested(RequestedKind.REMINDERS, "dentist")),
        (
            "Reminders for this week",
            Requested(RequestedKind.REMINDERS, time=THIS_WEEK, due=True),
        ),
        ("reminders from May", Requested(RequestedKind.REMINDERS, time=MAY)),
        (
            "what do I have to do by Thursday",
            Requested(RequestedKind.REMINDERS, time=Interval(AT, day(7, 3)), due=True),
        ),
        ("what have I decided?", Requested(RequestedKind.DECISIONS)),
        ("decisions about the website", Requested(RequestedKind.DECISIONS, "website")),
        (
            "What did we decide for the shop in May?",
            Requested(RequestedKind.DECISIONS, "shop", time=MAY),
        ),
        ("did we agree on anything about the car", Requested(RequestedKind.DECISIONS, "car")),
        ("programming notes", Requested(RequestedKind.CODE)),
        ("any shell commands I noted down", Requested(RequestedKind.CODE)),
        ("links I saved about tiling", Requested(RequestedKind.LINKS, "tiling")),
        ("which links do I have for bread", Requested(RequestedKind.LINKS, "bread")),
        ("notes about my projects", Requested(RequestedKind.PROJECTS)),
        ("preferences", Requested(RequestedKind.PREFERENCES)),
        ("things I like", Requested(RequestedKind.PREFERENCES)),
        ("settings for you", Requested(RequestedKind.RULES)),
        (
            "things I learned since 10 June",
            Requested(RequestedKind.LEARNINGS, time=Interval(day(6, 10), AT)),
        ),
        ("everything tagged tax", Requested(RequestedKind.NOTES, tag="tax")),
        ("everything tagged C++", Requested(RequestedKind.NOTES, tag="c++")),
        ("the tax tag", Requested(RequestedKind.NOTES, tag="tax")),
        ("notes tagged tax from May", Requested(RequestedKind.NOTES, tag="tax", time=MAY)),
        ("notes of last month", Requested(RequestedKind.NOTES, time=JUNE)),
        ("who did I talk to", Requested(RequestedKind.INTERACTIONS)),
        ("things I'm working on", Requested(RequestedKind.PROJECTS)),
        ("how I want you to speak", Requested(RequestedKind.RULES, "speak")),
        (
            "what's planned for this week",
            Requested(RequestedKind.REMINDERS, time=THIS_WEEK, due=True),
        ),
        ("#garden", Requested(RequestedKind.NOTES, tag="garden")),
        ("#garden, roses", Requested(RequestedKind.NOTES, "roses", tag="garden")),
        ("reminders with the tag garden", Requested(RequestedKind.REMINDERS, tag="garden")),
        ("bellwether stuff", Requested(RequestedKind.NOTES, "bellwether")),
        ("notes about my kids from May", Requested(RequestedKind.NOTES, "kids", time=MAY)),
        ("What did I tell you in May?", Requested(RequestedKind.NOTES, time=MAY)),
        ("anything on the boiler", Requested(RequestedKind.NOTES, "boiler")),
        ("the latest notes", Requested(RequestedKind.NOTES)),
    ],
)
def test_a_search_for_a_kind_a_tag_or_a_time(query: str, expected: Requested) -> None:
    assert requested_memories(query, AT) == expected


@scored(
    "query",
    [
        "what reminders did the vet give me",
        "what decisions did the board make",
        "why did I decide to move",
        "code review with Tom",
        "when is the project due",
        "how are my projects going",
        "who sets the rules here",
        "cello lessons",
        "anything on Friday?",
        "what did I do last weekend",
        "what did Tom tell me yesterday",
        "what should I do about my back",
        "do you remember my favourite colour",
        "where are my clients hosted",
        "boiler",
        "what do I like to eat",
        "what is Paola learning?",
        "which tips did Kate give",
        "tips that Kate gave Elise",
        "what inspired Joanna's new script",
        "what is the code for the burglar alarm?",
        "what's on my number plate?",
        "what's the thing on the radio",
        "everything in the kitchen just went dark",
        "evening all",
        "show me all my notes " * 8,
        "#0+",
    ],
)
def test_a_search_by_words_alone(query: str) -> None:
    assert requested_memories(query, AT) is None


@given(st.text(max_size=80))
def test_the_topic_is_made_of_words_of_the_query(text: str) -> None:
    found = requested_memories(text, AT)
    if found is not None:
        said = text.replace("’", "'")
        assert set(re.split(r"[\s?!.,;:]+", found.topic)) <= {*re.split(r"[\s?!.,;:]+", said), ""}
