"""The duration of parsing, query analysis and fact extraction.

Utterances are synthetic, of 23 to 27 words, each analysed once; recent turns are already parsed, as
in a conversation.
"""

from itertools import islice
from typing import Annotated, Final

import typer

from eval.arguments import AsJson
from eval.bench.synthetic import START, SyntheticConversations
from eval.output import print_figures, print_json, tracked
from eval.timing import WARM_UP, Times, timed
from hotmem.models import load_language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import MAX_TURNS, expand

WORDS: Final = range(23, 28)
"""Words of an utterance."""


def language(
    utterances: Annotated[int, typer.Option(help="Utterances analysed.", min=1, max=2000)] = 300,
    as_json: AsJson = False,
) -> None:
    """Measure parsing, query analysis and fact extraction on utterances of about 25 words."""
    parser = load_language()
    turns = SyntheticConversations().turns(100 * utterances)
    texts = (turn.text for turn in turns if len(turn.text.split()) in WORDS)
    told = list(islice(texts, WARM_UP + utterances + MAX_TURNS))
    parse: list[float] = []
    analysis: list[float] = []
    facts: list[float] = []
    for place in tracked(range(MAX_TURNS, len(told)), "reading"):
        parsed = parser.parse(told[place - MAX_TURNS : place])
        recent = [RecentTurn(turn, by_user=True) for turn in parsed]
        with timed(parse):
            doc = parser.parse([told[place]], names=False)[0]
        with timed(analysis):
            expand(doc, analyse(doc, START).ambiguous, recent)
        doc = parser.parse([told[place]])[0]
        with timed(facts):
            extract_from_parse(doc, "Ana", Role.USER, START)
    both = [first + then for first, then in zip(parse, analysis, strict=True)]
    times = {"parse": parse, "analysis": analysis, "both": both, "facts": facts}
    found = {name: Times.of(part[WARM_UP:]) for name, part in times.items()}
    print_figures(f"utterances of {WORDS[0]} to {WORDS[-1]} words, ms p50 / p95", found)
    print_json(found, as_json)
