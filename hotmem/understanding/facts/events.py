"""Facts of clauses in the past tense: events, and the states that result from them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from hotmem.temporal import Bound, TimeMention
from hotmem.temporal.rescheduling import RESCHEDULING_VERBS
from hotmem.text.word_sets import wordlist
from hotmem.types import EventTime, Interval
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.clauses import Clause
from hotmem.understanding.facts.lexicon import EVENT_VERBS, NOTABLE_EVENT_VERBS
from hotmem.understanding.facts.predicates import Fact, complement, inner_phrase
from hotmem.understanding.facts.relations import (
    BORN_IN,
    DID,
    HAS,
    IS,
    IS_AGED,
    LIVES_IN,
    MARRIED_TO,
    WITH,
    WORKS_AT,
    phrase,
)
from hotmem.understanding.facts.time_direction import resolve_times
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
