"""Facts of clauses with "be": what someone is, where something is, when something is."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.temporal import Granularity, TimeMention, format_time_bare
from hotmem.text.numerals import ONES, TENS
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.predicates import (
    Fact,
    complement,
    conjuncts,
    first_mention,
    is_in_mention,
    phrase,
    predicate_words,
)
from hotmem.understanding.facts.relations import (
    ALLERGIC_TO,
    COPULAR_RELATIONS,
    DETAIL_NOUNS,
    DID,
    FAVOURITE,
    GOAL_NOUNS,
    HOBBY_NOUNS,
    IS,
    IS_AGED,
    IS_BORN_ON,
    IS_DETAIL,
    IS_FROM,
    IS_IN,
    IS_NOW,
    IS_OF_MAKE,
    IS_ON,
    LASTING_ADJECTIVES,
    LIKES,
    NAMEABLE_NOUNS,
    PLANS_TO,
    TRAIT_ADJECTIVES,
    WANTS,
    WORKS_AT,
)
from hotmem.understanding.facts.spelled_codes import spelled_code
from hotmem.understanding.facts.subjects import Subject
from hotmem.understanding.query.entities import is_name

_YEARLY: Final = frozenset({"birthday", "anniversary"})
_EMPTY_ATTRIBUTES: Final = wordlist(
    "bit lot mess one guy person thing way sucker pleasure joke shame pain idea kind sort type problem deal matter fact choice reason "
    "time day week blast bummer treat surprise dream delight mix dude hoot lie question favorite favourite fun challenge place part "
    "example look relief moment people man woman girl boy"
)
_KINDS_OF_PEOPLE: Final = wordlist("person people man woman girl boy guy lady kid dude")
_SEXES: Final = wordlist("man woman girl boy guy lady")
_MEASURES: Final = wordlist("bit part member sort kind type")
"""Nouns that count with what follows "of"."""

_MOODS: Final = wordlist(
    "sure glad sorry happy excited aware ready able curious surprised grateful thankful jealous confident certain okay ok fine"
)
"""Adjectives of the moment and of the conversation, whatever they are about."""

_NOWADAYS: Final = frozenset(
    {"now", "currently", "nowadays", "still", "more", "longer", "anymore", "days"}
)
_PRAISE: Final = wordlist(
    "great good nice awesome amazing cool beautiful perfect fun wonderful lovely well same right wrong true sure glad sorry fine okay ok bad"
)
_SITUATED: Final = wordlist("in at on with under near between off")
_FIGURES: Final = wordlist(
    "way mood luck trouble hurry shock boat situation page time phone board fence case point question verge lookout line fact agreement awe favor "
    "favour hold move side kind sort bit end moment top position home bed work run thing thought opinion mind process middle idea day week night "
    "morning evening weekend computer first least most all other reason risk"
)
"""Nouns that after a preposition are figures of speech or tell nothing: "on my way", "in the
mood"."""

_AGE: Final = re.compile(rf"\d{{1,3}}|{'|'.join(ONES[1:])}|(?:{'|'.join(TENS)})(?:-\w+)?")


