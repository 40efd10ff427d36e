"""Facts of events: past ones, plans, reminders, and changes of what was planned."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import islice, pairwise
from typing import Final, NamedTuple

from hotmem.temporal import WEEKDAYS, Bound, Granularity, TimeMention, find_times
from hotmem.temporal.dates import RESCHEDULING_VERBS
from hotmem.temporal.units import MONTHS
from hotmem.text.numerals import ORDINALS
from hotmem.text.stemming import STOP_STEMS, stem, stems
from hotmem.text.word_sets import wordlist
from hotmem.types import Category, EventTime, Interval, Kind, Statement, Understanding
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.clauses import Clause
from hotmem.understanding.facts.predicates import Fact, complement, inner_phrase
from hotmem.understanding.facts.relations import (
    BORN_IN,
    DID,
    HAS,
    HAS_TO,
    IS,
    IS_AGED,
    IS_ON,
    IS_REMINDED,
    LIVES_IN,
    MARRIED_TO,
    PLANS_TO,
    WITH,
    WORKS_AT,
    phrase,
)
from hotmem.understanding.facts.third_person import (
    FIRST_PERSON_PRONOUNS,
    sentence,
    to_third_person,
)
from hotmem.understanding.facts.time_direction import (
    current_times,
    in_its_half,
    is_future,
    resolve_times,
)
from hotmem.understanding.lexicon import EVENT_NOUNS, EVENT_VERBS, NOTABLE_EVENT_VERBS
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.query.entities import is_name

_JOB_NOUNS: Final = wordlist("job position role internship jobs work")
INTRANSITIVE_EVENTS: Final = wordlist(
    "retire graduate divorce separate fire hire promote marry engage demote sack adopt die turn"
)
"""Event verbs that need no complement: "I got fired"."""

_GROUP_NOUNS: Final = wordlist(
    "gym club choir band team group league class church orchestra army navy program course"
)
RELOCATION_VERBS: Final = frozenset({"move", "relocate", "settle"})
"""Verbs that lead to a new home."""

_CHANGE_VERBS: Final = RELOCATION_VERBS | {"switch", "change", "migrate", "transfer"}
_RETURN_VERBS: Final = frozenset({"come", "return", "get"})


def read_event(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    """Yield the facts of an asserted clause in the past tense."""
    verb = clause.verb
    if clause.negated:
        return
    lasting = tuple(_read_resulting_state(clause, words, mention))
    yield from lasting
    if not lasting and (verb.tag_ != "VBG" or clause.frame) and _is_notable(verb, mention):
        over = find_ended_activity(verb) if _is_terminative(verb) else None
        yield Fact(
            DID, inner_phrase(clause), words, negated=None if over is None else True, over=over
        )


def rescheduled_event(clause: Clause) -> Token | None:
    """Return the appointment that a clause says is postponed or moved.

    "they moved the interview to Monday", "the exam has been put off until May".
    """
    if clause.verb.lemma_ not in RESCHEDULING_VERBS or clause.negated or clause.frame:
        return None
    if clause.subject is not None and clause.subject.dep_ == "nsubjpass":
        return clause.subject
    return complement(clause.verb, "dobj")


def _is_terminative(verb: Token) -> bool:
    """Whether a verb says that something is over: "quit smoking", "left the band"."""
    if verb.lemma_ == "give":
        return any(child.lower_ == "up" for child in verb.children)
    if verb.lemma_ == "leave":
        left = complement(verb, "dobj")
        if left is None or _has_recipient(verb, left):
            return False
        return (
            left.pos_ == "PROPN" and left.ent_type_ != "GPE"
        ) or left.lemma_.lower() in _GROUP_NOUNS | _JOB_NOUNS
    if verb.lemma_ == "drop":
        dropped = complement(verb, "dobj")
        return dropped is not None and not any(
            child.dep_ in ("det", "poss") for child in dropped.children
        )
    return verb.lemma_ in ("quit", "stop", "abandon")


def _has_recipient(verb: Token, left: Token) -> bool:
    """Whether "leave" has a recipient: "left Castor a voicemail"."""
    return any(
        child.pos_ == "NOUN" and child.dep_ not in ("nsubj", "nsubjpass") and _is_thing(child)
        for child in verb.rights
        if child.i > left.i
    )


def find_ended_activity(verb: Token) -> Token | None:
    """Return the word for what is over: the object, the prepositional object or the gerund."""
    for child in verb.children:
        if child.dep_ == "xcomp":
            return find_ended_activity(child) or child
        if child.dep_ == "dobj" and _is_thing(child):
            return child
    places = (part for child in verb.children if child.dep_ == "prep" for part in child.children)
    return next((part for part in places if part.dep_ == "pobj" and _is_thing(part)), None)


def _is_thing(noun: Token) -> bool:
    return noun.pos_ in ("NOUN", "PROPN") and noun.ent_type_ not in ("DATE", "TIME")


def _read_resulting_state(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    """Yield states that hold, or no longer hold, since an event."""
    verb = clause.verb
    former = _abandoned_thing(verb)
    if former is not None:
        yield Fact(DID, inner_phrase(clause), words, over=former)
        return
    match verb.lemma_:
        case "bear" | "born" if (place := complement(verb, "in")) is not None and mention is None:
            yield Fact(BORN_IN, phrase(place), words)
        case "move" | "relocate" | "settle" if (
            home := complement(verb, "to") or complement(verb, "in")
        ) is not None and is_name(home):
            yield Fact(
                WORKS_AT if _mentions_work(verb) else LIVES_IN, phrase(home, bare=True), words
            )
        case "settle" if (place := complement(verb, "in")) is not None and place.pos_ == "NOUN":
            yield Fact(LIVES_IN, phrase(place), words)
        case "turn" if (
            age := next((child for child in verb.children if child.pos_ == "NUM"), None)
        ) is not None:
            yield Fact(IS_AGED, (age,), words)
        case "divorce" | "separate" if complement(verb, "dobj") is None:
            yield Fact(IS, (verb,), words)
            yield Fact(MARRIED_TO, (), words, negated=True)
        case "marry" if (
            spouse := complement(verb, "dobj") or complement(verb, "to")
        ) is not None and is_name(spouse):
            yield Fact(MARRIED_TO, phrase(spouse, bare=True), words)
        case "break" | "split" if (former := complement(verb, "with")) is not None and is_name(
            former
        ):
            yield Fact(WITH, phrase(former, bare=True), words, negated=True)
        case "sell" if (sold := complement(verb, "dobj")) is not None and _is_thing(sold):
            yield Fact(HAS, (sold,), words, negated=True, over=sold)
        case _:
            yield from _read_employment(verb, words)


def _abandoned_thing(verb: Token) -> Token | None:
    """Return what was replaced: "Slack" in "we moved from Slack to Teams"; places are left out."""
    if (
        verb.lemma_ not in _CHANGE_VERBS
        or complement(verb, "dobj") is not None
        or _mentions_work(verb)
    ):
        return None
    former, new = complement(verb, "from"), complement(verb, "to")
    if (
        former is None
        or new is None
        or any(
            noun.ent_type_ in ("GPE", "LOC") and verb.lemma_ in RELOCATION_VERBS
            for noun in (former, new)
        )
    ):
        return None
    return former if _is_thing(former) and _is_thing(new) else None


def _mentions_work(verb: Token) -> bool:
    """Whether a sentence is about work: "I moved to Leeds for a new job"."""
    return any(
        (token.lemma_ in ("work", "quit") and token.pos_ == "VERB") or token.lemma_ in _JOB_NOUNS
        for token in verb.sent
    )


def _read_employment(verb: Token, words: tuple[Token, ...]) -> Iterator[Fact]:
    """Read jobs that began or ended.

    "got a job at Bosch", "joined Spotify", "switched jobs to Nokia", "quit my job at Tesco".
    """
    thing = complement(verb, "dobj")
    job = thing is not None and thing.lemma_ in _JOB_NOUNS
    employer: Token | None = None
    match verb.lemma_:
        case "get" | "start" | "land" | "accept" | "take" | "find" if job:
            employer = _prepositional_object(thing, verb, "at", "with")
        case "switch" | "change" | "transfer" if job or (
            thing is None and (verb.lemma_ == "transfer" or _mentions_work(verb))
        ):
            employer = _prepositional_object(thing, verb, "to")
        case "start" | "begin" if thing is None:
            employer = _prepositional_object(None, verb, "at", "with")
        case "join" if (
            thing is not None
            and thing.lemma_.lower() not in _GROUP_NOUNS
            and (is_name(thing) or thing.ent_type_ == "ORG")
        ):
            employer = thing
        case "quit" | "leave" | "lose" if thing is not None:
            left = (
                _prepositional_object(thing, verb, "at", "with")
                if job
                else thing
                if thing.ent_type_ == "ORG"
                else None
            )
            if left is not None and not _has_recipient(verb, thing):
                yield Fact(WORKS_AT, phrase(left, bare=True), words, negated=True)
            return
    if employer is not None and (is_name(employer) or job or verb.lemma_ == "join"):
        yield Fact(WORKS_AT, phrase(employer, bare=True), words)


def _prepositional_object(thing: Token | None, verb: Token, *prepositions: str) -> Token | None:
    """Return the object of the first of these prepositions on the complement or the verb."""
    heads = (thing, verb) if thing is not None else (verb,)
    return next(
        (
            found
            for head in heads
            for prep in prepositions
            if (found := complement(head, prep)) is not None
        ),
        None,
    )


def _is_notable(verb: Token, mention: TimeMention | None) -> bool:
    """Whether an event is worth keeping: a notable verb, or one with a time or a place."""
    if verb.lemma_ in INTRANSITIVE_EVENTS or (
        verb.lemma_ == "pass" and any(child.lower_ == "away" for child in verb.children)
    ):
        return True
    if verb.lemma_ == "drop":
        return _is_terminative(verb)
    if verb.lemma_ in _RETURN_VERBS and any(child.lower_ == "back" for child in verb.children):
        return any(is_name(token) for token in phrase(verb))
    if verb.lemma_ in ("stop", "give", "quit", "take") and any(
        child.dep_ == "xcomp" or child.lower_ == "up" for child in verb.children
    ):
        return any(
            token.pos_ in ("NOUN", "PROPN", "VERB") for token in phrase(verb) if token != verb
        )
    if (
        verb.lemma_ in ("quit", "leave")
        and (left := complement(verb, "dobj")) is not None
        and left.pos_ == "PROPN"
        and left.ent_type_ != "GPE"
    ):
        return True
    placed = verb.lemma_ in ("live", "work", "study", "grow") and any(
        is_name(part) for prep in verb.children if prep.dep_ == "prep" for part in prep.children
    )
    worth = verb.lemma_ in NOTABLE_EVENT_VERBS or (
        mention is not None and verb.lemma_ in EVENT_VERBS
    )
    return placed or (worth and has_informative_complement(verb, mention, light=frozenset()))


def has_informative_complement(
    verb: Token, mention: TimeMention | None, *, light: frozenset[str]
) -> bool:
    """Whether the verb has a complement with a noun, and a light verb also a time or a name.

    Args:
        verb: The verb.
        mention: The time in its clause.
        light: Light verbs.
    """
    nouns = [
        token
        for token in phrase(verb)
        if token.pos_ in ("NOUN", "PROPN")
        and (mention is None or not mention.start <= token.idx < mention.stop)
    ]
    if verb.lemma_ in light:
        if any(child.lower_ in ("married", "engaged", "divorced") for child in verb.children):
            return True
        return (
            bool(nouns)
            and verb.lemma_ in ("go", "get", "see", "have", "take", "make", "use")
            and (mention is not None or any(is_name(token) for token in nouns))
        )
    return bool(nouns)


_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "NUM"})
"""Parts of speech of which an answer that takes over a time has a word: not "yes" or "maybe"."""


def read_event_times(said_at: datetime, mentions: Iterable[TimeMention]) -> Iterator[EventTime]:
    """Yield the event times of a turn, in order.

    "Since March" extends to `said_at`. Open intervals ("before Friday", "until May") are left out.

    Args:
        said_at: When it was said.
        mentions: Its times, resolved as past or future.
    """
    for mention in mentions:
        found = mention.interval
        if mention.bound is Bound.SINCE and found.start < said_at:
            yield EventTime(
                mention.start, mention.stop, Interval(found.start, max(said_at, found.end))
            )
        elif mention.bound is Bound.AT:
            yield EventTime(mention.start, mention.stop, found)


def answered_times(question: Doc, answer: Doc, said_at: datetime) -> tuple[EventTime, ...]:
    """The event time of an answer that names none: the one of its question, for all its words.

    "What's on tomorrow?" – "Eye clinic at ten."

    Args:
        question: The parsed turn before, whose last sentence may be a question.
        answer: The parsed answer.
        said_at: When the answer was said.
    """
    *_, last = question.sents
    times = tuple(read_event_times(said_at, resolve_times(last.as_doc(), said_at)))
    takes = "?" in last.text and any(token.pos_ in _CONTENT for token in answer)
    if not takes or len(times) != 1:
        return ()
    return (EventTime(0, len(answer.text), times[0].interval),)


PLAN_RELATIONS: Final = frozenset({PLANS_TO.name, IS_ON.name, IS_REMINDED.name})
"""Relations whose statements are always plans or reminders."""

_DATED_BY_TERMS: Final = PLAN_RELATIONS | {HAS_TO.name}
"""Relations whose statements are dated by the end of a term and by times of day as well."""

DAY: Final = timedelta(days=1)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan or a reminder.

    Attributes:
        statement: The statement, of kind "reminder".
        times: Its times, as event times of its turn; none if the words name none.
    """

    statement: Statement
    times: tuple[EventTime, ...]


