"""Invented talk for measuring speed: a seeded, endless supply of spoken-style turns, most of them distinct.

One user talks to one bot. Statements come from a bounded world of people, places and things, so that names recur as they do in life,
and questions about that world have many turns that could answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from hotmem.types import Role, Turn

USER: Final = "bench"
"""The one user."""

START: Final = datetime(2024, 1, 8, 9, tzinfo=UTC)
"""When the first session starts; one session a day."""

SESSION_TURNS: Final = 20
"""Turns of a session, the user's and the bot's in turn."""

PEOPLE: Final = (
    "my sister Marta", "my brother Jonas", "my friend Priya", "my boss Helena", "our neighbour Walter", "my cousin Ines", "Tom from work",
    "my aunt Gisela", "my daughter Nora", "my son Emil", "my uncle Pavel", "my flatmate Yusuf", "Doctor Lindqvist", "my colleague Amara",
    "my old teacher Mister Hale",
)  # fmt: skip
PLACES: Final = (
    "Lisbon", "Graz", "the lake house", "the office in Leeds", "Kyoto", "the allotment", "the swimming pool", "Bergen", "the hospital",
    "the old town", "Valencia", "the climbing hall", "Trieste", "the market on Grove Street", "the school", "Aarhus", "the harbour",
    "the farm near Tartu",
)  # fmt: skip
THINGS: Final = (
    "a red bicycle", "a second-hand piano", "an espresso machine", "a tent for three", "a pair of hiking boots", "a sewing machine",
    "a greenhouse", "a telescope", "a grey kitten", "a set of watercolours", "a folding kayak", "a cast-iron pan", "an old camera",
    "a rain barrel", "a cello",
)  # fmt: skip
DEEDS: Final = (
    "baked a plum cake", "missed the early train", "finished the tax return", "repaired the kitchen tap", "painted the hallway green",
    "ran ten kilometres", "planted forty tulips", "lost the house keys", "started a pottery course", "cancelled the insurance",
    "learned a song on the guitar", "broke a wrist", "won the chess evening", "applied for a new job", "sold the car",
    "took a first sailing lesson", "read a novel in one night", "fixed the printer",
)  # fmt: skip
TIMES: Final = (
    "yesterday", "last Sunday", "this morning", "two weeks ago", "on Friday evening", "over the holidays", "last month", "on the third of May",
)  # fmt: skip
FEELINGS: Final = ("relieved", "tired but happy", "a bit nervous", "proud", "quite annoyed", "curious", "rather lonely", "full of energy")

STATEMENTS: Final = (
    "{time} {person} {deed}, and I was {feeling} about it.",
    "I bought {thing} for {price} euros near {place} {time}.",
    "Did I tell you that {person} is moving to {place}? It should happen in {days} days.",
    "I {deed} {time} and then met {person} at {place}.",
    "We are planning a trip to {place} with {person}, about {days} days long.",
    "{person} gave me {thing}, which I had wanted for {days} weeks.",
    "I don't go to {place} any more since {person} {deed}.",
    "My appointment at {place} was moved to half past {hour}, so {person} will drive me.",
    "I like {place} most when {person} comes along. Last time we stayed for {hour} hours and talked about {thing}.",
)
REPLIES: Final = (
    "That sounds lovely. How did {person} feel about it?",
    "I see. Would you like me to remind you about {place} in {days} days?",
    "Noted. {thing} for {price} euros is a fair price.",
    "I am sorry to hear that. Perhaps {person} can help at {place}.",
    "Good to know. Shall we talk about {place} again {hour} hours before you leave?",
)
QUESTIONS: Final = (
    "What did {person} give me {time}?",
    "When did I last go to {place} with {person}?",
    "How much did I pay for {thing} near {place}?",
    "Who {deed} {time}?",
    "What did I tell you about {person} and {place}?",
    "Where did I buy {thing}?",
    "Is {person} still moving to {place}?",
    "How long will the trip to {place} with {person} be?",
)


@dataclass(frozen=True, slots=True)
class Talk:
    """A seeded source of turns and questions; the same seed gives the same words."""

    seed: int = 7

    def turns(self, number: int) -> Iterator[Turn]:
        """The first `number` turns, in sessions of `SESSION_TURNS`, one a day."""
        random = Random(self.seed)
        for place in range(number):
            session, position = divmod(place, SESSION_TURNS)
            role = Role.ASSISTANT if position % 2 else Role.USER
            yield Turn(
                user_id=USER,
                session_id=f"day-{session}",
                role=role,
                speaker="Ana" if role is Role.USER else "Bot",
                text=_said(random, REPLIES if role is Role.ASSISTANT else STATEMENTS),
                spoken_at=START + timedelta(days=session, seconds=12 * position),
                id=f"turn-{place}",
            )

    def questions(self, number: int) -> list[str]:
        """Distinct questions about the same world, a thousand at most."""
        random = Random(self.seed + 1)
        asked: dict[str, None] = {}
        while len(asked) < number:
            asked[_said(random, QUESTIONS)] = None
        return list(asked)


def _said(random: Random, templates: tuple[str, ...]) -> str:
    text = random.choice(templates).format(
        person=random.choice(PEOPLE),
        place=random.choice(PLACES),
        thing=random.choice(THINGS),
        deed=random.choice(DEEDS),
        time=random.choice(TIMES),
        feeling=random.choice(FEELINGS),
        price=random.randint(5, 900),
        days=random.randint(2, 60),
        hour=random.randint(2, 11),
    )
    return text[0].upper() + text[1:]
