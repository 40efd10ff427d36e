"""Which statements go into the block: the most relevance per token within the budget."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hotmem.block.dates import resolve_dates
from hotmem.block.privacy import is_withheld
from hotmem.block.rendering import Layout, frame, reading_order, render, render_line, titles
from hotmem.block.trimming import trim
from hotmem.options import RecallOptions
from hotmem.ranking.answerability import Answerability
from hotmem.ranking.confidence import MEDIUM_CONFIDENCE, mark
from hotmem.ranking.deduplication import MIN_FACT_RELEVANCE
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.requested_window import requested_window
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import EvidenceKind, Item, Mark, Query, Source

LENGTH_EXPONENT: Final = 0.7
"""How strongly length counts: worth = rank / characters ** power; 0 ignores it, 1 is worth per
character. Measured in `eval/RESULTS.md`."""

PASSAGES_PER_TURN: Final = 2
"""Passages of one long turn at most."""

MAX_SUMMARIES: Final = 2
"""Summaries in a block at most; each costs as much as three turns."""

MAX_WINDOW_SUMMARIES: Final = 5
"""The same where a window of time is asked for: they are what was talked about in it."""

MIN_REMAINING_RELEVANCE: Final = 0.02
MIN_REMAINING_RELEVANCE_UNCLEAR: Final = 0.002
"""Relevance that all statements not yet in the block may have together for it to be left as it
is; less where it is doubtful that a question is answered. Spend fewer tokens when the answer is
clear, more when it is not."""

MIN_LINES: Final = 5
"""Statements that are told in any case, however little relevance all of them have: what a plain
search puts first is never lost."""

MAX_MISSES: Final = 12
"""Statements in a row that no longer fit, after which packing stops."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits: items in reading order, the text they stand in, and its tokens."""

    items: tuple[Item, ...] = ()
    text: str = ""
    tokens: int = 0


def pack(
    query: Query,
    judged: Sequence[ScoredCandidate],
    known: Answerability,
    budget: int,
    count: Callable[[str], int],
    options: RecallOptions,
) -> Packed:
    """Fills the budget with what is worth most.

    Args:
        query: The analysed utterance.
        judged: Distinct statements, best first.
        known: How far they answer.
        budget: Tokens that the whole block may have.
        count: Counts the tokens of a text.
        options: Limits and marks.

    Returns:
        The block; without items if nothing is relevant enough or fits.
    """
    limit = _Limits(
        options, MAX_SUMMARIES if requested_window(query) is None else MAX_WINDOW_SUMMARIES
    )
    unclear = query.analysis.question and known is not Answerability.SOMETHING
    layout = Layout(query.at.year, options.symbols, possibly=unclear and options.say_unknown)
    left_out = MIN_REMAINING_RELEVANCE_UNCLEAR if unclear else MIN_REMAINING_RELEVANCE
    spent = count(frame(layout))
    opened: set[tuple[str, str]] = set()
    chosen: list[Item] = []
    misses = 0
    asked, zone = query.stems, zone_name(query.at)
    told = (
        one
        for one in judged
        if one.relevance >= options.semantic_threshold
        and not is_withheld(query, one.evidence.text, one.relevance)
    )
    ordered = sorted(told, key=_worth, reverse=True)
    left = np.cumsum([one.relevance for one in reversed(ordered)])[::-1].tolist()
    for one, expected in zip(ordered, left, strict=True):
        if expected < left_out and len(chosen) >= MIN_LINES:
            break
        if not limit.allows(one):
            continue
        item = _item(one, _mark(one, known, foremost=one is judged[0]), asked, zone)
        new = [title for title in titles(item, layout) if title not in opened]
        cost = count(
            "\n".join((*(below or above for above, below in new), render_line(item, layout), ""))
        )
        if spent + cost > budget:
            misses += 1
            if misses == MAX_MISSES:
                break
            continue
        misses = 0
        spent += cost
        opened.update(new)
        limit.add(one)
        chosen.append(item)
    return _trimmed(chosen, budget, count, layout)


def _worth(one: ScoredCandidate) -> tuple[bool, float]:
    """Rank over length: the characters of the line and some twenty for its name and its mark.

    What belongs to the time asked for comes first.
    """
    return one.in_window, one.score / math.pow(len(one.evidence.text) + 20, LENGTH_EXPONENT)


def _mark(one: ScoredCandidate, known: Answerability, *, foremost: bool) -> Mark:
    """The statement's mark.

    Low where it is doubtful that anything is known; where it is not, at least medium for the best,
    if it can be trusted.
    """
    own = mark(one.relevance, one.confidence)
    if known is not Answerability.SOMETHING:
        return Mark.LOW
    return (
        Mark.MEDIUM if foremost and own is Mark.LOW and one.confidence >= MEDIUM_CONFIDENCE else own
    )


def _item(one: ScoredCandidate, mark: Mark, asked: frozenset[str], zone: str | None) -> Item:
    found = one.evidence
    text = trim(found.text, asked) if found.kind is EvidenceKind.PASSAGE else found.text
    return Item(
        text=escape_for_prompt(text),
        kind=found.kind,
        layer=one.layers[0],
        layers=one.layers,
        relevance=one.relevance,
        confidence=one.confidence,
        mark=mark,
        turn_ids=found.turn_ids,
        memory_id=found.memory_id,
        session_id=found.session_id,
        speaker=found.speaker,
        said_at=to_named_zone(found.said_at, zone),
        valid_until=found.valid_until and to_named_zone(found.valid_until, zone),
        vector=None if found.former else found.vector,
        parts=one.layer_contributions,
        times=resolve_dates(found, text, zone) if found.kind is EvidenceKind.PASSAGE else (),
    )


class _Limits:
    """Keeps one kind or one turn from filling the block."""

    def __init__(self, options: RecallOptions, summaries: int) -> None:
        self._most = {Source.FACT: options.max_facts, Source.SUMMARY: summaries}
        self._sources: Counter[Source] = Counter()
        self._turns: Counter[int] = Counter()

    def allows(self, one: ScoredCandidate) -> bool:
        found = one.evidence
        if found.source is Source.QUOTE:
            return self._turns[found.turns[0]] < PASSAGES_PER_TURN
        if found.source is Source.FACT and one.relevance < MIN_FACT_RELEVANCE:
            return False
        return (
            found.source not in self._most or self._sources[found.source] < self._most[found.source]
        )

    def add(self, one: ScoredCandidate) -> None:
        self._sources[one.evidence.source] += 1
        if one.evidence.source is Source.QUOTE:
            self._turns[one.evidence.turns[0]] += 1


def _trimmed(
    chosen: list[Item], budget: int, count: Callable[[str], int], layout: Layout
) -> Packed:
    """The rendered block of items, worthiest first.

    While the joined text still counts above the budget, the least worthy goes.
    """
    for kept in range(len(chosen), 0, -1):
        items = reading_order(chosen[:kept])
        text = render(items, layout)
        tokens = count(text)
        if tokens <= budget:
            return Packed(tuple(items), text, tokens)
    return Packed()
