"""What the language model is told without being asked: user → block, one line a section.

    rules, facts, times, open loops ─▶ wishes · name · at hand · lasting facts · left open ─▶ as many lines as fit

Standing instructions come first, whatever else there is. They are the only part of a memory that
the model is to follow, and only in how it speaks to the user.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from hotmem.block import rendering
from hotmem.block.privacy import is_private
from hotmem.models import Language
from hotmem.ranking.confidence import MEDIUM_CONFIDENCE, confidence, mark
from hotmem.storage.store import Store
from hotmem.temporal import Bound, find_times
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.timezones import to_zone
from hotmem.text.truncation import MAX_QUERY_CHARACTERS, truncate
from hotmem.text.validation import normalize_value
from hotmem.text.word_sets import wordlist
from hotmem.types import ContextBlock, Evidence, EvidenceKind, Interval, Item, Layer, Mark, Trace
from hotmem.types.session_start import (
    DatedWords,
    LaterTurn,
    MemoryCandidate,
    OpenLoop,
    SessionFacts,
)
from hotmem.understanding.facts.instructions.safety import is_unsafe
from hotmem.understanding.facts.instructions.topics import (
    capitalize_words,
    exclusive_topics,
    preferred_name,
    refused_name,
)
from hotmem.understanding.facts.instructions.withdrawals import (
    revoked_instructions,
    revokes_explicitly,
)
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER
from hotmem.understanding.facts.relations import COMPLEMENTS, HAS_CONDITION, LASTING_ADJECTIVES
from hotmem.understanding.facts.schedule_changes import CHANGE_WORDS, affects_plan, changed_events
from hotmem.understanding.facts.time_direction import is_future

MOST_FACTS: Final = 6
MOST_LOOPS: Final = 3
FACTS_FIRST: Final = 3
"""Lasting facts that come before what was left open."""

LOOPS_FOR: Final = timedelta(days=60)
"""For how long something counts as left open."""

LONGEST_LINE: Final = 40
"""Words of a line of somebody's own words."""

RANKS: Final[Mapping[str, int]] = {
    "is allergic to": 0,
    "is married to": 1,
    "is with": 1,
    "is called": 2,
    "is": 2,
    "lives in": 3,
    "works at": 4,
    "works as": 4,
    "studies at": 4,
    "lives with": 5,
    "has": 5,
    "is from": 6,
    "was born in": 7,
}
"""Relations of lasting facts, the most important first."""

_CONDITIONS: Final = COMPLEMENTS[HAS_CONDITION]
_NOTED: Final = {5: 2, 4: 6}
"""Ranks of what was stored outright, by importance."""

_PEOPLE: Final = wordlist(
    "wife husband partner girlfriend boyfriend fiance fiancé fiancée spouse son daughter child kid baby mother father mum mom dad sister brother "
    "grandmother grandfather grandson granddaughter dog cat carer nurse"
)
"""Whose names are worth knowing before anything was asked."""

_NAMED: Final = re.compile(
    r"^(?:(?:the\s+)?user(?:['’]s\s+name)?|my\s+name|(?:his|her|their)?\s*name)(?:\s+is|:)(?:\s+called|\s+named)?\s+(?P<name>[^\W\d_][\w'’-]*(?:\s+[A-Z][\w'’-]*){0,2})\W*$",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    r"(?P<who>I|(?:the\s+)?user|[^\W\d_]\w*?)(?:\s+(?:is|am|was)|['’][ms])?\s+"
    r"(?P<how>allergic\s+to|married\s+to|lives?\s+(?:in|with)|works?\s+(?:at|as)|stud(?:y|ies)\s+at|from|born\s+in)\b",
    re.IGNORECASE,
)
"""A note that states a lasting fact: "I am allergic to peanuts", "User lives in Leeds"."""

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")


