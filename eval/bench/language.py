"""The duration of parsing, query analysis and fact extraction.

Utterances are synthetic, of 23 to 27 words, each analysed once; recent turns are already parsed, as
in a conversation.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.bench.latency import Times, timed
from eval.bench.synthetic import START, SyntheticConversations
from hotmem.models import load_language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import MAX_TURNS

WORDS: Final = range(23, 28)
"""Words of an utterance."""

WARM_UP: Final = 10
"""First utterances, which are not measured."""


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """Times per utterance in milliseconds: parse, analysis, both, and fact extraction."""

    parse: Times
    analysis: Times
    both: Times
    facts: Times


def measure(utterances: int, console: Console) -> ReadingTimes:
    """Analyse a number of utterances."""
    language = load_language()
    told = list(
        islice(
            (
                turn.text
                for turn in SyntheticConversations().turns(100 * utterances)
                if len(turn.text.split()) in WORDS
            ),
            WARM_UP + utterances + MAX_TURNS,
        )
    )
    parse: list[float] = []
    analysis: list[float] = []
    facts: list[float] = []
    for place in track(range(MAX_TURNS, len(told)), "reading", console=console):
        parsed = language.parse(told[place - MAX_TURNS : place])
        recent = [RecentTurn(turn, by_user=True) for turn in parsed]
        with timed(parse):
            doc = language.parse([told[place]], names=False)[0]
        with timed(analysis):
            analyse(doc, START, (), recent)
        doc = language.parse([told[place]])[0]
        with timed(facts):
            extract_from_parse(doc, "Ana", Role.USER, START)
    both = [first + then for first, then in zip(parse, analysis, strict=True)]
    return ReadingTimes(*(Times.of(part[WARM_UP:]) for part in (parse, analysis, both, facts)))


def show(reading: ReadingTimes, console: Console) -> None:
    """Print the times as a table."""
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
