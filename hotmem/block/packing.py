"""Packing: the statements with the most relevance for their length, within the token budget."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hotmem.block.dates import resolve_dates
from hotmem.block.privacy import MOST_COMPARED, withheld
from hotmem.block.rendering import Layout, frame, reading_order, render, render_line, titles
from hotmem.block.trimming import trim
from hotmem.options import RecallOptions
from hotmem.ranking.answerability import Answerability
from hotmem.ranking.confidence import MEDIUM_CONFIDENCE, is_doubted, mark
from hotmem.ranking.deduplication import MIN_FACT_RELEVANCE
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.requested_window import requested_window
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import EvidenceKind, Item, Mark, Query, Source
from hotmem.understanding.private_statements import is_private

LENGTH_EXPONENT: Final = 0.7
"""Weight of length: statements are packed by score / characters ** exponent. 0 ignores length, 1
packs by score per character (`python -m eval ablation`)."""

LINE_OVERHEAD: Final = 20
"""Characters of a line for the speaker and the mark."""

PASSAGES_PER_TURN: Final = 2
"""Limit of passages of one turn."""

MAX_SUMMARIES: Final = 2
"""Limit of summaries in a block; each takes the room of several turns."""

MAX_WINDOW_SUMMARIES: Final = 5
"""Limit of summaries where a time window is requested: they tell what was said in it."""

EXPENDABLE: Final = 0.05
EXPENDABLE_UNCLEAR: Final = 0.005
"""The least relevant statements are left out while their relevance adds up to less, where the
question is answered and where that is doubtful. It is the number of statements needed that are
expected to be lost."""

MAX_MISSES: Final = 12
"""Packing stops when so many statements in a row do not fit."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The content of a block: items in reading order, the rendered text and its token count."""

    items: tuple[Item, ...] = ()
    text: str = ""
    tokens: int = 0


def pack(
    query: Query,
    candidates: Sequence[ScoredCandidate],
    answerability: Answerability,
    budget: int,
    count: Callable[[str], int],
    options: RecallOptions,
) -> Packed:
    """Pack statements into a block.

    Args:
        query: The analysed utterance.
        candidates: Distinct statements, best first.
        answerability: How far they answer the query.
        budget: Token budget of the block.
        count: Counts the tokens of a text.
        options: Options of a recall.

    Returns:
        The content of the block; without items if no statement is relevant enough and fits.
    """
    limit = _Limits(
        options, MAX_SUMMARIES if requested_window(query) is None else MAX_WINDOW_SUMMARIES
    )
    unclear = query.analysis.question and answerability is not Answerability.SOMETHING
    layout = Layout(query.at.year, options.symbols, uncertain=unclear and options.say_unknown)
    spent = count(frame(layout))
    titles_used: set[tuple[str, str]] = set()
    chosen: list[Item] = []
    misses = 0
    zone = zone_name(query.at)
    hidden = withheld(query, candidates)
    unchecked = {id(one) for one in candidates[MOST_COMPARED:]}
    relevant = (
        one
        for one in candidates
        if one.relevance >= options.semantic_threshold
        and (one.evidence.kind, one.evidence.key) not in hidden
    )
    clear = answerability is Answerability.SOMETHING
    needed = _without_expendable(relevant, EXPENDABLE if clear else EXPENDABLE_UNCLEAR)
    for one in sorted(needed, key=_priority, reverse=True):
        if not limit.allows(one) or (id(one) in unchecked and is_private(one.evidence.text)):
            continue
        item = _item(query, one, _mark(one, answerability, best=one is candidates[0]), zone)
        new = [title for title in titles(item, layout) if title not in titles_used]
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
        titles_used.update(new)
        limit.add(one)
        chosen.append(item)
    return _fit(chosen, budget, count, layout)


def _without_expendable(
    candidates: Iterable[ScoredCandidate], expendable: float
) -> list[ScoredCandidate]:
    """The statements without the least relevant ones.

    The best stays, and those in the requested time window. So do those without an embedding, whose
    relevance is low for want of it.
    """
    ordered = sorted(candidates, key=lambda one: one.relevance)
    lost = np.cumsum([one.relevance for one in ordered]).tolist()
    return [
        one
        for one, total in zip(ordered, lost, strict=True)
        if total >= expendable or one.in_window or one.evidence.vector is None or one is ordered[-1]
    ]


def _priority(one: ScoredCandidate) -> tuple[bool, float]:
    """The packing order: statements in the requested time window, then score over length."""
    characters = len(one.evidence.text) + LINE_OVERHEAD
    return one.in_window, one.score / math.pow(characters, LENGTH_EXPONENT)


def _mark(one: ScoredCandidate, answerability: Answerability, *, best: bool) -> Mark:
    """The mark of a statement.

    Low if it is doubtful that the query is answered. Otherwise at least medium for the best
    statement, if its confidence allows.
    """
    if answerability is not Answerability.SOMETHING:
        return Mark.LOW
    own = mark(one.relevance, one.confidence)
    raised = best and own is Mark.LOW and one.confidence >= MEDIUM_CONFIDENCE
    return Mark.MEDIUM if raised else own


def _item(query: Query, one: ScoredCandidate, mark: Mark, zone: str | None) -> Item:
    found = one.evidence
    text = found.text
    if found.kind is EvidenceKind.PASSAGE:
        text = trim(text, query.stems, query.index_language)
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
        doubted_at=to_named_zone(found.doubted_at, zone)
        if found.doubted_at is not None and is_doubted(found, query.at)
        else None,
        vector=None if found.former else found.vector,
        parts=one.layer_contributions,
        times=resolve_dates(found, text, zone) if found.kind is EvidenceKind.PASSAGE else (),
        in_window=one.in_window,
        past=found.is_past(query.at),
    )


class _Limits:
    """Limits of statements of one source and of one turn."""

    def __init__(self, options: RecallOptions, summaries: int) -> None:
        self._limits = {Source.FACT: options.max_facts, Source.SUMMARY: summaries}
        self._sources: Counter[Source] = Counter()
        self._turns: Counter[int] = Counter()

    def allows(self, one: ScoredCandidate) -> bool:
        found = one.evidence
        if found.source is Source.QUOTE:
            return self._turns[found.turns[0]] < PASSAGES_PER_TURN
        if found.source is Source.FACT and one.relevance < MIN_FACT_RELEVANCE:
            return False
        return (
            found.source not in self._limits
            or self._sources[found.source] < self._limits[found.source]
        )

    def add(self, one: ScoredCandidate) -> None:
        self._sources[one.evidence.source] += 1
        if one.evidence.source is Source.QUOTE:
            self._turns[one.evidence.turns[0]] += 1


def _fit(chosen: list[Item], budget: int, count: Callable[[str], int], layout: Layout) -> Packed:
    """Render the items, without the last ones while the text exceeds the budget.

    Tokens of the whole text can exceed the sum over its lines.
    """
    for kept in range(len(chosen), 0, -1):
        items = reading_order(chosen[:kept])
        text = render(items, layout)
        tokens = count(text)
        if tokens <= budget:
            return Packed(tuple(items), text, tokens)
    return Packed()