_ASKS: Final = re.compile(
    r"^(?!.*\bremind).*\?\s*$|^\W*(?:(?:and|so|but|hey|please|okay|ok|um|uh|now|then|can|could|will|would|you)\W+)*"
    r"(?:(?:tell|remind|show)\s+me\s+|(?:do\s+)?you\s+know\s+)?(?:what|when|where|who|whose|which|how|whether|why)(?:['’]?s|['’]re)?\b",
    re.IGNORECASE | re.DOTALL,
)
"""A question is no plan, with a question mark or without, but for the wish to be reminded of
one."""

_RECALLS: Final = re.compile(
    r"\bremind\s+(?:me|us)\s+(?:again\s+)?(?:what|when|where|who|whose|which|how|whether|why)\b",
    re.IGNORECASE,
)
"""Asks for what was told before, and leaves nothing open: "remind me what happens tomorrow"."""

_DENIES: Final = re.compile(r"n['’]t\b|\b(?:not|never|cannot|nothing|nobody)\b", re.IGNORECASE)
_NO_DENIAL: Final = re.compile(r"\b(?:forget|miss|late|only|sure)\b", re.IGNORECASE)
"""With these, a denial tells of what takes place: "I mustn't forget the dentist tomorrow"."""

WHO: Final = "The user:"
_ORDER: Final = ("", "The", "Today,", "Tomorrow,", "Left")
"""First words of the headings, in reading order."""


