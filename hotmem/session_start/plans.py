"""Plans for today and tomorrow with the changes reported since, and what was left open."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from hotmem.block.rendering import quoted
from hotmem.models import Language
from hotmem.ranking.relevance import MEDIUM_CONFIDENCE
from hotmem.session_start.material import Line, Material, shorten, today_and_tomorrow
from hotmem.temporal import Bound, find_times
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.passages import MAX_QUERY_CHARACTERS, truncate
from hotmem.types import EvidenceKind, Interval, Item, Layer, Mark
from hotmem.types.sessions import DatedWords, LaterTurn
from hotmem.understanding.facts.time_direction import is_future
from hotmem.understanding.private_statements import is_shown_unasked

PRIVACY_MARGIN: Final = 80
"""Characters on each side of a time expression that are checked for private content."""

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")

_ASKS: Final = re.compile(
    r"^(?!.*\bremind).*\?\s*$"
    r"|^\W*(?:(?:and|so|but|hey|please|okay|ok|um|uh|now|then|can|could|will|would|you)\W+)*"
    r"(?:(?:tell|remind|show)\s+me\s+|(?:do\s+)?you\s+know\s+)?"
    r"(?:what|when|where|who|whose|which|how|whether|why)(?:['’]?s|['’]re)?\b",
    re.IGNORECASE | re.DOTALL,
)
"""A question, which is no plan, except a request to be reminded of one."""

_NEGATION: Final = re.compile(r"n['’]t\b|\b(?:not|never|cannot|nothing|nobody)\b", re.IGNORECASE)
_STILL_A_PLAN: Final = re.compile(r"\b(?:forget|miss|late|only|sure)\b", re.IGNORECASE)
"""Words with which a negated sentence is a plan: "I mustn't forget the dentist tomorrow"."""

_TIME_HINT: Final = re.compile(
    r"\d|\b(?:today|tonight|tomorrow|(?:this|next)\s|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|week|in\s|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)",
    re.IGNORECASE,
)
"""What a text with a time expression contains; much faster to test than to parse the text."""

_CLOCK_TIME: Final = re.compile(r"\d:\d\d")


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan.

    Attributes:
        start: When it starts.
        item: Its item.
        text: Its line.
        doubted_at: When something said later put it in doubt, UTC; None if nothing did.
    """

    start: datetime
    item: Item
    text: str
    doubted_at: datetime | None = None


def plan_lines(material: Material, language: Language) -> list[Line]:
    """The lines of plans for today and tomorrow, in order of time.

    Args:
        material: What to select from.
        language: Parses what was said about plans and their changes.
    """
    plans = [*_spoken_plans(material, language), *_stored_plans(material)]
    seen: set[str] = set()
    lines = []
    for plan in sorted(plans, key=lambda plan: plan.start):
        if plan.item.text in seen:
            continue
        seen.add(plan.item.text)
        heading = _heading(material.local(plan.start).date(), material.request.at.date())
        change = _find_change(plan, material.stored.later)
        if change is None:
            lines.append(Line(heading, f"- {plan.text}", plan.item))
        elif not (_is_plan_itself(change, plan, plans) or not is_shown_unasked(change.text)):
            said_on = f"{material.local(change.said_at):%Y-%m-%d}"
            text = f"{plan.text} Later: {quoted(shorten(change.text))} (said {said_on})"
            turn_ids = (*plan.item.turn_ids, change.turn_id)
            lines.append(
                Line(heading, f"- {text}", replace(plan.item, text=text, turn_ids=turn_ids))
            )
    return lines


def _spoken_plans(material: Material, language: Language) -> Iterator[_Plan]:
    """Plans that were said, as the facts extracted from them or else as quotes."""
    for dated in material.stored.dated:
        context = dated.text[max(dated.start - PRIVACY_MARGIN, 0) : dated.stop + PRIVACY_MARGIN]
        if not _is_ahead(dated, language) or not is_shown_unasked(context):
            continue
        start = dated.interval.start
        for key in dated.memories:
            evidence = material.evidence[EvidenceKind.MEMORY, key]
            text = escape_for_prompt(evidence.text)
            item = material.item(text, EvidenceKind.MEMORY, key)
            clock_time = _clock_time(dated.interval, text, material)
            yield _Plan(start, item, f"{text}{clock_time}", evidence.doubted_at)
        if not dated.memories:
            quote = quoted(shorten(_sentence_at(dated)[1].strip()))
            item = material.item(quote[1:-1], EvidenceKind.PASSAGE, dated.passage)
            yield _Plan(start, item, f"{quote} (said {item.said_at:%Y-%m-%d})")