def upcoming_times(text: str, said_at: datetime) -> tuple[TimeMention, ...]:
    """The times of a plan, read as future, times of day included.

    An hour at which somebody is to be woken is in the morning, that of a dinner in the evening.
    """
    found = find_times(text, said_at, ahead=True, include_clock_times=True)
    placed = [day for one in found if (day := _on_its_day(text, one, found, said_at)) is not None]
    return tuple(in_its_half(text, one, said_at) for one in current_times(text, placed))


def _on_its_day(
    text: str, mention: TimeMention, found: Sequence[TimeMention], said_at: datetime
) -> TimeMention | None:
    """A time of day on the day named before in its sentence: "it's on Sunday, we leave at six".

    None if the sentence names another day in another way, so that the day is uncertain.
    """
    if not mention.clock_only:
        return mention
    others = [
        one
        for one in found
        if not one.clock_only and not _SENTENCE_END.search(text, *_between(one, mention))
    ]
    if not others:
        return mention
    day = others[-1]
    if day.start > mention.start or day.granularity is not Granularity.DAY or len(others) > 1:
        return None
    words = text[day.start : day.stop].rstrip(" .,;!?")
    whole = find_times(f"{words} {text[mention.start : mention.stop]}", said_at, ahead=True)
    if len(whole) != 1 or whole[0].granularity is not Granularity.MINUTE:
        return None
    return replace(mention, interval=whole[0].interval, clock_only=False)


