"""False alarms of names found by sound: turns in which a known name is found that nobody said.

The turns are those of the training batches. For each, known names are drawn that do not occur in
it; whatever is then found is wrong. In a statement it would file a fact under the wrong person.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from eval.files import tsv_rows
from eval.output import print_table, tracked
from eval.understanding import data
from hotmem.models import Language
from hotmem.text.names import name_finder
from hotmem.text.phonetics import KnownName, encode_sounds
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.corrections import lacks_case
from hotmem.understanding.query.misheard import find_misheard_names

NAMES: Final = Path(__file__).with_name("known_names.txt")
"""First names and names of pets of many countries."""

KNOWN: Final = (5, 20, 100, 300)
"""Numbers of known names."""

SEED: Final = 7


@dataclass(frozen=True, slots=True)
class FalseAlarm:
    """A known name found in a turn that does not have it.

    Attributes:
        statement: Whether the turn was read as a statement, not as a query.
        known: Number of known names.
        cased: Whether the turn has capitals.
        text: The turn.
        words: The words taken for the name.
        name: The name.
    """

    statement: bool
    known: int
    cased: bool
    text: str
    words: str
    name: str


def training_turns(count: int) -> list[str]:
    """The first different turns of the training batches."""
    batches = sorted(data.TRAINING + data.CALIBRATION)
    texts = (row[2] for one in batches for row in tsv_rows(data.FOLDER / one / "utterances.tsv"))
    return list(islice(dict.fromkeys(texts), count))


def known_names() -> list[KnownName]:
    """All names that are drawn from."""
    return [KnownName(name, encode_sounds(name)) for name in NAMES.read_text("utf-8").split()]


def false_alarms(turns: Sequence[str], language: Language) -> list[FalseAlarm]:
    """Read each turn as a statement and as a query, with known names that it does not have."""
    names, chance = [(one, name_finder(one.name)) for one in known_names()], random.Random(SEED)
    found: list[FalseAlarm] = []
    for text in tracked(turns, "false alarms"):
        others = [one for one, find in names if not find(text)]
        for count in KNOWN:
            found += _false_alarms(text, chance.sample(others, count), language)
    return found


def _false_alarms(
    text: str, known: Sequence[KnownName], language: Language
) -> Iterator[FalseAlarm]:
    def parse(text: str) -> Doc:
        return language.parse([text], names=False)[0]

    cased = not lacks_case(text)
    for statement in (True, False):
        for one in find_misheard_names(
            parse(text), known, parse, language.is_word, cased=cased, statement=statement
        ):
            words = text[one.start : one.stop]
            yield FalseAlarm(statement, len(known), cased, text, words, one.name)


def show(turns: Sequence[str], found: Sequence[FalseAlarm]) -> None:
    """Print how many turns have a false alarm."""
    turns_of = Counter(not lacks_case(text) for text in turns)
    rows = []
    for statement in (True, False):
        for cased in (True, False):
            own = [one for one in found if (one.statement, one.cased) == (statement, cased)]
            wrong = Counter(known for known, _ in {(one.known, one.text) for one in own})
            kind = "statements" if statement else "queries"
            shown = "cased" if cased else "lower case"
            rows.append((kind, shown, turns_of[cased], *(wrong[count] for count in KNOWN)))
    headings = ("read as", "style", "turns", *(f"{count} names" for count in KNOWN))
    print_table("turns with a false alarm", headings, rows)