def _stored_plans(material: Material) -> Iterator[_Plan]:
    """Memories that were stored explicitly and name a time today or tomorrow."""
    days = today_and_tomorrow(material.request.at)
    for row in material.stored.notes:
        if not _TIME_HINT.search(row.text) or not is_shown_unasked(row.text):
            continue
        text, said_at = truncate(row.text, MAX_QUERY_CHARACTERS), material.local(row.said_at)
        for mention in find_times(text, said_at, ahead=True):
            interval = mention.interval
            if (
                mention.bound is Bound.AT
                and interval.end - interval.start <= days.end - days.start
                and interval.start < days.end
                and interval.end > days.start
            ):
                item = material.item(escape_for_prompt(row.text), EvidenceKind.MEMORY, row.key)
                line = f"{item.text} (noted {item.said_at:%Y-%m-%d})"
                doubted_at = material.evidence[EvidenceKind.MEMORY, row.key].doubted_at
                yield _Plan(interval.start, item, line, doubted_at)
                break


def _is_ahead(dated: DatedWords, language: Language) -> bool:
    """Whether a time expression names a plan: a time that was ahead when it was said.

    For the same day, the tense of the sentence decides.
    """
    start, words = _sentence_at(dated)
    if _ASKS.search(words) or (_NEGATION.search(words) and not _STILL_A_PLAN.search(words)):
        return False
    if dated.interval.start >= dated.said_at or dated.interval.end <= dated.said_at:
        return dated.interval.start >= dated.said_at
    words = truncate(words, MAX_QUERY_CHARACTERS)
    (doc,) = language.parse([words], names=False)
    return any(
        is_future(doc, mention)
        for mention in find_times(words, dated.said_at)
        if mention.start <= dated.start - start < mention.stop
    )


def _sentence_at(dated: DatedWords) -> tuple[int, str]:
    """The sentence with a time expression: the position of its first character, and its text."""
    spans = [match.span() for match in _SENTENCE.finditer(dated.text)]
    start, stop = next(
        (span for span in spans if span[0] <= dated.start < span[1]), (0, len(dated.text))
    )
    return start, dated.text[start:stop]


def _find_change(plan: _Plan, later: Sequence[LaterTurn]) -> LaterTurn | None:
    """The turn that put a plan in doubt."""
    return next((one for one in later if one.said_at == plan.doubted_at), None)


def _is_plan_itself(change: LaterTurn, plan: _Plan, plans: Sequence[_Plan]) -> bool:
    """Whether a change is listed as a plan for the same day."""
    return any(
        change.turn_id in other.item.turn_ids and other.start.date() == plan.start.date()
        for other in plans
    )


def _clock_time(interval: Interval, text: str, material: Material) -> str:
    """The time of day of a plan, unless its text names it."""
    if interval.end - interval.start > timedelta(hours=1) or _CLOCK_TIME.search(text):
        return ""
    return f" (at {material.local(interval.start):%H:%M})"


def _heading(day: date, today: date) -> str:
    """The heading of a day; a plan that began earlier is under today."""
    return f"Tomorrow, {day} ({day:%A}):" if day > today else f"Today, {today} ({today:%A}):"


MAX_LOOPS: Final = 3

MAX_AGE: Final = timedelta(days=60)
"""Age from which an open loop is left out."""


def open_loop_lines(material: Material, shown_turns: Collection[str]) -> list[Line]:
    """The lines of open loops.

    Args:
        material: What to select from.
        shown_turns: Ids of turns that are shown as plans already.
    """
    recent = [
        one
        for one in material.stored.loops
        if one.turn_id not in shown_turns
        and material.request.at - one.said_at <= MAX_AGE
        and is_shown_unasked(one.text)
    ]
    lines = []
    for one in recent[:MAX_LOOPS]:
        said_at = material.local(one.said_at)
        text = escape_for_prompt(shorten(one.text))
        item = Item(
            text=text,
            kind=EvidenceKind.SUMMARY,
            layer=Layer.SESSIONS,
            layers=(Layer.SESSIONS,),
            relevance=1.0,
            confidence=MEDIUM_CONFIDENCE,
            mark=Mark.MEDIUM,
            turn_ids=(one.turn_id,),
            memory_id=None,
            session_id=one.session_id,
            speaker=None,
            said_at=said_at,
        )
        lines.append(Line(f"Left open on {said_at:%Y-%m-%d}:", f"- {text}", item))
    return lines