class Line(NamedTuple):
    """A line that may stand in the block.

    Attributes:
        heading: The line above it; "" for standing instructions.
        text: The line.
        item: What it was made of; None for a line of our own.
    """

    heading: str
    text: str
    item: Item | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for what a session opens with.

    Attributes:
        user_id: Whose memory.
        session_id: The session that opens, or None.
        at: When, in the zone of the user.
        max_tokens: Tokens of the block at most; 0 for no block.
        rules_only: Whether standing instructions are all that is wanted.
    """

    user_id: str
    session_id: str | None
    at: datetime
    max_tokens: int
    rules_only: bool = False


async def opening(
    store: Store, language: Language, count: Callable[[str], int], asked: Asked
) -> ContextBlock:
    """The block that a session opens with.

    Its trace says `late` where something said was not understood yet.

    Args:
        store: The store.
        language: Parses what was said about today.
        count: Counts the tokens of a text.
        asked: The request.
    """
    user = await store.user(asked.user_id) if asked.max_tokens else None
    if user is None:
        return _block(asked, "", 0, (), 0)
    if asked.rules_only:
        known = await store.rules(user, asked.at)
    else:
        known = await store.opening(
            user, tuple(RANKS), UNNAMED_SPEAKER, at_hand(asked.at), asked.session_id, asked.at
        )
    memories = {row.key for row in (*known.rules, *known.facts, *known.notes)} | {
        key for told in known.told for key in told.memories
    }
    found = await store.evidence(
        user,
        {
            EvidenceKind.MEMORY: sorted(memories),
            EvidenceKind.PASSAGE: [told.passage for told in known.told if not told.memories],
        },
    )
    evidence = {(one.kind, one.key): one for one in found}
    return await asyncio.to_thread(
        _composed, _there(known, evidence), evidence, language, count, asked
    )


def at_hand(at: datetime) -> Interval:
    """Today and tomorrow, by the clock of `at`."""
    first = datetime.combine(at.date(), time(), at.tzinfo)
    return Interval(first, datetime.combine(at.date() + timedelta(days=2), time(), at.tzinfo))


def in_force(rules: Sequence[MemoryCandidate]) -> list[MemoryCandidate]:
    """Standing instructions that hold.

    Not taken back, not replaced by a later one, not reaching beyond how the bot speaks to the user.

    A later one replaces how to address, the language, units, how answers are.

    Args:
        rules: Instructions, latest first.
    """
    taken: set[str] = set()
    wished: set[str] = set()
    refused: set[str] = set()
    said: set[str] = set()
    gone: set[int] = set()
    held = []
    for place, rule in enumerate(rules):
        if rule.key in gone:
            continue
        earlier = [one for one in rules[place + 1 :] if one.subject == rule.subject]
        back = {
            earlier[one].key
            for one in revoked_instructions(rule.object, [one.object for one in earlier])
        }
        gone |= back
        if back or revokes_explicitly(rule.object) or is_unsafe(escape_for_prompt(rule.object)):
            continue
        about, name, other = (
            exclusive_topics(rule.object),
            preferred_name(rule.object).casefold(),
            refused_name(rule.object).casefold(),
        )
        words = normalize_value(rule.object)
        if (
            words in said
            or (about and about <= taken)
            or (name and name in refused)
            or (other and other in wished)
        ):
            continue
        said.add(words)
        taken |= about
        wished |= {name} - {""}
        refused |= {other} - {""}
        held.append(rule)
    return sorted(held, key=lambda rule: "name" not in exclusive_topics(rule.object))


def _there(known: SessionFacts, found: Mapping[tuple[EvidenceKind, int], Evidence]) -> SessionFacts:
    """What is known without what was forgotten while it was read."""

    def rows(held: Sequence[MemoryCandidate]) -> tuple[MemoryCandidate, ...]:
        return tuple(row for row in held if (EvidenceKind.MEMORY, row.key) in found)

    told = (
        one._replace(
            memories=tuple(key for key in one.memories if (EvidenceKind.MEMORY, key) in found)
        )
        for one in known.told
    )
    there = tuple(
        one for one in told if one.memories or (EvidenceKind.PASSAGE, one.passage) in found
    )
    return replace(
        known, rules=rows(known.rules), facts=rows(known.facts), notes=rows(known.notes), told=there
    )


def _composed(
    known: SessionFacts,
    found: Mapping[tuple[EvidenceKind, int], Evidence],
    language: Language,
    count: Callable[[str], int],
    asked: Asked,
) -> ContextBlock:
    rules = in_force(known.rules)
    wishes = [_wish(rule, found, known.speaker, asked) for rule in rules]
    facts = _facts(known, found, asked)
    plans = list(_plans(known, found, language, asked))
    loops = list(
        _loops(
            known.loops, {turn for line in plans if line.item for turn in line.item.turn_ids}, asked
        )
    )
    names = [] if asked.rules_only else list(_name(known, rules))
    ranked = [*wishes, *names, *plans, *facts[:FACTS_FIRST], *loops, *facts[FACTS_FIRST:]]
    chosen: list[Line] = []
    text, tokens = "", 0
    crowded = False
    for line in ranked:
        if crowded and line.heading:
            break
        tried = _written([*chosen, line])
        cost = count(tried)
        if cost <= asked.max_tokens:
            chosen.append(line)
            text, tokens = tried, cost
        elif line in wishes:
            crowded = True
    items = tuple(line.item for line in _arranged(chosen) if line.item is not None)
    return _block(asked, text, tokens, items, len(ranked), late=known.pending)


def _block(
    asked: Asked,
    text: str,
    tokens: int,
    items: tuple[Item, ...],
    candidates: int,
    *,
    late: bool = False,
) -> ContextBlock:
    fit = f"{len(items)} of {candidates} lines fit" if text else "nothing is known of the user"
    reason = fit if asked.max_tokens else "switched off"
    return ContextBlock(
        text,
        tokens,
        items,
        Trace(candidates=candidates, reason=reason, late=late),
        asked.user_id,
        asked.session_id,
        "",
        asked.at,
    )


def _written(lines: Sequence[Line]) -> str:
    arranged = _arranged(lines)
    headings = dict.fromkeys(line.heading for line in arranged if line.heading)
    sections = [
        [heading, *(line.text for line in arranged if line.heading == heading and line.text)]
        for heading in headings
    ]
    return rendering.render_session_start(
        [line.text for line in arranged if not line.heading], sections
    )


def _arranged(lines: Iterable[Line]) -> list[Line]:
    """Lines in reading order: wishes, who the user is, what is at hand, what was left open."""
    return sorted(lines, key=lambda line: _ORDER.index(line.heading.partition(" ")[0]))


def _name(known: SessionFacts, rules: Sequence[MemoryCandidate]) -> Iterator[Line]:
    """The name to use, by the user's own wish, or by what is known, and the one they bear.

    Not one that they refuse.
    """
    own = {known.speaker, UNNAMED_SPEAKER, "", None}
    refused = {
        refused_name(rule.object).casefold(): rule.told_at
        for rule in reversed(rules)
        if rule.subject in own
    }
    told = [row for row in known.facts if row.relation == "is called" and row.subject in own]
    noted = next(
        (
            capitalize_words(match["name"])
            for row in known.notes
            if (match := _NAMED.match(row.text))
        ),
        "",
    )
    wished = next(
        (wish for rule in rules if rule.subject in own and (wish := preferred_name(rule.object))),
        "",
    )
    borne = [
        row.object
        for row in told
        if not (until := refused.get(row.object.casefold())) or row.told_at > until
    ]
    names = [name for name in (wished, *borne, noted, known.speaker) if name]
    if names:
        other = next(
            (
                name
                for name in (known.speaker, *names)
                if name and name.casefold() != names[0].casefold()
            ),
            "",
        )
        yield Line(
            WHO,
            f"Call them {escape_for_prompt(names[0])}."
            + (f" Their name is {escape_for_prompt(other)}." if other else ""),
        )


def _wish(
    rule: MemoryCandidate,
    found: Mapping[tuple[EvidenceKind, int], Evidence],
    speaker: str | None,
    asked: Asked,
) -> Line:
    """An instruction in its own words; in a room of several people, whose it is."""
    words = rendering.quoted(rule.object.strip())
    whose = (
        ""
        if rule.subject in (speaker, UNNAMED_SPEAKER, "")
        else f"{escape_for_prompt(rule.subject)}: "
    )
    return Line(
        "",
        f"- {whose}{words}",
        _item(words[1:-1], found[EvidenceKind.MEMORY, rule.key], asked, 1.0),
    )


def _facts(
    known: SessionFacts, found: Mapping[tuple[EvidenceKind, int], Evidence], asked: Asked
) -> list[Line]:
    """Lasting facts that can be trusted, the most important first."""
    told = [
        row for row in (*known.facts, *known.notes) if not is_private(f"{row.text}\n{row.told_in}")
    ]
    rows = [(rank, row) for row in told if (rank := _rank(row, known.speaker)) is not None]
    lines = []
    for _, row in sorted(
        rows, key=lambda ranked: (ranked[0], -ranked[1].confirmations, -ranked[1].told_at)
    ):
        item = _item(
            escape_for_prompt(row.text),
            found[EvidenceKind.MEMORY, row.key],
            asked,
            row.importance / 5,
        )
        if item.confidence >= MEDIUM_CONFIDENCE:
            lines.append(Line(WHO, f"- {item.text}", item))
    return lines[:MOST_FACTS]


def _rank(row: MemoryCandidate, speaker: str | None) -> int | None:
    """How late a fact comes; None for what is not worth telling."""
    if not row.relation:
        return (
            None if _NAMED.match(row.text) or _DATED.search(row.text) else _noted_rank(row, speaker)
        )
    own = row.subject.casefold() in {UNNAMED_SPEAKER.casefold(), (speaker or "").casefold()}
    words = set(row.object.casefold().replace("-", " ").split()) | {row.object.casefold()}
    match row.relation:
        case "is called":
            return (
                None
                if own or row.subject.casefold().split()[-1] not in _PEOPLE
                else RANKS[row.relation]
            )
        case "has":
            return 0 if words & _CONDITIONS else RANKS["has"] if words & _PEOPLE else None
        case "is":
            return RANKS["is"] if words & LASTING_ADJECTIVES else None
    return RANKS[row.relation]


def _noted_rank(row: MemoryCandidate, speaker: str | None) -> int | None:
    """How late a note comes.

    As early as the same fact that was said of the user, or by its importance.
    """
    stated = _STATED.match(row.text)
    if stated and stated["who"].casefold() in {"i", "user", "the user", (speaker or "").casefold()}:
        return next(
            rank for relation, rank in RANKS.items() if stems(stated["how"]) <= stems(relation)
        )
    return _NOTED.get(row.importance)


_TIMELY: Final = re.compile(
    r"\d|\b(?:today|tonight|tomorrow|(?:this|next)\s|(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|in\s|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)",
    re.IGNORECASE,
)
"""What names a time, if it does; to read the times of a text takes a hundred times as long."""

_CLOCK: Final = re.compile(r"\d:\d\d")
_DATED: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|next\s+\w+|this\s+(?:week|weekend|month)|on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)


class _Plan(NamedTuple):
    """What is at hand: when it begins, the words that tell of it, its item, and what stands after it."""

    start: datetime
    words: str
    item: Item
    text: str


def _plans(
    known: SessionFacts,
    found: Mapping[tuple[EvidenceKind, int], Evidence],
    language: Language,
    asked: Asked,
) -> Iterator[Line]:
    """What takes place today and tomorrow, in order of time, each with what was said of a change since."""
    plans: list[_Plan] = []
    for told in known.told:
        if is_private(told.text[max(told.start - 80, 0) : told.stop + 80]) or not _ahead(
            told, language, asked
        ):
            continue
        words = _sentence(told)
        for key in told.memories:
            item = _item(
                escape_for_prompt(found[EvidenceKind.MEMORY, key].text),
                found[EvidenceKind.MEMORY, key],
                asked,
                1.0,
            )
            plans.append(
                _Plan(
                    told.interval.start,
                    words,
                    item,
                    f"{item.text}{_clock(told.interval, item.text, asked)}",
                )
            )
        if not told.memories:
            item = _item(
                rendering.quoted(words)[1:-1], found[EvidenceKind.PASSAGE, told.passage], asked, 1.0
            )
            plans.append(
                _Plan(
                    told.interval.start,
                    words,
                    item,
                    f"{rendering.quoted(words)} (said {rendering.iso_date(item.said_at)})",
                )
            )
    plans += _noted(known.notes, found, asked)
    later = [one for one in known.later if CHANGE_WORDS.search(one.text)]
    given: set[str] = set()
    for plan in sorted(plans, key=lambda plan: plan.start):
        if plan.item.text in given:
            continue
        given.add(plan.item.text)
        since = _changed(plan, later, language)
        day = _day(to_zone(plan.start, asked.at.tzinfo).date(), asked.at.date())
        told_itself = since is not None and any(
            since.turn_id in other.item.turn_ids and other.start.date() == plan.start.date()
            for other in plans
        )
        if since is None:
            yield Line(day, f"- {plan.text}", plan.item)
        elif not told_itself and not is_private(since.text):
            text = f"{plan.text} Later: {rendering.quoted(_cut(since.text))} (said {rendering.iso_date(to_zone(since.said_at, asked.at.tzinfo))})"
            yield Line(
                day,
                f"- {text}",
                replace(plan.item, text=text, turn_ids=(*plan.item.turn_ids, since.turn_id)),
            )


def _changed(plan: _Plan, later: Sequence[LaterTurn], language: Language) -> LaterTurn | None:
    """The last words that call a plan off, move it, or put it on again."""
    about = stems(plan.words) - STOP_STEMS
    since = [one for one in later if one.said_at > plan.item.said_at and about & stems(one.text)]
    if not since:
        return None
    words, *docs = language.parse([plan.words, *(one.text for one in since)], names=False)
    return next(
        (
            one
            for one, doc in zip(since, docs, strict=True)
            if any(affects_plan(thing, words) for thing in changed_events(doc, one.said_at))
        ),
        None,
    )


def _clock(interval: Interval, text: str, asked: Asked) -> str:
    """The time of day, where a statement does not tell it."""
    if interval.end - interval.start > timedelta(hours=1) or _CLOCK.search(text):
        return ""
    return f" (at {to_zone(interval.start, asked.at.tzinfo):%H:%M})"


def _ahead(told: DatedWords, language: Language, asked: Asked) -> bool:
    """Whether it was still to come when it was said; of the day itself the sentence tells it."""
    start, words = _sentence_at(told)
    if _ASKS.search(words) or (_DENIES.search(words) and not _NO_DENIAL.search(words)):
        return False
    if told.interval.start >= told.said_at or told.interval.end <= told.said_at:
        return told.interval.start >= told.said_at
    words = truncate(words, MAX_QUERY_CHARACTERS)
    (doc,) = language.parse([words], names=False)
    return any(
        is_future(doc, mention)
        for mention in find_times(words, told.said_at)
        if mention.start <= told.start - start < mention.stop
    )


def _noted(
    notes: Sequence[MemoryCandidate],
    found: Mapping[tuple[EvidenceKind, int], Evidence],
    asked: Asked,
) -> Iterator[_Plan]:
    """What was stored outright and names a time within the days."""
    days = at_hand(asked.at)
    for row in notes:
        if is_private(row.text):
            continue
        for mention in (
            ()
            if not _TIMELY.search(row.text)
            else find_times(
                truncate(row.text, MAX_QUERY_CHARACTERS),
                to_zone(row.said_at, asked.at.tzinfo),
                ahead=True,
            )
        ):
            lasts = mention.interval.end - mention.interval.start
            if (
                mention.bound is Bound.AT
                and lasts <= days.end - days.start
                and mention.interval.start < days.end
                and mention.interval.end > days.start
            ):
                item = _item(
                    escape_for_prompt(row.text), found[EvidenceKind.MEMORY, row.key], asked, 1.0
                )
                yield _Plan(
                    mention.interval.start,
                    row.text,
                    item,
                    f"{item.text} (noted {rendering.iso_date(item.said_at)})",
                )
                break


def _day(day: date, today: date) -> str:
    """The heading of a day; what began earlier is today's too."""
    return f"Tomorrow, {day} ({day:%A}):" if day > today else f"Today, {today} ({today:%A}):"


