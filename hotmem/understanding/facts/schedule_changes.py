"""Schedule changes: events that a text says are cancelled, moved or back on.

"i cancelled my haircut", "the board meeting got moved to the twelfth".
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from hotmem.temporal import find_times
from hotmem.temporal.rescheduling import RESCHEDULING_VERBS
from hotmem.text.stemming import STOP_STEMS, stem, stems
from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.lexicon import EVENT_NOUNS
from hotmem.understanding.query.cues import DIRECT_QUESTION

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
_TIME_STEMS: Final = stems(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december "
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth twentieth thirtieth today tonight tomorrow yesterday day week "
    "weekend month year morning afternoon evening night hour "
    "minute clock"
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
