"""Facts of clauses with "be": what someone is, where something is, when something is."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from spacy.tokens import Token

from hotmem.analysis.entities import is_name
from hotmem.analysis.time import Grain, TimeMention, written
from hotmem.analysis.wordlist import wordlist
from hotmem.extraction.clauses import Clause, Tense
from hotmem.extraction.predicates import Fact, complement, covered, joined, phrase, predicate, timed
from hotmem.extraction.relations import (
    ALLERGIC_TO,
    COPULAR,
    DID,
    FAVOURITE,
    IS,
    IS_AGED,
    IS_BORN_ON,
    IS_FROM,
    IS_IN,
    IS_NOW,
    IS_OF_MAKE,
    IS_ON,
    LASTING,
    LIKES,
    NAMEABLE,
    PLANS_TO,
    WANTS,
)
from hotmem.extraction.subjects import Subject

_YEARLY: Final = frozenset({"birthday", "anniversary"})
_EMPTY_ATTRIBUTES: Final = wordlist(
    "bit lot mess one guy person thing way sucker pleasure joke shame pain idea kind sort type problem deal matter fact choice reason "
    "time day week blast bummer treat surprise dream delight mix dude hoot lie question favorite favourite fun challenge place part "
    "example look relief moment people man woman girl boy"
)
_AGE: Final = re.compile(
    r"^(\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?)$"
)


def read_copula(clause: Clause, subject: Subject, mentions: Sequence[TimeMention]) -> Iterator[Fact]:
    """The facts of a clause with "be" in the present tense, and of "have been to"."""
    verb = clause.verb
    words = predicate(clause)
    if verb.lower_ == "been" and (place := complement(verb, "to")) is not None and place.pos_ == "PROPN":
        yield Fact(DID, phrase(place), words)
        return
    value = complement(verb, "attr") or complement(verb, "acomp")
    if clause.frame:
        aimed = clause.frame in ("want", "plan") and clause.tense is not Tense.PAST and not clause.negated
        if aimed and value is not None and value.pos_ == "NOUN":
            yield Fact(WANTS if clause.frame == "want" else PLANS_TO, phrase(value), words)
        return
    always = verb.lower_ == "been" and any(child.lower_ == "always" for child in verb.children)
    if clause.tense is not Tense.PRESENT or (verb.lower_ in ("been", "being") and not always):
        return
    if subject.event:
        yield from (fact for fact in _when_or_where(verb, subject, words, mentions) if fact.relation is IS_ON)
        return
    if "favourite" in subject.key.split():
        if value is not None:
            yield Fact(FAVOURITE, phrase(value), words)
        return
    if value is not None and (age := _age(value)) and subject.alive:
        yield Fact(IS_AGED, (value,), words, object=age)
        return
    if not subject.alive:
        yield from _when_or_where(verb, subject, words, mentions)
    if value is not None and not covered(value, mentions):
        yield from _attribute(clause, value, subject, words)
    elif value is None and (subject.speaker or subject.alive):
        if (origin := complement(verb, "from")) is not None and origin.pos_ == "PROPN":
            yield Fact(IS_FROM, phrase(origin), words)
        if (taste := complement(verb, "into")) is not None:
            yield Fact(LIKES, phrase(taste), words)


def _when_or_where(verb: Token, subject: Subject, words: Sequence[Token], mentions: Sequence[TimeMention]) -> Iterator[Fact]:
    mention = timed(words, mentions)
    if mention is not None and mention.grain is not Grain.SPAN:
        if subject.head in _YEARLY and mention.yearly:
            yield Fact(IS_BORN_ON, (), tuple(words), object=f"{mention.interval.start.day} {mention.interval.start:%B}")
        elif not any(child.dep_ in ("attr", "acomp") and not covered(child, mentions) for child in verb.children):
            yield Fact(IS_ON, (), tuple(words), object=re.sub(r"^(?:on|in) ", "", written(mention)))
    elif (place := complement(verb, "in") or complement(verb, "at")) is not None and place.pos_ == "PROPN":
        yield Fact(IS_IN, phrase(place), tuple(words))


def _attribute(clause: Clause, value: Token, subject: Subject, words: tuple[Token, ...]) -> Iterator[Fact]:
    for prep in value.children:
        relation = COPULAR.get((value.lower_, prep.lower_)) if prep.dep_ == "prep" else None
        target = next((part for part in prep.children if part.dep_ in ("pobj", "pcomp")), None) if relation else None
        if relation is not None and target is not None:
            for one in joined(target) if relation in (ALLERGIC_TO, LIKES) else (target,):
                yield Fact(relation, phrase(one, split=True), predicate(clause, only=one, head=target))
            return
    lemma = value.lemma_.lower()
    if value.pos_ == "ADJ" or value.tag_ in ("VBN", "VBD"):
        if lemma in LASTING or value.lower_ in LASTING:
            yield Fact(IS, phrase(value), words)
        elif value.pos_ == "ADJ" and not subject.speaker and subject.head and subject.alive:
            yield Fact(IS_NOW, phrase(value), words)
    elif value.pos_ == "NOUN" and value.tag_ == "NN":
        if any(child.dep_ == "det" and child.lower_ in ("a", "an") for child in value.children) or lemma in LASTING:
            stranger = not subject.head and not subject.speaker
            plain = clause.subject is not None and clause.subject.ent_type_ == "PERSON" and not any(child.dep_ == "amod" for child in value.children)
            if lemma not in _EMPTY_ATTRIBUTES and (plain or not stranger):
                for one in joined(value):
                    yield Fact(IS, phrase(one, split=True), predicate(clause, only=one, head=value))
    elif value.pos_ == "PROPN" and not subject.speaker and subject.head and is_name(value):
        of_a_make = any(child.dep_ == "det" and child.lower_ in ("a", "an") for child in value.children)
        if of_a_make or (subject.head not in NAMEABLE and value.ent_type_):
            yield Fact(IS if subject.alive else IS_OF_MAKE, phrase(value), words)


def _age(value: Token) -> str:
    """The years of "34", "34 years old" or "five", or nothing."""
    if value.lower_ == "old":
        years = next((child for child in value.children if child.lemma_ == "year"), None)
        number = next((child for child in years.children if child.dep_ == "nummod"), None) if years is not None else None
        return number.text if number is not None else ""
    plain = not any(child.dep_ not in ("punct", "advmod") for child in value.children)
    return value.text if value.pos_ == "NUM" and plain and _AGE.match(value.lower_) and value.i + 1 == _end(value) else ""


def _end(value: Token) -> int:
    """The index after the number, if nothing but "now", the clause's end or a joining word follows."""
    following = value.doc[value.i + 1] if value.i + 1 < len(value.doc) else None
    over = following is None or following.is_punct or following.pos_ in ("CCONJ", "SCONJ") or following.lower_ in ("now", "already", "today")
    return value.i + 1 if over else -1