def read_copula(
    clause: Clause, subject: Subject, mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """The facts of a clause with "be".

    What someone is or was, where, when, and of "have been to".
    """
    verb = clause.verb
    words = predicate_words(clause)
    if (
        verb.lower_ == "been"
        and (place := complement(verb, "to")) is not None
        and _names_something(place, mentions)
    ):
        yield Fact(DID, phrase(place), words)
        return
    if subject.head in GOAL_NOUNS:
        aim = complement(verb, "xcomp") or complement(verb, "ccomp")
        if aim is not None and clause.tense is Tense.PRESENT and aim.tag_ in ("VB", "VBG"):
            yield Fact(
                WANTS,
                phrase(aim),
                (*words, *(token for token in phrase(aim) if token not in words)),
            )
        return
    value = complement(verb, "attr") or complement(verb, "acomp")
    if clause.frame in ("want", "plan"):
        aimed = clause.tense is not Tense.PAST and not clause.negated
        if aimed and value is not None and value.pos_ == "NOUN":
            yield Fact(WANTS if clause.frame == "want" else PLANS_TO, phrase(value), words)
        return
    always = verb.lower_ == "been" and any(child.lower_ == "always" for child in verb.children)
    if clause.tense is Tense.PAST or clause.frame == "used":
        if subject.alive:
            yield from _former(clause, value, words, mentions)
        return
    if clause.tense is not Tense.PRESENT or clause.frame or verb.lower_ == "being":
        return
    if verb.lower_ == "been" and not always and not _lasting(value):
        if subject.alive:
            yield from _situation(verb, words, mentions)
        return
    if subject.event:
        yield from (
            fact
            for fact in _when_or_where(verb, subject, words, mentions)
            if fact.relation is IS_ON
        )
        return
    if "favourite" in subject.key.split():
        if value is not None:
            yield Fact(FAVOURITE, phrase(value), words)
        return
    if value is not None and (age := _age(value)) and subject.alive:
        yield Fact(IS_AGED, (value,), words, object=age)
        return
    if value is not None and subject.head in DETAIL_NOUNS and (digits := spelled_code(value)):
        before = [token for token in words if token.i < digits[0].i]
        if not any(token.pos_ in ("NOUN", "PROPN", "ADJ") for token in before):
            yield Fact(
                IS_DETAIL,
                digits,
                (*before, *digits),
                object=verb.doc[digits[0].i : digits[-1].i + 1].text,
            )
        return
    if not subject.alive:
        found = tuple(_when_or_where(verb, subject, words, mentions))
        yield from found
        if found:
            return
    if value is not None and subject.head in DETAIL_NOUNS and not is_in_mention(value, mentions):
        yield Fact(IS_DETAIL, phrase(value), words)
    elif value is not None and not is_in_mention(value, mentions):
        yield from _attribute(clause, value, subject, words, mentions)
    elif value is None and (subject.speaker or subject.alive):
        yield from _whereabouts(verb, subject, words, mentions)


def _whereabouts(
    verb: Token, subject: Subject, words: tuple[Token, ...], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Of "be" with a preposition: an origin, a taste, an employer, a state of affairs."""
    if (origin := complement(verb, "from")) is not None and origin.pos_ == "PROPN":
        yield Fact(IS_FROM, phrase(origin), words)
    elif (taste := complement(verb, "into")) is not None:
        yield Fact(LIKES, phrase(taste), words)
    elif (
        (employer := complement(verb, "at")) is not None
        and is_name(employer)
        and _employs(employer, verb)
    ):
        yield Fact(WORKS_AT, phrase(employer, bare=True), words)
    else:
        yield from _situation(verb, words, mentions)


def _employs(place: Token, verb: Token) -> bool:
    """Whether "at Bosch" is where someone works.

    A firm, or a name that is said to hold now or no more.
    """
    if place.ent_type_ in ("GPE", "LOC", "FAC", "DATE", "TIME"):
        return False
    return place.ent_type_ == "ORG" or any(child.lower_ in _NOWADAYS for child in verb.children)


def _former(
    clause: Clause, value: Token | None, words: tuple[Token, ...], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """What someone was or where: "I was a baker for ten years", "I used to be in a band"."""
    if value is None:
        yield from (
            Fact(DID, fact.value, words) for fact in _situation(clause.verb, words, mentions)
        )
    elif (
        value.pos_ == "NOUN"
        and _indefinite(value)
        and value.lemma_.lower() not in _EMPTY_ATTRIBUTES
    ) or value.lemma_.lower() in LASTING_ADJECTIVES:
        yield Fact(DID, phrase(value), words)


def _situation(
    verb: Token, words: tuple[Token, ...], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Where someone stands, by preposition and noun: "in law school", "on a gluten-free diet"."""
    for prep in verb.children:
        if prep.dep_ != "prep" or prep.lower_ not in _SITUATED:
            continue
        noun = next((child for child in prep.children if child.dep_ == "pobj"), None)
        if noun is not None and _names_something(noun, mentions):
            yield Fact(IS_NOW, (prep, *phrase(noun)), words)
            return


def _names_something(noun: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether a noun after a preposition tells a place or a state, not a figure of speech."""
    return (
        noun.pos_ in ("NOUN", "PROPN")
        and noun.lemma_.lower() not in _FIGURES
        and not is_in_mention(noun, mentions)
    )


def _indefinite(value: Token) -> bool:
    return any(child.dep_ == "det" and child.lower_ in ("a", "an") for child in value.children)


def _lasting(value: Token | None) -> bool:
    return value is not None and (
        value.lemma_.lower() in LASTING_ADJECTIVES
        or value.lower_ in LASTING_ADJECTIVES
        or (value.tag_ == "NN" and _indefinite(value))
    )


def _when_or_where(
    verb: Token, subject: Subject, words: Sequence[Token], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    mention = first_mention(words, mentions)
    if mention is not None and mention.granularity is not Granularity.SPAN:
        if subject.head in _YEARLY and mention.yearly:
            yield Fact(
                IS_BORN_ON, (), tuple(words), object=f"{mention.local[0].day} {mention.local[0]:%B}"
            )
        elif not any(
            child.dep_ in ("attr", "acomp") and not is_in_mention(child, mentions)
            for child in verb.children
        ):
            yield Fact(IS_ON, (), tuple(words), object=format_time_bare(mention))
    elif (
        place := complement(verb, "in") or complement(verb, "at")
    ) is not None and place.pos_ == "PROPN":
        yield Fact(IS_IN, phrase(place), tuple(words))


def _attribute(
    clause: Clause,
    value: Token,
    subject: Subject,
    words: tuple[Token, ...],
    mentions: Sequence[TimeMention],
) -> Iterator[Fact]:
    for prep in value.children:
        relation = (
            COPULAR_RELATIONS.get((value.lower_, prep.lower_)) if prep.dep_ == "prep" else None
        )
        target = (
            next((part for part in prep.children if part.dep_ in ("pobj", "pcomp")), None)
            if relation
            else None
        )
        if relation is not None and target is not None:
            for one in conjuncts(target) if relation in (ALLERGIC_TO, LIKES) else (target,):
                yield Fact(
                    relation,
                    phrase(one, split=True),
                    predicate_words(clause, only=one, head=target),
                )
            return
    lemma = value.lemma_.lower()
    if not subject.alive and value.ent_type_ in ("ORG", "PRODUCT") and _indefinite(value):
        yield Fact(IS_OF_MAKE, phrase(value), words)
        return
    if subject.head in HOBBY_NOUNS and value.pos_ in ("NOUN", "VERB"):
        yield from (
            Fact(LIKES, phrase(one, split=True), predicate_words(clause, only=one, head=value))
            for one in conjuncts(value)
        )
        return
    if value.pos_ == "ADJ" or value.tag_ in ("VBN", "VBD"):
        if (
            lemma in LASTING_ADJECTIVES
            or value.lower_ in LASTING_ADJECTIVES
            or lemma in TRAIT_ADJECTIVES
            or (value.ent_type_ == "NORP" and subject.alive)
        ):
            yield Fact(IS, phrase(value), words)
        elif value.pos_ == "ADJ" and (
            _concerns(value, mentions) if subject.speaker else subject.head and lemma not in _PRAISE
        ):
            yield Fact(IS_NOW, phrase(value), words)
    elif value.pos_ == "NOUN" and value.tag_ == "NN":
        if (
            _indefinite(value)
            or clause.negated
            or lemma in LASTING_ADJECTIVES
            or any(child.dep_ == "prep" and child.lower_ == "of" for child in value.children)
        ):
            stranger = not subject.head and not subject.speaker
            plain = (
                clause.subject is not None
                and clause.subject.ent_type_ == "PERSON"
                and not any(child.dep_ == "amod" for child in value.children)
            )
            if not _says_nothing(value, subject) and (plain or not stranger):
                for one in conjuncts(value):
                    if one != value and _owned(one) and not _owned(value):
                        return
                    yield Fact(
                        IS, phrase(one, split=True), predicate_words(clause, only=one, head=value)
                    )
    elif value.tag_ == "NNS" and subject.plural and subject.head and lemma not in _EMPTY_ATTRIBUTES:
        yield Fact(IS, phrase(value), words)
    elif value.pos_ == "PROPN" and not subject.speaker and subject.head and is_name(value):
        of_a_make = _indefinite(value)
        if of_a_make or (subject.head not in NAMEABLE_NOUNS and value.ent_type_):
            yield Fact(IS if subject.alive else IS_OF_MAKE, phrase(value), words)


def _owned(value: Token) -> bool:
    """Whether it is somebody's.

    Beside what is nobody's it begins another statement: "my son is a doctor and my daughter a
    nurse".
    """
    return any(child.dep_ == "poss" for child in value.children)


def _says_nothing(value: Token, subject: Subject) -> bool:
    """Whether a noun tells nothing of whom it is said of.

    "a morning person" does, "a person" does not.
    """
    lemma = value.lemma_.lower()
    if lemma in _KINDS_OF_PEOPLE and subject.alive:
        return lemma not in _SEXES and not any(
            child.dep_ in ("amod", "compound", "nmod") for child in value.children
        )
    if lemma in _MEASURES:
        return not any(
            part.pos_ in ("NOUN", "PROPN")
            for child in value.children
            if child.lower_ == "of"
            for part in child.children
        )
    return lemma in _EMPTY_ATTRIBUTES


def _concerns(value: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether an adjective says what it is about: "terrible at cooking", "close to my parents"."""
    if value.lemma_.lower() in _MOODS:
        return False
    return any(
        part.dep_ in ("pobj", "pcomp") and (part.tag_ == "VBG" or _names_something(part, mentions))
        for prep in value.children
        if prep.dep_ == "prep"
        for part in prep.children
    )


def _age(value: Token) -> str:
    """The years of "34", "thirty-four", "34 years old" or "five", or nothing."""
    if value.lower_ == "old":
        years = next((child for child in value.children if child.lemma_ == "year"), None)
        number = (
            next((child for child in years.children if child.dep_ == "nummod"), None)
            if years is not None
            else None
        )
        return number.text if number is not None else ""
    words = value.doc[value.left_edge.i : value.i + 1]
    years_told = (
        words.text if all(token.pos_ in ("NUM", "PUNCT") for token in words) else value.text
    )
    plain = not any(
        child.dep_ not in ("punct", "advmod", "compound", "nummod") for child in value.children
    )
    return (
        years_told
        if value.pos_ == "NUM"
        and plain
        and _AGE.fullmatch(years_told.lower())
        and value.i + 1 == _end(value)
        else ""
    )


def _end(value: Token) -> int:
    """The index after the number, if nothing but "now", the clause's end or a joining word follows."""
    following = value.doc[value.i + 1] if value.i + 1 < len(value.doc) else None
    over = (
        following is None
        or following.is_punct
        or following.pos_ in ("CCONJ", "SCONJ")
        or following.lower_ in ("now", "already", "today")
    )
    return value.i + 1 if over else -1
