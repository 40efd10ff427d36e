"""Packing: the most relevant lines within the token budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.block.dates import resolve_dates, without_days
from hotmem.block.privacy import is_hearsay, without_secrets
from hotmem.block.quotes import trim
from hotmem.block.rendering import FRAME, Layout, render, render_line, unheld_lines
from hotmem.options import RecallOptions
from hotmem.ranking.relevance import MEDIUM_CONFIDENCE, Answerability, mark
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.requested_window import requested_window
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.stemming import stems
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import Evidence, EvidenceKind, Item, Mark, Query, Role
from hotmem.understanding.private_statements import is_unmeant

MAX_SUMMARIES, MAX_WINDOW_SUMMARIES = 2, 5
"""Limits of summaries in a block, each of which takes the room of several turns: in general, and
where a time window is requested, as they tell what was said in it."""

LINE_OVERHEAD: Final = 20
"""Characters of a line for the date, the speaker and the mark."""

MIN_GAIN: Final = 1.2e-4
"""Share of the expected evidence for each character of a line from which it is worth its tokens;
enough is given when no line left is (`python -m eval frontier`)."""

FAR_FROM_BEST: Final = (0.1, 0.15)
"""Share of the best line's relevance below which a line stands after the others: of a question
without and with a name, as lines about others than who is named are no news of them."""

MIN_SHARE_OF_BEST: Final = 0.02
"""Share of the best line's relevance that a line must have too."""

SPEAKERS: Final = {Role.USER: "User", Role.ASSISTANT: "Bot"}
"""Speakers without a name."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The content of a block: its items in order, the rendered text and its token count."""

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
    unheld: Sequence[str] = (),
) -> Packed:
    """Pack statements into a block.

    Args:
        query: The analysed utterance.
        candidates: Distinct statements, best first.
        answerability: How far they answer the query.
        budget: Token budget of the block.
        count: Counts the tokens of a text.
        options: Options of a recall.
        unheld: Names asked about that no candidate holds, which the block states.

    Returns:
        The content of the block; without items if no statement is relevant enough and fits.
    """
    summaries = MAX_SUMMARIES if requested_window(query) is None else MAX_WINDOW_SUMMARIES
    layout = Layout(query.at.year, options.symbols)
    chosen: list[Item] = []
    spent = count(FRAME) + count("\n".join(unheld_lines(unheld)))
    zone = zone_name(query.at)
    relevant = [one for one in candidates if one.relevance >= options.semantic_threshold]
    for one in sorted(without_secrets(query, _worth_it(relevant)), key=_priority, reverse=True):
        is_summary = one.evidence.kind is EvidenceKind.SUMMARY
        item = _item(query, one, _mark(one, answerability, best=one is candidates[0]), zone)
        cost = count(f"{render_line(item, layout)}\n")
        if spent + cost > budget or (is_summary and not summaries):
            continue
        spent += cost
        summaries -= is_summary
        chosen.append(item)
    return _fit(chosen, budget, count, layout, unheld, FAR_FROM_BEST[bool(query.analysis.entities)])


def unheld_names(
    query: Query, evidence: Sequence[Evidence], answerability: Answerability
) -> tuple[str, ...]:
    """The names in a question, if none of the statements holds a word of any of them.

    Where they are unlikely to answer it, also other nouns that none of them holds.
    """

    def absent(names: Sequence[str]) -> tuple[str, ...]:
        held = frozenset().union(*(found.terms for found in evidence if names))
        held |= stems(" ".join(query.speakers), query.index_language)
        asked = {name: stems(name, query.index_language) for name in names}
        return tuple(name for name, words in asked.items() if words and held.isdisjoint(words))

    if (names := absent(query.analysis.entities)) and names == query.analysis.entities:
        return names
    return absent(query.analysis.subjects) if answerability is Answerability.UNLIKELY else ()


def _worth_it(candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """The best statement, and those that hold enough of the expected evidence for their length.

    Relevances are probabilities, so their sum is the evidence to expect. Statements in the
    requested time window stay, and those without an embedding to be relevant by.
    """
    best = max((one.relevance for one in candidates), default=0.0)
    gain = MIN_GAIN * sum(one.relevance for one in candidates)
    return [
        one
        for one in candidates
        if one.relevance >= max(min(gain * _length(one), best), MIN_SHARE_OF_BEST * best)
        or one.in_window
        or one.evidence.vector is None
    ]


def _length(one: ScoredCandidate) -> int:
    """Characters of a line."""
    return len(one.evidence.text) + LINE_OVERHEAD


def _priority(one: ScoredCandidate) -> tuple[bool, float]:
    """Statements in the requested time window first, then by score / √length (`eval frontier`)."""
    return one.in_window, one.score / _length(one) ** 0.5


def _mark(one: ScoredCandidate, answerability: Answerability, *, best: bool) -> Mark:
    """The mark of a statement.

    Low if it is doubtful that the query is answered, or that it is meant. Otherwise at least medium
    for the best statement, if its confidence allows.
    """
    if answerability is not Answerability.SOMETHING or is_unmeant(one.evidence.text):
        return Mark.LOW
    own = mark(one.relevance, one.confidence)
    return Mark.MEDIUM if best and own is Mark.LOW and one.confidence >= MEDIUM_CONFIDENCE else own


def _item(query: Query, one: ScoredCandidate, mark: Mark, zone: str | None) -> Item:
    found, hearsay = one.evidence, is_hearsay(query, one.evidence)
    text, speaker = found.text, found.speaker
    if is_quote := found.kind is EvidenceKind.PASSAGE:
        text = trim(text, query.stems, query.index_language).replace('"', "'")
        speaker = speaker or SPEAKERS[found.role or Role.USER]
    times = resolve_dates(found, text, zone) if is_quote else ()
    return Item(
        text=escape_for_prompt(text),
        kind=found.kind,
        layer=one.layers[0],
        layers=one.layers,
        relevance=one.relevance,
        confidence=one.confidence,
        mark=Mark.LOW if hearsay else mark,
        turn_ids=found.turn_ids,
        memory_id=found.memory_id,
        session_id=found.session_id,
        speaker=speaker,
        said_at=to_named_zone(found.said_at, zone),
        valid_until=found.valid_until and to_named_zone(found.valid_until, zone),
        vector=None if found.former else found.vector,
        parts=one.layer_contributions,
        times=times,
        in_window=one.in_window,
        past=found.is_past(query.at),
        reading=escape_for_prompt(without_days(found.reading, times)).rstrip("."),
        hearsay=hearsay,
    )


def _fit(
    chosen: Sequence[Item],
    budget: int,
    count: Callable[[str], int],
    layout: Layout,
    unheld: Sequence[str],
    far: float,
) -> Packed:
    """Render the items without the last chosen while the text exceeds the budget.

    Hearsay and lines far less relevant than the best stand last. In both groups the latest stand
    first, so that what was said anew is above what it replaces. Tokens of the whole text can
    exceed the sum over its lines.
    """
    least = far * max((one.relevance for one in chosen), default=0.0)

    def place(one: Item) -> tuple[bool, bool, float]:
        return one.in_window, one.relevance >= least and not one.hearsay, one.said_at.timestamp()

    for kept in range(len(chosen), 0, -1):
        items = tuple(sorted(chosen[:kept], key=place, reverse=True))
        text = render(items, layout, unheld)
        if (tokens := count(text)) <= budget:
            return Packed(items, text, tokens)
    return Packed()