def _between(one: TimeMention, other: TimeMention) -> tuple[int, int]:
    """The characters between two times, with the last one of the earlier."""
    first, last = sorted((one, other), key=lambda mention: mention.start)
    return max(first.stop - 1, 0), last.start


def plan_time(mention: TimeMention, said_at: datetime) -> Interval:
    """The time for which a plan with such a time is to be known.

    "Before Friday" is for Thursday and Friday, "before four" for the day until four; "after Friday"
    is for Saturday. Other times are those of the words.

    Args:
        mention: A time, resolved as future.
        said_at: When it was said, in the speaker's time zone.
    """
    found = mention.interval
    match mention.bound:
        case Bound.BEFORE:
            if mention.granularity in (Granularity.MINUTE, Granularity.PART):
                local = found.start.astimezone(mention.zone)
                first = datetime.combine(local.date(), time(), mention.zone)
            else:
                first = found.start - DAY
            last = min(found.end, found.start + DAY)
            return Interval(min(max(first, said_at), found.start).astimezone(last.tzinfo), last)
        case Bound.AFTER:
            return Interval(found.end, found.end + DAY)
        case _:
            return found


def plan_statement(
    doc: Doc,
    start: int,
    stop: int,
    speaker: str,
    said_at: datetime,
    *,
    hedged: bool = False,
    entities: Sequence[str] = (),
) -> Plan:
    """Make a plan or a reminder of words that are known to be one.

    Args:
        doc: The parsed turn.
        start: First character of the words.
        stop: One past the last character.
        speaker: The speaker's name, which replaces "I" and "my".
        said_at: When it was said, in the speaker's time zone.
        hedged: Whether it was said with doubt.
        entities: Names in the turn.
    """
    mentions = upcoming_times(doc.text, said_at)
    own = [one for one in mentions if one.start < stop and one.stop > start]
    if not own:
        own = [
            replace(one, start=start + one.start, stop=start + one.stop)
            for one in upcoming_times(doc.text[start:stop], said_at)
        ]
        mentions = (*mentions, *own)
    around = doc.char_span(start, stop, alignment_mode="expand")
    if not own and around is not None:
        first, last = around[0].sent.start_char, around[-1].sent.end_char
        own = [one for one in mentions if first <= one.start < last]
    first, last = (
        min([start, *(one.start for one in own)]),
        max([stop, *(one.stop for one in own)]),
    )
    words = [token for token in doc if start <= token.idx < stop]
    said = to_third_person(words, speaker, mentions=mentions)
    names_speaker = any(token.lower_ in FIRST_PERSON_PRONOUNS for token in words)
    lacks_subject = bool(words) and words[0].tag_ in ("VB", "TO") and not names_speaker
    text = sentence(
        *((speaker, "wants to be reminded") if lacks_subject else ()),
        *(("to",) if lacks_subject and words[0].tag_ == "VB" else ()),
        said,
    )
    times = tuple(EventTime(one.start, one.stop, plan_time(one, said_at)) for one in own)
    statement = replace(
        PLANS_TO.statement(speaker, said, text, first, last),
        kind=Kind.REMINDER,
        category=Category.REMINDERS,
        hedged=hedged,
        entities=tuple(name for name in entities if name in text),
    )
    return Plan(statement, times)


