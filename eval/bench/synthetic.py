"""Synthetic conversations for benchmarks: a seeded, endless supply of spoken-style turns.

Each user talks to one bot. A turn has two or three of thousands of sentences; a sentence is a
template whose slots are filled with people, places, things, actions and times, the n-th of each
list with probability proportional to 1/(n + 4) (Zipf-Mandelbrot law). Half of the people and places
have names composed of syllables, for the long tail of a language.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from random import Random
from typing import Final

from hotmem.types import Role, Turn

USER: Final = "bench"
"""The first user; further users have a number appended."""

START: Final = datetime(1990, 1, 8, 9, tzinfo=UTC)
"""Start of the first session."""

SESSION_TURNS: Final = 20
"""Turns per session, with user and bot alternating."""

SESSIONS_A_DAY: Final = 4

SENTENCES: Final = {Role.USER: 8_000, Role.ASSISTANT: 2_000}
"""Number of distinct sentences."""

NAMES: Final = 1_500
"""Number of composed names of people, and of places."""

CLOSE: Final = (
    "my sister Marta", "my brother Jonas", "my friend Priya", "my boss Helena",
    "our neighbour Walter", "my cousin Ines", "my colleague Tom", "my aunt Gisela",
    "my daughter Nora", "my son Emil", "my uncle Pavel", "my flatmate Yusuf", "my doctor",
    "my landlord", "the plumber", "my old teacher", "my trainer Amara", "the postman",
    "my nephew Lukas", "my lawyer",
)  # fmt: skip
NAMED: Final = (
    "Anna", "Sofia", "Peter", "Clara", "David", "Mia", "Oskar", "Leila", "Hannah", "Felix", "Rosa",
    "Victor", "Elif", "Simon", "Greta", "Omar", "Judith", "Karl", "Bianca", "Ravi", "Tessa", "Hugo",
    "Maria", "Andre", "Fiona", "Boris",
)  # fmt: skip
PLACES: Final = (
    "the office", "the swimming pool", "Lisbon", "the market", "the hospital", "the old town",
    "the school", "the harbour", "Kyoto", "the allotment", "the lake house", "Bergen",
    "the climbing hall", "the station", "Valencia", "the library", "the bakery", "the garage",
    "Trieste", "the airport", "Graz", "the museum", "the dentist", "Aarhus", "the farm",
    "the cinema", "Leeds", "the campsite", "the gym", "the chapel", "Porto", "the beach",
    "the town hall", "Ghent", "the vineyard", "the stadium", "the theatre", "Turin", "the workshop",
    "the orchard",
)  # fmt: skip
THINGS: Final = (
    "bicycle", "piano", "espresso machine", "tent", "pair of hiking boots", "sewing machine",
    "greenhouse", "telescope", "kitten", "camera", "kayak", "set of watercolours", "frying pan",
    "rain barrel", "cello", "lamp", "bookshelf", "wardrobe", "carpet", "guitar", "laptop", "phone",
    "jacket", "suitcase", "watch", "ladder", "lawn mower", "mattress", "kettle", "toaster",
    "mirror", "scarf", "drill", "printer", "globe", "typewriter", "chess board", "hammock",
    "bird feeder", "accordion", "microscope", "rucksack", "sledge", "teapot", "violin", "unicycle",
    "barometer", "loom", "kiln", "harmonica",
)  # fmt: skip
KINDS: Final = (
    "red", "second-hand", "small", "grey", "cheap", "folding", "wooden", "old", "blue", "electric",
    "Italian", "huge", "broken", "green", "silver", "yellow", "antique", "portable", "striped",
    "Japanese", "velvet", "rusty", "purple", "handmade", "waterproof",
)  # fmt: skip
DEEDS: Final = (
    "baked a plum cake", "missed the early train", "finished the tax return",
    "repaired the kitchen tap", "painted the hallway", "ran ten kilometres", "planted forty tulips",
    "lost the house keys", "started a pottery course", "cancelled the insurance",
    "learned a new song", "broke a wrist", "won the chess evening", "applied for a new job",
    "sold the car", "took a sailing lesson", "read a novel in one night", "fixed the heating",
    "caught a cold", "adopted a dog", "burned the soup", "joined a choir", "passed the exam",
    "quit smoking", "moved the sofa", "wrote a long letter", "found a wallet", "rented a van",
    "cooked for twelve people", "forgot an anniversary", "signed the contract",
    "cleaned the cellar", "watched an eclipse", "knitted a jumper", "changed the tyres",
    "booked the flights", "argued with the landlord", "visited a notary", "donated blood",
    "brewed some beer", "sprained an ankle", "taught a yoga class", "climbed a volcano",
    "built a shed", "bottled the cherries", "translated a poem", "tuned the harpsichord",
    "photographed a heron", "restored a clock", "grafted an apple tree",
)  # fmt: skip
TIMES: Final = (
    "yesterday", "last week", "this morning", "last Sunday", "two weeks ago", "on Friday evening",
    "over the holidays", "last month", "on Tuesday", "on the third of May", "in October",
    "three years ago", "the day before yesterday", "in the spring", "on my birthday",
    "on the ninth of August", "at Christmas", "on Thursday night", "in February", "last winter",
)  # fmt: skip
FEELINGS: Final = (
    "tired", "happy", "a bit nervous", "proud", "quite annoyed", "relieved", "curious",
    "rather lonely", "full of energy", "sad", "surprised", "bored", "grateful", "jealous", "calm",
    "embarrassed", "homesick", "furious",
)  # fmt: skip

STATEMENTS: Final = (
    "{time} {person} {deed}, and I was {feeling} about it.",
    "I bought a {kind} {thing} for {price} euros near {place} {time}.",
    "Did I tell you that {person} is moving to {place}?",
    "I {deed} {time} and then met {person} at {place}.",
    "We are planning a trip to {place} with {person}, about {days} days long.",
    "{person} gave me a {kind} {thing}, which I had wanted for {days} weeks.",
    "I don't go to {place} any more since {person} {deed}.",
    "My appointment at {place} was moved to half past {hour}, so {person} will drive me.",
    "I like {place} most when {person} comes along.",
    "Last time we stayed for {hour} hours and talked about the {kind} {thing}.",
    "It rained all day, so {person} and I {deed}.",
    "{person} works at {place} now and seems {feeling}.",
    "The {thing} that {person} lent me is {kind}, you know.",
    "Honestly, I felt {feeling} {time} when I {deed}.",
    "I think {person} wants to sell the {kind} {thing} for {price} euros.",
    "By the way, {person} {deed} {time}.",
    "Nobody at {place} believed that {person} {deed}.",
    "Remember the {kind} {thing}? It ended up at {place}.",
    "My knees hurt after {place}, but {person} insisted.",
    "I owe {person} {price} euros because of the {thing}.",
    "There was a queue of {hour} metres outside {place}, so we turned around.",
    "{person} is allergic to nuts, which I learned {time}.",
    "Could be that {person} comes over {time}.",
    "I dreamt of a {kind} {thing} again.",
    "The meeting with {person} was dull, everybody looked {feeling}.",
    "{time} the power failed at {place} for {hour} hours.",
    "{person} recommended a film about a {kind} {thing}.",
    "Parking near {place} costs {price} cents a minute.",
    "I promised {person} that we would visit {place} soon.",
    "The children were {feeling} after {place}.",
    "For dinner we had noodles, and {person} {deed} meanwhile.",
    "Someone stole the {thing} from {place} {time}.",
    "{person} speaks four languages and once {deed}.",
    "My favourite corner of {place} smells of coffee.",
)
REPLIES: Final = (
    "That sounds lovely, how did {person} feel about it?",
    "I see, would you like me to remind you about {place} in {days} days?",
    "Noted, {price} euros for the {thing} is a fair price.",
    "I am sorry to hear that, perhaps {person} can help at {place}.",
    "Good to know, shall we talk about {place} again {hour} hours before you leave?",
    "You said that {person} {deed} {time}, is that still so?",
    "Is the {kind} {thing} still at {place}?",
    "It is quite normal to be {feeling} about that.",
    "Which {thing} do you mean?",
    "Then {place} must be crowded {time}.",
    "I have written down that {person} {deed}.",
    "A {kind} {thing} can be found for less, I believe.",
    "Did {person} enjoy {place}?",
    "Let me know once {person} has called.",
    "Nice, {place} it is.",
    "Ha, poor {person}!",
    "Some people get {feeling} there.",
    "Your {thing} is due for service {time}.",
)
QUESTIONS: Final = (
    "What did {person} give me {time}?",
    "When did I last go to {place} with {person}?",
    "How much did I pay for the {kind} {thing} near {place}?",
    "Who {deed} {time}?",
    "What did I tell you about {person} and {place}?",
    "Where did I buy the {kind} {thing}?",
    "Is {person} still moving to {place}?",
    "How long will the trip to {place} with {person} be?",
    "Why was {person} {feeling} when I {deed}?",
    "What did we talk about at {place} {time}?",
)

_ONSETS: Final = (
    "b", "br", "d", "dr", "f", "g", "h", "j", "k", "kl", "l", "m", "n", "p", "r", "s", "st", "t",
    "tr", "v", "w", "z",
)  # fmt: skip
_NUCLEI: Final = ("a", "e", "i", "o", "u", "ai", "ei", "ou")
_ENDS: Final = ("", "n", "r", "l", "s", "nd", "rk", "lm", "tt", "sk")


@dataclass(frozen=True, slots=True)
class SyntheticConversations:
    """A seeded source of turns and questions; the same seed gives the same text.

    Attributes:
        seed: The seed.
        user: The user that talks to the bot.
    """

    seed: int = 7
    user: str = USER

    def turns(self, number: int) -> Iterator[Turn]:
        """Return the first `number` turns, in sessions of `SESSION_TURNS`."""
        random = Random(f"{self.seed} {self.user}")
        supply = {role: sentences(self.seed, role) for role in SENTENCES}
        for place in range(number):
            session, position = divmod(place, SESSION_TURNS)
            day, part = divmod(session, SESSIONS_A_DAY)
            role = Role.ASSISTANT if position % 2 else Role.USER
            yield Turn(
                user_id=self.user,
                session_id=f"session-{session}",
                role=role,
                speaker="Ana" if role is Role.USER else "Bot",
                text=" ".join(random.choice(supply[role]) for _ in range(random.choice((2, 2, 3)))),
                spoken_at=START + timedelta(days=day, hours=3 * part, seconds=12 * position),
                id=f"turn-{place}",
            )

    def questions(self, number: int) -> list[str]:
        """Return distinct questions about the same people, places and things."""
        return _distinct(Random(self.seed + 1), QUESTIONS, number)


@cache
def sentences(seed: int, role: Role) -> tuple[str, ...]:
    """Return all sentences of the user, or of the bot."""
    return tuple(
        _distinct(
            Random(f"{seed} {role}"),
            REPLIES if role is Role.ASSISTANT else STATEMENTS,
            SENTENCES[role],
        )
    )


def _distinct(random: Random, templates: Sequence[str], number: int) -> list[str]:
    said: dict[str, None] = {}
    while len(said) < number:
        said[_filled(random, templates)] = None
    return list(said)


def _filled(random: Random, templates: Sequence[str]) -> str:
    name = _often(random, NAMED) if random.random() < 0.5 else _often(random, _invented("people"))
    place = _often(random, PLACES) if random.random() < 0.5 else _often(random, _invented("places"))
    text = random.choice(templates).format(
        person=_often(random, CLOSE) if random.random() < 0.5 else name,
        place=place,
        thing=_often(random, THINGS),
        kind=_often(random, KINDS),
        deed=_often(random, DEEDS),
        time=_often(random, TIMES),
        feeling=_often(random, FEELINGS),
        price=random.randint(5, 900),
        days=random.randint(2, 60),
        hour=random.randint(2, 11),
    )
    return text[0].upper() + text[1:]


def _often(random: Random, choices: Sequence[str]) -> str:
    """Choose an element, with earlier ones more likely."""
    return random.choices(choices, cum_weights=_weights(len(choices)))[0]


@cache
def _weights(number: int) -> tuple[float, ...]:
    return tuple(accumulate(1 / (rank + 4) for rank in range(1, number + 1)))


@cache
def _invented(sort: str) -> tuple[str, ...]:
    random = Random(sort)
    names: dict[str, None] = {}
    while len(names) < NAMES:
        syllables = (
            random.choice(_ONSETS) + random.choice(_NUCLEI) + random.choice(_ENDS)
            for _ in range(random.choice((2, 2, 3)))
        )
        names["".join(syllables).capitalize()] = None
    return tuple(names)
