"""Facts of clauses in the past tense.

What happened, and what holds since: a new home, a new job, a marriage that ended.
"""

from collections.abc import Iterator
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause
from hotmem.understanding.facts.predicates import Fact, complement, inner_phrase, phrase
from hotmem.understanding.facts.relations import (
    BORN_IN,
    DID,
    EVENT_VERBS,
    HAS,
    IS,
    IS_AGED,
    LIVES_IN,
    MARRIED_TO,
    NOTABLE_EVENT_VERBS,
    WITH,
    WORKS_AT,
)
from hotmem.understanding.query.entities import is_name

_JOBS: Final = wordlist("job position role internship jobs work")
INTRANSITIVE_EVENTS: Final = wordlist(
    "retire graduate divorce separate fire hire promote marry engage demote sack adopt die turn"
)
"""Events that need no complement: "I got fired"."""

_CLUBS: Final = wordlist(
    "gym club choir band team group league class church orchestra army navy program course"
)
_MOVING: Final = frozenset(
    {"move", "postpone", "reschedule", "push", "put", "shift", "delay", "bring"}
)
RELOCATION_VERBS: Final = frozenset({"move", "relocate", "settle"})
"""Verbs of a new home."""

_CHANGING: Final = RELOCATION_VERBS | {"switch", "change", "migrate", "transfer"}
_HOMECOMINGS: Final = frozenset({"come", "return", "get"})


