"""Which statements go into the block: the most relevance per token within the budget."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.context.confidence import mark
from hotmem.context.judgement import Judged
from hotmem.context.render import arranged, frame, line, render, shown, titles
from hotmem.options import RecallOptions
from hotmem.types import EvidenceKind, Intent, Item, Layer, Query

LENGTH_POWER: Final = 0.35
"""How strongly length counts: worth = rank / tokens ** power; 0 ignores it, 1 is worth per token. Measured best in `eval/RESULTS.md`."""

PASSAGES_PER_TURN: Final = 2
"""Passages of one long turn at most."""

MOST_SUMMARIES: Final = 2
SUMMARY_INTENTS: Final = frozenset({Intent.SUMMARY, Intent.PATTERN})
"""A summary costs as much as three turns; only who asks for an overview is given one."""

MISSES: Final = 12
"""Statements in a row that no longer fit, after which packing stops."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits: items in reading order, the text they stand in, and its tokens."""

    items: tuple[Item, ...] = ()
    text: str = ""
    tokens: int = 0


def pack(query: Query, judged: Sequence[Judged], budget: int, count: Callable[[str], int], options: RecallOptions) -> Packed:
    """Fills the budget with what is worth most.

    Args:
        query: The analysed utterance.
        judged: Distinct statements.
        budget: Tokens that the whole block may have.
        count: Counts the tokens of a text.
        options: Limits and marks.

    Returns:
        The block; without items if nothing is relevant enough or fits.
    """
    limit = _Limits(query, options)
    spent = count(frame())
    opened: set[str] = set()
    chosen: list[tuple[float, Item]] = []
    misses = 0
    for worth, one, item, tokens in _by_worth(judged, count, options):
        if not limit.allows(one):
            continue
        new = [title for title in titles(item) if title not in opened]
        cost = tokens + sum(count(title + "\n") for title in new)
        if spent + cost > budget:
            misses += 1
            if misses == MISSES:
                break
            continue
        misses = 0
        spent += cost
        opened.update(new)
        limit.add(one)
        chosen.append((worth, item))
    return _trimmed(chosen, budget, count, options)


def _by_worth(judged: Sequence[Judged], count: Callable[[str], int], options: RecallOptions) -> list[tuple[float, Judged, Item, int]]:
    """Statements that are relevant enough, as items with their tokens, worthiest first."""
    entries = []
    for one in judged:
        if one.relevance < options.semantic_threshold and one.layers == (Layer.SEMANTIC,):
            continue
        item = _item(one)
        tokens = count(line(item, symbols=options.symbols) + "\n")
        entries.append((one.rank / tokens**LENGTH_POWER, one, item, tokens))
    return sorted(entries, key=lambda entry: -entry[0])


def _item(one: Judged) -> Item:
    found = one.evidence
    return Item(
        text=shown(found.text),
        kind=found.kind,
        layer=one.layers[0],
        layers=one.layers,
        relevance=one.relevance,
        confidence=one.confidence,
        mark=mark(one.relevance, one.confidence),
        turn_ids=found.turn_ids,
        memory_id=found.memory_id,
        session_id=found.session_id,
        speaker=found.speaker,
        said_at=found.said_at,
        valid_until=found.valid_until,
    )


class _Limits:
    """Keeps one kind or one turn from filling the block."""

    def __init__(self, query: Query, options: RecallOptions) -> None:
        self._most = {
            EvidenceKind.MEMORY: options.max_facts,
            EvidenceKind.SUMMARY: MOST_SUMMARIES if query.analysis.intent in SUMMARY_INTENTS else 0,
        }
        self._kinds: Counter[EvidenceKind] = Counter()
        self._turns: Counter[int] = Counter()

    def allows(self, one: Judged) -> bool:
        kind = one.evidence.kind
        if kind is EvidenceKind.PASSAGE:
            return self._turns[one.evidence.turns[0]] < PASSAGES_PER_TURN
        return self._kinds[kind] < self._most[kind]

    def add(self, one: Judged) -> None:
        self._kinds[one.evidence.kind] += 1
        if one.evidence.kind is EvidenceKind.PASSAGE:
            self._turns[one.evidence.turns[0]] += 1


def _trimmed(chosen: list[tuple[float, Item]], budget: int, count: Callable[[str], int], options: RecallOptions) -> Packed:
    """The rendered block; while the joined text still counts above the budget, the least worthy item goes."""
    kept = sorted(chosen, key=lambda entry: -entry[0])
    while kept:
        items = arranged(item for _, item in kept)
        text = render(items, symbols=options.symbols)
        tokens = count(text)
        if tokens <= budget:
            return Packed(tuple(items), text, tokens)
        kept.pop()
    return Packed()