def mark_plans(
    doc: Doc, understanding: Understanding, defaults: Sequence[Statement], said_at: datetime
) -> Understanding:
    """Give plans and reminders their kind and their times, and take the kind from other statements.

    Args:
        doc: The parsed turn.
        understanding: What was read of it, classified.
        defaults: Its statements before they were classified, in the same order.
        said_at: When it was said, in the speaker's time zone.
    """
    if not understanding.statements:
        return understanding
    ahead = [one for one in resolve_times(doc, said_at) if _is_ahead(doc, one, said_at)]
    upcoming = upcoming_times(doc.text, said_at)
    times = {one.start: one for one in understanding.event_times}
    marked = []
    for statement, default in zip(understanding.statements, defaults, strict=True):
        found = upcoming if statement.relation in _DATED_BY_TERMS else ahead
        named = list(_within(statement, found))
        if _is_plan(statement, default, dated=bool(named)):
            statement = replace(statement, kind=Kind.REMINDER, category=Category.REMINDERS)
            times |= _dated(named, said_at)
        elif statement.kind is Kind.REMINDER:
            statement = _undone(statement, default)
        marked.append(statement)
    return replace(
        understanding,
        statements=tuple(_without_repeated(marked)),
        event_times=tuple(times[start] for start in sorted(times)),
    )


def _is_ahead(doc: Doc, mention: TimeMention, said_at: datetime) -> bool:
    """Whether a time is ahead; of one on the same day, the tense decides: "tonight"."""
    if mention.bound is Bound.SINCE and mention.interval.start <= said_at:
        return False
    start, _ = mention.local
    if mention.interval.end <= said_at or start.date() > said_at.astimezone(mention.zone).date():
        return mention.interval.end > said_at
    return is_future(doc, mention)


def _within(statement: Statement, mentions: Iterable[TimeMention]) -> Iterator[TimeMention]:
    return (one for one in mentions if one.start < statement.stop and one.stop > statement.start)


def _is_plan(statement: Statement, default: Statement, *, dated: bool) -> bool:
    if statement.kind is Kind.RULE:
        return False
    if statement.relation in PLAN_RELATIONS:
        return default.kind is Kind.REMINDER
    if statement.relation == HAS_TO.name:
        return dated or statement.kind is Kind.REMINDER
    return dated and not statement.single


def _undone(statement: Statement, default: Statement) -> Statement:
    """A statement with the kind of its relation, and the category if that was "reminders"."""
    kind = Kind.FACT if default.kind is Kind.REMINDER else default.kind
    filed = statement.category is Category.REMINDERS
    return replace(statement, kind=kind, category=default.category if filed else statement.category)


