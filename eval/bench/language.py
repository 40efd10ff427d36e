"""How long reading an utterance takes.

Its parse, its analysis with what it leaves unsaid, and, behind the conversation, its facts.

The utterances are invented talk of 23 to 27 words, each read once; the recent turns are parsed
already, as they are in a conversation.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.bench.latency import Times, timed
from eval.bench.talk import START, Talk
from hotmem.models import load_language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.coreference import MAX_TURNS

WORDS: Final = range(23, 28)
"""Words of an utterance."""

WARM_UP: Final = 10
"""First utterances, which are not counted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Milliseconds of reading an utterance.

    Parse, analysis, both together, and its facts, which no reply waits for.
    """

    parse: Times
    analysis: Times
    both: Times
    facts: Times


def measure(utterances: int, console: Console) -> Reading:
    """Reads so many utterances."""
    language = load_language()
    told = list(
        islice(
            (
                turn.text
                for turn in Talk().turns(100 * utterances)
                if len(turn.text.split()) in WORDS
            ),
            WARM_UP + utterances + MAX_TURNS,
        )
    )
    parse: list[float] = []
    analysis: list[float] = []
    facts: list[float] = []
    for place in track(range(MAX_TURNS, len(told)), "reading", console=console):
        recent = language.parse(told[place - MAX_TURNS : place])
        with timed(parse):
            doc = language.parse([told[place]], names=False)[0]
        with timed(analysis):
            analyse(doc, START, (), recent)
        doc = language.parse([told[place]])[0]
        with timed(facts):
            extract_from_parse(doc, "Ana", Role.USER, START)
    both = [first + then for first, then in zip(parse, analysis, strict=True)]
    return Reading(*(Times.of(part[WARM_UP:]) for part in (parse, analysis, both, facts)))


def show(reading: Reading, console: Console) -> None:
    """Prints the times as a table."""
    table = Table(
        "milliseconds",
        "p50",
        "p95",
        title=f"utterances of {WORDS[0]} to {WORDS[-1]} words",
        title_justify="left",
    )
    rows = {
        "parse": reading.parse,
        "analysis": reading.analysis,
        "both": reading.both,
        "facts, in the background": reading.facts,
    }
    for name, times in rows.items():
        table.add_row(name, f"{times.p50:.2f}", f"{times.p95:.2f}")
    console.print(table)