def _loops(loops: Sequence[OpenLoop], told: set[str], asked: Asked) -> Iterator[Line]:
    """What was left open last time and is not told as a plan already."""
    fresh = [
        one
        for one in loops
        if one.turn_id not in told
        and asked.at - one.said_at <= LOOPS_FOR
        and not (is_private(one.text) or _RECALLS.search(one.text))
    ]
    for one in fresh[:MOST_LOOPS]:
        said_at = to_zone(one.said_at, asked.at.tzinfo)
        words = rendering.quoted(_cut(one.text))
        item = Item(
            text=words[1:-1],
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
        yield Line(f"Left open on {rendering.iso_date(said_at)}:", f"- {words}", item)


def _item(text: str, found: Evidence, asked: Asked, relevance: float) -> Item:
    trusted = confidence(found, asked.at)
    return Item(
        text=text,
        kind=found.kind,
        layer=Layer.FACTS if found.kind is EvidenceKind.MEMORY else Layer.VERBATIM,
        layers=(Layer.FACTS if found.kind is EvidenceKind.MEMORY else Layer.VERBATIM,),
        relevance=relevance,
        confidence=trusted,
        mark=mark(relevance, trusted),
        turn_ids=found.turn_ids,
        memory_id=found.memory_id,
        session_id=found.session_id,
        speaker=found.speaker,
        said_at=to_zone(found.said_at, asked.at.tzinfo),
        vector=None if found.former else found.vector,
    )


def _sentence(told: DatedWords) -> str:
    """The sentence of a turn that names the time, as it is shown."""
    return _cut(_sentence_at(told)[1].strip())


def _sentence_at(told: DatedWords) -> tuple[int, str]:
    """Where in a turn the sentence begins that names the time, and its words."""
    spans = [match.span() for match in _SENTENCE.finditer(told.text)]
    start, stop = next(
        (span for span in spans if span[0] <= told.start < span[1]), (0, len(told.text))
    )
    return start, told.text[start:stop]


def _cut(text: str) -> str:
    words = text.split()
    return text if len(words) <= LONGEST_LINE else f"{' '.join(words[:LONGEST_LINE])} …"