def _dated(mentions: Iterable[TimeMention], said_at: datetime) -> Mapping[int, EventTime]:
    """The event times of a plan, by their first character."""
    found = {one.start: one for one in read_event_times(said_at, mentions)}
    for one in mentions:
        if one.start not in found or one.bound is not Bound.AT:
            found[one.start] = EventTime(one.start, one.stop, plan_time(one, said_at))
    return found


def _without_repeated(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements without those that state what one is to be reminded of once more."""
    asked = [one for one in statements if one.relation == IS_REMINDED.name]
    for statement in statements:
        repeated = statement.kind is Kind.REMINDER and any(
            one.start <= statement.start and statement.stop <= one.stop and statement is not one
            for one in asked
        )
        if not repeated:
            yield statement


MAX_REQUESTS: Final = 12
"""Requests of one turn that are read, the first ones."""

MAX_CHARACTERS: Final = 240
"""Characters of the longest request; a run-on sentence is cut off."""

_NOT: Final = r"(?:do\s*n['’]?t|do\s+not)"
_REQUEST: Final = re.compile(
    r"(?<![\w'’-])(?:"
    r"(?:remind|ping|nudge|poke|prompt|alert|(?P<wake>wake))\s+(?:me|us)(?:\s+up)?"
    r"|(?:(?:set|create|make|add|put|give)\s+(?:me\s+|up\s+|in\s+)*)?(?:an?\s+|another\s+)?reminder"
    r"(?=\s+(?:for|to|on|at|in|about|that)\b)"
    rf"|{_NOT}\s+(?:let\s+(?:me|us)\s+)?forget"
    r"|(?P<own>(?:must|should|(?:have|need|got)\s+to|gotta)\s+remember(?=\s+to\b)"
    r"|(?:must\s*n['’]?t|must\s+not|can\s*n['’]?o?t|better\s+not)\s+forget)"
    r")(?![\w'’-])",
    re.IGNORECASE,
)
_ASKED_YOU: Final = re.compile(r"\b(?:can|could|will|would|please)\s+you\s+(?:please\s+)?$", re.I)
_TO: Final = re.compile(r"\byou\s+to\s+$", re.IGNORECASE)
_NO_REQUEST: Final = re.compile(
    r"(?:\b(?:i|you|we|they|he|she|it|that|this|which|who|to|not|never|stop|always|did|does"
    r"|don['’]?t|(?:sa(?:id|ys)|goes|(?:told|tells|asked)\s+\w+)[\s,:]*)|[\"“‘])\s*$",
    re.IGNORECASE,
)
"""The end of the text before words that are no request: "they remind", "she said don't forget"."""

_QUESTION: Final = re.compile(
    r"\s*(?:again\b|(?:about\s+|of\s+)?(?:what|who|whose|whom|where|why|how|which|whether)\b"
    r"|when\b(?!\s+(?:i|we|he|she|they|it)\b.*(?<!have)(?<!need)(?<!got)(?<!going)\s+to\s+\w))",
    re.IGNORECASE | re.DOTALL,
)
"""What follows a request to be told: "remind me what she said", "remind me when it starts"."""

_TOPIC: Final = re.compile(r"\s*(?:about|of)\b", re.IGNORECASE)
_LINKED: Final = re.compile(
    r"(?:to|about|of|that|when|if|every|as|for|once|after|before)\b", re.IGNORECASE
)
"""The first word of a complement that needs no other word before it."""

_GAP: Final = re.compile(r"[\s,]*(?:(?:please|can|could|will|would|you|just)[\s,]+)*")
_FINITE: Final = frozenset({"VBZ", "VBP", "VBD", "MD"})
_EDGES: Final = " \t\n,;:.!?-–—"
_JOINING: Final = re.compile(r"(?:[\s,;]+(?:and|but|so|or|then|please|okay|ok))+[\s,;.!?]*$", re.I)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request.

    Attributes:
        start: Its first character, of a time before it if there is one.
        verb: The first character of the words that ask.
        rest: The first character of what it is about.
        stop: One past its last character.
        wake: Whether it asks to be woken.
    """

    start: int
    verb: int
    rest: int
    stop: int
    wake: bool


def read_reminders(
    doc: Doc, speaker: str, mentions: Sequence[TimeMention], entities: Sequence[str]
) -> Iterator[Statement]:
    """Yield what the speaker wants to be reminded of.

    "Remind me of her name" asks for an answer; with a time it is a request.

    Args:
        doc: The parsed turn.
        speaker: The speaker's name.
        mentions: Its times, resolved as future, with times of day.
        entities: Names in the turn.
    """
    asked = (match for match in _REQUEST.finditer(doc.text) if _is_asked(doc.text, match))
    matches = list(islice(asked, MAX_REQUESTS))
    for place, match in enumerate(matches):
        end = matches[place + 1].start() if place + 1 < len(matches) else len(doc.text)
        request = _bounded(doc, match, end, mentions)
        timed = any(
            mention.start < request.stop and mention.stop > request.start for mention in mentions
        )
        about = doc.text[request.rest : request.stop]
        if (request.wake or _TOPIC.match(about)) and not timed:
            continue
        text = _text(doc, request, speaker, mentions)
        if text is not None:
            yield replace(
                IS_REMINDED.statement(speaker, text[1], text[0], request.start, request.stop),
                entities=tuple(name for name in entities if name in text[0]),
            )


def _is_asked(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    asked = _ASKED_YOU.search(before) or _TO.search(before) or not _NO_REQUEST.search(before)
    own = match["own"]
    return bool(own or asked) and not _QUESTION.match(after)


def _bounded(doc: Doc, match: re.Match[str], end: int, mentions: Sequence[TimeMention]) -> _Request:
    """The request with its end, and with a time before it."""
    stop = next(
        (one.end_char for one in doc.sents if one.start_char <= match.start() < one.end_char), end
    )
    stop = min(stop, end, match.start() + MAX_CHARACTERS)
    for mention in mentions:
        if mention.start < stop < mention.stop:
            stop = mention.stop
    if match["wake"]:
        stop = next((one.stop for one in mentions if match.end() <= one.start < stop), stop)
    comma = _second_clause(doc, match.end(), stop, mentions)
    stop = stop if comma is None else comma
    stop = match.start() + len(_JOINING.sub("", doc.text[match.start() : stop]).rstrip(_EDGES))
    start = next(
        (
            one.start
            for one in mentions
            if one.stop <= match.start() and _GAP.fullmatch(doc.text, one.stop, match.start())
        ),
        match.start(),
    )
    return _Request(start, match.start(), match.end(), max(stop, match.end()), bool(match["wake"]))


def _second_clause(doc: Doc, start: int, stop: int, mentions: Sequence[TimeMention]) -> int | None:
    """Where another clause with its own subject begins, after a comma that follows a time."""
    for token in doc:
        if start < token.idx < stop and token.text == "," and token.i + 1 < len(doc):
            timed = any(start <= one.start and one.stop <= token.idx for one in mentions)
            if timed and any(
                other.dep_ in ("nsubj", "nsubjpass") and other.head.i > other.i
                for other in doc[token.i + 1 :]
                if other.idx < stop
            ):
                return token.idx
    return None


def _text(
    doc: Doc, request: _Request, speaker: str, mentions: Sequence[TimeMention]
) -> tuple[str, str] | None:
    """The statement, and what it is about; None if that is not said."""

    def rendered(start: int, stop: int) -> str:
        tokens = [token for token in doc if start <= token.idx < stop]
        return to_third_person(tokens, speaker, mentions=mentions).strip(_EDGES)

    rest = [token for token in doc if request.rest <= token.idx < request.stop]
    timing, about = _split_times(rest, mentions)
    before = rendered(request.start, request.verb) if request.start < request.verb else ""
    wanted = "wants to be woken" if request.wake else "wants to be reminded"
    if not _has_content(about):
        if request.wake:
            return sentence(speaker, wanted, before, rendered(request.rest, request.stop)), "woken"
        earlier = _clause_before(doc, request)
        if earlier is None:
            return None
        start, stop = earlier
        when = rendered(request.rest, request.stop)
        said = rendered(start, stop)
        return sentence(speaker, wanted, before, when, f"that {said}"), said
    said = rendered(about[0].idx, request.stop)
    link = "" if request.wake or _LINKED.match(about[0].text) else _link(about)
    when = rendered(timing[0].idx, about[0].idx) if timing else ""
    return sentence(speaker, wanted, before, when, link, said), said


def _split_times(
    rest: Sequence[Token], mentions: Sequence[TimeMention]
) -> tuple[Sequence[Token], Sequence[Token]]:
    """The times with which the words begin, and the other words.

    A time that is the subject is none of these: "remind me Thursday is the last day".
    """
    for place, token in enumerate(rest):
        timed = any(one.start <= token.idx < one.stop for one in mentions)
        if not (timed or token.is_punct or token.pos_ == "INTJ"):
            begins = 0 if token.tag_ in _FINITE else place
            return rest[:begins], rest[begins:]
    return rest, ()


def _has_content(tokens: Sequence[Token]) -> bool:
    return any(token.pos_ in ("NOUN", "PROPN", "VERB", "NUM", "ADJ", "X") for token in tokens)


def _link(about: Sequence[Token]) -> str:
    """The word before a complement: "that" before a clause, "to" before a verb, else "of"."""
    if about[0].tag_ == "VB" or about[0].dep_ == "ROOT":
        return "to"
    clause = any(
        token.dep_ in ("nsubj", "nsubjpass") and token.head in about and token.i < token.head.i
        for token in about
    )
    return "that" if clause else "of"


def _clause_before(doc: Doc, request: _Request) -> tuple[int, int] | None:
    """The words before a request that does not say what it is about; None if there are none."""
    edges = [0, *(one.start_char for one in doc.sents), request.start]
    for start, stop in reversed(list(pairwise(sorted({e for e in edges if e <= request.start})))):
        words = _JOINING.sub("", doc.text[start:stop]).rstrip(_EDGES)
        if _has_content([token for token in doc if start <= token.idx < start + len(words)]):
            return start, start + len(words)
    return None


CHANGE_WORDS: Final = re.compile(
    r"\b(?:cancel\w*|postpon\w*|reschedul\w*|scrap\w*|skip\w*|off|mov(?:e|ed|es|ing)|push\w*"
    r"|shift\w*|slip\w*|delay\w*|chang\w+|switch\w*|swap\w*|put|br(?:ing|ought)\w*"
    r"|back|again|now|instead|not|no|\w+n['’]?t|any\s*more|no\s+longer)\b",
    re.IGNORECASE,
)
"""A quick filter: a text without one of these words changes nothing."""

_CANCELLING_VERBS: Final = wordlist("cancel postpone reschedule scrap skip")
_PARTICLE_VERBS: Final = {
    "call": {"off"},
    "put": {"off", "back", "forward"},
    "push": {"off", "back", "forward"},
    "bring": {"forward"},
}
"""Verbs that change a plan only with one of these particles."""

_MOVING_VERBS: Final = RESCHEDULING_VERBS - {"put"}
"""Verbs that change a plan only with a time or an event; a sofa can be moved as well."""

_ATTENDANCE_VERBS: Final = wordlist("go come happen make attend")
_ACTIVITY_VERBS: Final = wordlist("do have see take")
_DESTINATION_VERBS: Final = wordlist("go come")
"""Verbs that cancel a plan when negated: attendance, activities, and motion with "to"."""

_POSSIBILITY_MODALS: Final = wordlist("might may could would should")
_CONDITIONS: Final = wordlist("if unless whether in case")
_NO_LONGER: Final = re.compile(
    r"\b(?:any\s*more|any\s+longer|no\s+longer|after\s+all)\b", re.IGNORECASE
)
_CHANGE_ADVERBS: Final = wordlist("now instead")
_IDENTIFYING_PREPOSITIONS: Final = wordlist("with of at to")
"""Prepositions whose object identifies the event: "my appointment with the vet"."""

_EVENT_STEMS: Final = frozenset(map(stem, EVENT_NOUNS))
_FIRST_PERSON: Final = wordlist("i we they")
_DAYS_OF_MONTH: Final = (word for word, number in ORDINALS.items() if number < 32)
_TIME_STEMS: Final = stems(
    f"{' '.join((*WEEKDAYS, *MONTHS, *_DAYS_OF_MONTH))} today tonight tomorrow yesterday day week "
    "weekend month year morning afternoon evening night hour minute clock"
)
"""Stems of times, which do not identify an event."""


class ChangedEvent(NamedTuple):
    """An event that a text says has changed.

    Attributes:
        head: Stem of its head noun.
        stems: Stems of all words that identify it.
        is_whole: Whether the head noun itself is meant: "the boiler is off" is not about the boiler
            man.
    """

    head: str
    stems: frozenset[str]
    is_whole: bool = False


def changed_events(doc: Doc, said_at: datetime) -> tuple[ChangedEvent, ...]:
    """Return the events that a text says are cancelled, moved or back on.

    Questions and hypotheticals change nothing.

    Args:
        doc: The parsed text.
        said_at: When it was said.
    """
    if DIRECT_QUESTION.search(doc.text):
        return ()
    found = (
        ChangedEvent(stem(token.lower_), _identifying_stems(token), whole)
        for token, whole in _changed_tokens(doc, said_at)
    )
    return tuple(dict.fromkeys(thing for thing in found if thing.stems))


def affects_plan(thing: ChangedEvent, plan: Doc) -> bool:
    """Whether a changed event is the one that a plan mentions.

    Args:
        thing: The changed event.
        plan: The parsed sentence of the plan.
    """
    phrases = [
        (stem(token.lower_), _identifying_stems(token))
        for token in plan
        if token.dep_ != "compound" and _is_identifying(token)
    ]
    words = frozenset().union(*(phrase for _, phrase in phrases))
    shared = thing.stems & words
    if not shared or (thing.is_whole and all(head != thing.head for head, _ in phrases)):
        return False
    if shared == thing.stems or len(shared) > 1:
        return True
    if thing.head not in shared and thing.head not in _EVENT_STEMS:
        return False
    return any(phrase == shared for _, phrase in phrases)


def _changed_tokens(doc: Doc, said_at: datetime) -> Iterator[tuple[Token, bool]]:
    times = [
        mention.start
        for mention in find_times(doc.text, said_at, ahead=True, include_clock_times=True)
    ]
    over = bool(_NO_LONGER.search(doc.text))
    for token in doc:
        if token.lower_ in ("off", "on") and all(child.pos_ == "ADV" for child in token.children):
            yield from ((one, True) for one in _off_or_on_again(doc, token))
        elif (
            token.lower_ == "no"
            and token.dep_ == "det"
            and (over or times)
            and token.head.head.lemma_ in ("be", "have")
        ):
            yield token.head, False
        elif token.pos_ in ("VERB", "AUX") and not _is_hypothetical(token):
            timed = any(start > token.idx for start in times)
            yield from ((one, False) for one in _changed_by_verb(token, timed=timed, over=over))


def _changed_by_verb(verb: Token, *, timed: bool, over: bool) -> Iterator[Token]:
    particles = {
        child.lower_
        for child in verb.children
        if child.dep_ in ("prt", "advmod", "prep", "advcl") and not _is_locative(child)
    }
    objects = [child for child in verb.children if child.dep_ in ("dobj", "nsubjpass")]
    denied = _is_negated(verb)
    if denied:
        if verb.lemma_ == "be" and timed:
            yield from _subjects(verb)
        elif _is_cancelled_by_negation(verb, over=over):
            subjects = list(_subjects(verb))
            yield from subjects
            if any(one.lower_ in _FIRST_PERSON for one in subjects):
                yield from objects
                yield from (end for end in _destinations(verb) if verb.lemma_ in _DESTINATION_VERBS)
    elif verb.lemma_ in _CANCELLING_VERBS or particles & _PARTICLE_VERBS.get(verb.lemma_, set()):
        yield from objects or _subjects(verb)
    elif verb.lemma_ in _MOVING_VERBS:
        yield from (
            one for one in (objects or _subjects(verb)) if timed or stem(one.lower_) in _EVENT_STEMS
        )
    elif (
        verb.lemma_ == "be"
        and timed
        and any(token.lower_ in _CHANGE_ADVERBS for token in verb.subtree)
    ):
        yield from _subjects(verb)


def _off_or_on_again(doc: Doc, word: Token) -> Iterator[Token]:
    """Yield what is off or on again: "the barbecue's off", "the barbecue is back on"."""
    after = doc[word.i + 1].lower_ if word.i + 1 < len(doc) else ""
    again = (
        word.lower_ == "off"
        or doc[max(word.i - 1, 0)].lower_ == "back"
        or after in ("again", "after")
    )
    if word.dep_ == "prt" or not again or after == "to":
        return
    verb = word.head.head if word.head.lower_ == "back" else word.head
    if verb.lemma_ == "be":
        yield from () if _is_negated(verb) or _is_hypothetical(verb) else _subjects(verb)
    elif any(child.dep_ == "case" for child in word.head.children) or doc[
        max(word.i - 1, 0)
    ].lower_ in ("'s", "’s", "is"):
        yield word.head


def _is_negated(verb: Token) -> bool:
    """Whether a verb or one that governs it is negated: "I didn't have to cancel it"."""
    chain = [verb]
    while (
        chain[-1].dep_ in ("xcomp", "ccomp")
        and chain[-1].head != chain[-1]
        and not any(child.dep_ == "nsubj" for child in chain[-1].children)
    ):
        chain.append(chain[-1].head)
    no_longer = any(child.lower_ == "longer" for child in verb.children)
    return no_longer or any(
        child.dep_ == "neg" or child.lower_ == "never" for one in chain for child in one.children
    )


def _is_cancelled_by_negation(verb: Token, *, over: bool) -> bool:
    """Whether the negated verb says that something will not take place."""
    if (
        any(
            child.dep_ in ("xcomp", "ccomp") and child.pos_ in ("VERB", "AUX")
            for child in verb.children
        )
        or verb.dep_ == "aux"
    ):
        return False
    can = any(child.tag_ == "MD" for child in verb.children)
    goes_on = verb.tag_ == "VBG"
    past = verb.tag_ == "VBD" or any(
        child.lower_ in ("did", "was", "were", "had", "has", "have", "'ve")
        for child in verb.children
        if child.dep_ == "aux"
    )
    return not past and (
        (verb.lemma_ in _ATTENDANCE_VERBS and (can or goes_on or over))
        or (verb.lemma_ in _ACTIVITY_VERBS and (goes_on or over))
    )


def _is_hypothetical(verb: Token) -> bool:
    """Whether a verb expresses a mere possibility."""
    if any(child.lower_ in _POSSIBILITY_MODALS for child in verb.children if child.tag_ == "MD"):
        return True
    clauses = [verb, *(child for child in verb.children if child.dep_ == "advcl"), *verb.ancestors]
    return any(
        child.dep_ == "mark" and child.lower_ in _CONDITIONS
        for clause in clauses
        for child in clause.children
    )


def _subjects(verb: Token) -> Iterator[Token]:
    """Yield the subjects of a verb, or of the verb that governs it: "the physio rang to cancel"."""
    own = [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")]
    if own or verb.dep_ not in ("xcomp", "conj", "advcl") or verb.head == verb:
        yield from own
    else:
        yield from _subjects(verb.head)


def _destinations(verb: Token) -> Iterator[Token]:
    """Yield the objects of "to" and similar prepositions."""
    for child in verb.children:
        if child.dep_ == "prep" and child.lower_ in _IDENTIFYING_PREPOSITIONS:
            yield from (end for end in child.children if end.dep_ == "pobj")
        elif child.dep_ == "xcomp" and child.pos_ in ("NOUN", "PROPN"):
            yield child


def _is_locative(particle: Token) -> bool:
    """Whether a particle is followed by a place: "back in the shed"."""
    return any(
        child.lower_ in ("in", "into", "on", "onto", "inside", "under")
        for child in particle.children
    )


def _identifying_stems(noun: Token) -> frozenset[str]:
    """Return the stems that identify a noun: its own, and those of its modifiers and objects."""
    found = {stem(noun.lower_)} if _is_identifying(noun) else set()
    for child in noun.children:
        if child.dep_ in ("compound", "poss", "nmod", "amod", "conj"):
            found |= _identifying_stems(child)
        elif child.dep_ == "prep" and child.lower_ in _IDENTIFYING_PREPOSITIONS:
            for end in child.children:
                found |= _identifying_stems(end)
    return frozenset(found)


def _is_identifying(token: Token) -> bool:
    word = stem(token.lower_)
    named = token.pos_ in ("NOUN", "PROPN") or (
        token.tag_ == "VBG" and token.dep_ in ("dobj", "pobj", "nsubj")
    )
    return named and len(word) > 1 and word not in STOP_STEMS and word not in _TIME_STEMS