def read_event(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    """What an asserted clause in the past tense tells."""
    verb = clause.verb
    if clause.negated:
        return
    lasting = tuple(_since_then(clause, words, mention))
    yield from lasting
    if not lasting and (verb.tag_ != "VBG" or clause.frame) and _told(verb, mention):
        over = find_ended_activity(verb) if _ends(verb) else None
        yield Fact(
            DID, inner_phrase(clause), words, negated=None if over is None else True, over=over
        )


def rescheduled_event(clause: Clause) -> Token | None:
    """The appointment that a clause says to be put off or moved.

    "they moved the interview to Monday", "the exam has been put off until May".
    """
    if clause.verb.lemma_ not in _MOVING or clause.negated or clause.frame:
        return None
    if clause.subject is not None and clause.subject.dep_ == "nsubjpass":
        return clause.subject
    return complement(clause.verb, "dobj")


def _ends(verb: Token) -> bool:
    """Whether a verb tells that something is over.

    "quit smoking", "gave up the choir", "left the band".
    """
    if verb.lemma_ == "give":
        return any(child.lower_ == "up" for child in verb.children)
    if verb.lemma_ == "leave":
        left = complement(verb, "dobj")
        if left is None or _leaves_something(verb, left):
            return False
        return (
            left.pos_ == "PROPN" and left.ent_type_ != "GPE"
        ) or left.lemma_.lower() in _CLUBS | _JOBS
    if verb.lemma_ == "drop":
        dropped = complement(verb, "dobj")
        return dropped is not None and not any(
            child.dep_ in ("det", "poss") for child in dropped.children
        )
    return verb.lemma_ in ("quit", "stop", "abandon")


def _leaves_something(verb: Token, left: Token) -> bool:
    """Whether somebody is left something: "left Castor a voicemail"."""
    return any(
        child.pos_ == "NOUN" and child.dep_ not in ("nsubj", "nsubjpass") and _named(child)
        for child in verb.rights
        if child.i > left.i
    )


def find_ended_activity(verb: Token) -> Token | None:
    """The word for what is over.

    The verb's object, or that of its preposition, or the activity itself.
    """
    for child in verb.children:
        if child.dep_ == "xcomp":
            return find_ended_activity(child) or child
        if child.dep_ == "dobj" and _named(child):
            return child
    places = (part for child in verb.children if child.dep_ == "prep" for part in child.children)
    return next((part for part in places if part.dep_ == "pobj" and _named(part)), None)


def _named(noun: Token) -> bool:
    return noun.pos_ in ("NOUN", "PROPN") and noun.ent_type_ not in ("DATE", "TIME")


def _since_then(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    """What has held since an event, or has not."""
    verb = clause.verb
    former = _changed_from(verb)
    if former is not None:
        yield Fact(DID, inner_phrase(clause), words, over=former)
        return
    match verb.lemma_:
        case "bear" | "born" if (place := complement(verb, "in")) is not None and mention is None:
            yield Fact(BORN_IN, phrase(place), words)
        case "move" | "relocate" | "settle" if (
            home := complement(verb, "to") or complement(verb, "in")
        ) is not None and is_name(home):
            yield Fact(WORKS_AT if _about_work(verb) else LIVES_IN, phrase(home, bare=True), words)
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
        case "sell" if (sold := complement(verb, "dobj")) is not None and _named(sold):
            yield Fact(HAS, (sold,), words, negated=True, over=sold)
        case _:
            yield from _employment(verb, words)


def _changed_from(verb: Token) -> Token | None:
    """What was given up for something else.

    Of "we moved from Slack to Teams", Slack; not a place or an employer that is told to be one.
    """
    if verb.lemma_ not in _CHANGING or complement(verb, "dobj") is not None or _about_work(verb):
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
    return former if _named(former) and _named(new) else None


def _about_work(verb: Token) -> bool:
    """Whether a sentence says that it is of work: "I moved to Leeds for a new job"."""
    return any(
        (token.lemma_ in ("work", "quit") and token.pos_ == "VERB") or token.lemma_ in _JOBS
        for token in verb.sent
    )


def _employment(verb: Token, words: tuple[Token, ...]) -> Iterator[Fact]:
    """Jobs begun and left: "got a job at Bosch", "joined Spotify", "switched jobs to Nokia", "quit my job at Tesco"."""
    thing = complement(verb, "dobj")
    job = thing is not None and thing.lemma_ in _JOBS
    employer: Token | None = None
    match verb.lemma_:
        case "get" | "start" | "land" | "accept" | "take" | "find" if job:
            employer = _after(thing, verb, "at", "with")
        case "switch" | "change" | "transfer" if job or (
            thing is None and (verb.lemma_ == "transfer" or _about_work(verb))
        ):
            employer = _after(thing, verb, "to")
        case "start" | "begin" if thing is None:
            employer = _after(None, verb, "at", "with")
        case "join" if (
            thing is not None
            and thing.lemma_.lower() not in _CLUBS
            and (is_name(thing) or thing.ent_type_ == "ORG")
        ):
            employer = thing
        case "quit" | "leave" | "lose" if thing is not None:
            left = (
                _after(thing, verb, "at", "with")
                if job
                else thing
                if thing.ent_type_ == "ORG"
                else None
            )
            if left is not None and not _leaves_something(verb, thing):
                yield Fact(WORKS_AT, phrase(left, bare=True), words, negated=True)
            return
    if employer is not None and (is_name(employer) or job or verb.lemma_ == "join"):
        yield Fact(WORKS_AT, phrase(employer, bare=True), words)


def _after(thing: Token | None, verb: Token, *prepositions: str) -> Token | None:
    """The object of a preposition of the complement or of the verb."""
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


def _told(verb: Token, mention: TimeMention | None) -> bool:
    """Whether an event is worth keeping.

    A kind that always is, or one that is where its time or place is named.
    """
    if verb.lemma_ in INTRANSITIVE_EVENTS or (
        verb.lemma_ == "pass" and any(child.lower_ == "away" for child in verb.children)
    ):
        return True
    if verb.lemma_ == "drop":
        return _ends(verb)
    if verb.lemma_ in _HOMECOMINGS and any(child.lower_ == "back" for child in verb.children):
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
    return placed or (worth and has_informative_complement(verb, mention, dull=frozenset()))


def has_informative_complement(
    verb: Token, mention: TimeMention | None, *, dull: frozenset[str]
) -> bool:
    """Whether a verb says enough.

    It has a complement with a noun, and if dull, a time or a name too.
    """
    nouns = [
        token
        for token in phrase(verb)
        if token.pos_ in ("NOUN", "PROPN")
        and (mention is None or not mention.start <= token.idx < mention.stop)
    ]
    if verb.lemma_ in dull:
        if any(child.lower_ in ("married", "engaged", "divorced") for child in verb.children):
            return True
        return (
            bool(nouns)
            and verb.lemma_ in ("go", "get", "see", "have", "take", "make", "use")
            and (mention is not None or any(is_name(token) for token in nouns))
        )
    return bool(nouns)
