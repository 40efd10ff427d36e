"""Facts of clauses with "be": identity, attributes, places and dates."""

from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.temporal import Granularity, TimeMention, format_time_bare
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types.understanding import Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.predicates import (
    Fact,
    complement,
    conjuncts,
    first_mention,
    predicate_words,
)
from hotmem.understanding.facts.question_statements import age_of
from hotmem.understanding.facts.relations import (
    ALLERGIC_TO,
    COPULAR_RELATIONS,
    DID,
    FAVOURITE,
    IS,
    IS_AGED,
    IS_BORN_ON,
    IS_DETAIL,
    IS_FROM,
    IS_IN,
    IS_NOW,
    IS_OF_MAKE,
    IS_ON,
    LIKES,
    PLANS_TO,
    WANTS,
    WORKS_AT,
    is_in_mention,
    phrase,
)
from hotmem.understanding.facts.spelled_codes import code_after, spelled_code
from hotmem.understanding.facts.subjects import Subject
from hotmem.understanding.lexicon import (
    DETAIL_NOUNS,
    GOAL_NOUNS,
    HOBBY_NOUNS,
    LASTING_ADJECTIVES,
    NAMEABLE_NOUNS,
    TRAIT_ADJECTIVES,
)
from hotmem.understanding.query.entities import is_name

_WORDS: Final = word_sets(__file__)

_ANNIVERSARIES: Final = frozenset({"birthday", "anniversary"})
_EMPTY_NOUNS: Final = _WORDS["empty_nouns"]
_PERSON_NOUNS: Final = wordlist("person people man woman girl boy guy lady kid dude")
_GENDER_NOUNS: Final = wordlist("man woman girl boy guy lady")
_PARTITIVE_NOUNS: Final = wordlist("bit part member sort kind type")
"""Nouns that mean something only with "of" and a noun."""

_MOOD_ADJECTIVES: Final = _WORDS["mood_adjectives"]
"""Adjectives of a passing mood."""

_PRESENT_ADVERBS: Final = frozenset(
    {"now", "currently", "nowadays", "still", "more", "longer", "anymore", "days"}
)
_EVALUATIVE_ADJECTIVES: Final = _WORDS["evaluative_adjectives"]
_SITUATION_PREPOSITIONS: Final = wordlist("in at on with under near between off")
_FIGURATIVE_NOUNS: Final = _WORDS["figurative_nouns"]
"""Nouns that are idiomatic or empty after a preposition: "on my way", "in the mood"."""


def read_copula(
    clause: Clause, subject: Subject, mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Yield the facts of a clause with "be", including "have been to".

    Args:
        clause: The clause.
        subject: Its resolved subject.
        mentions: The times in the utterance.
    """
    verb = clause.verb
    words = predicate_words(clause)
    if (
        verb.lower_ == "been"
        and (place := complement(verb, "to")) is not None
        and _is_informative(place, mentions)
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
            yield from _read_former(clause, value, words, mentions)
        return
    if clause.tense is not Tense.PRESENT or clause.frame or verb.lower_ == "being":
        return
    if verb.lower_ == "been" and not always and not _is_lasting(value):
        if subject.alive:
            yield from _read_situation(verb, words, mentions)
        return
    if subject.event:
        yield from (
            fact
            for fact in _read_time_or_place(verb, subject, words, mentions)
            if fact.relation is IS_ON
        )
        return
    if "favourite" in subject.key.split():
        if value is not None:
            yield Fact(FAVOURITE, phrase(value), words)
        return
    if value is not None and (age := age_of(value)) and subject.alive:
        yield Fact(IS_AGED, (value,), words, object=age)
        return
    digits: tuple[Token, ...] = ()
    if subject.head in DETAIL_NOUNS:
        digits = () if clause.negated else code_after(verb)
        digits = digits or (spelled_code(value) if value is not None else ())
    if digits:
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
        found = tuple(_read_time_or_place(verb, subject, words, mentions))
        yield from found
        if found:
            return
    if value is not None and subject.head in DETAIL_NOUNS and not is_in_mention(value, mentions):
        yield Fact(IS_DETAIL, phrase(value), words)
    elif value is not None and not is_in_mention(value, mentions):
        yield from _read_attribute(clause, value, subject, words, mentions)
    elif value is None and (subject.speaker or subject.alive):
        yield from _read_prepositional(verb, subject, words, mentions)


def _read_prepositional(
    verb: Token, subject: Subject, words: tuple[Token, ...], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Read "be" with a preposition: an origin, a taste, an employer or a situation."""
    if (origin := complement(verb, "from")) is not None and origin.pos_ == "PROPN":
        yield Fact(IS_FROM, phrase(origin), words)
    elif (taste := complement(verb, "into")) is not None:
        yield Fact(LIKES, phrase(taste), words)
    elif (
        (employer := complement(verb, "at")) is not None
        and is_name(employer)
        and _is_employer(employer, verb)
    ):
        yield Fact(WORKS_AT, phrase(employer, bare=True), words)
    else:
        yield from _read_situation(verb, words, mentions)


def _is_employer(place: Token, verb: Token) -> bool:
    """Whether "at Bosch" names an employer: an organisation, or a name with "now" or "any more"."""
    if place.ent_type_ in ("GPE", "LOC", "FAC", "DATE", "TIME"):
        return False
    return place.ent_type_ == "ORG" or any(
        child.lower_ in _PRESENT_ADVERBS for child in verb.children
    )


def _read_former(
    clause: Clause, value: Token | None, words: tuple[Token, ...], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Read a past state: "I was a baker for ten years", "I used to be in a band"."""
    if value is None:
        yield from (
            Fact(DID, fact.value, words) for fact in _read_situation(clause.verb, words, mentions)
        )
    elif (
        value.pos_ == "NOUN" and _is_indefinite(value) and value.lemma_.lower() not in _EMPTY_NOUNS
    ) or value.lemma_.lower() in LASTING_ADJECTIVES:
        yield Fact(DID, phrase(value), words)


def _read_situation(
    verb: Token, words: tuple[Token, ...], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Read a situation, as preposition and noun: "in law school", "on a gluten-free diet"."""
    for prep in verb.children:
        if prep.dep_ != "prep" or prep.lower_ not in _SITUATION_PREPOSITIONS:
            continue
        noun = next((child for child in prep.children if child.dep_ == "pobj"), None)
        if noun is not None and _is_informative(noun, mentions):
            yield Fact(IS_NOW, (prep, *phrase(noun)), words)
            return


def _is_informative(noun: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether a noun after a preposition names a place or state and is no idiom."""
    return (
        noun.pos_ in ("NOUN", "PROPN")
        and noun.lemma_.lower() not in _FIGURATIVE_NOUNS
        and not is_in_mention(noun, mentions)
    )


def _is_indefinite(value: Token) -> bool:
    return any(child.dep_ == "det" and child.lower_ in ("a", "an") for child in value.children)


def _is_lasting(value: Token | None) -> bool:
    return value is not None and (
        value.lemma_.lower() in LASTING_ADJECTIVES
        or value.lower_ in LASTING_ADJECTIVES
        or (value.tag_ == "NN" and _is_indefinite(value))
    )


def _read_time_or_place(
    verb: Token, subject: Subject, words: Sequence[Token], mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    mention = first_mention(words, mentions)
    if mention is not None and mention.granularity is not Granularity.SPAN:
        if subject.head in _ANNIVERSARIES and mention.yearly:
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


def _read_attribute(
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
    if not subject.alive and value.ent_type_ in ("ORG", "PRODUCT") and _is_indefinite(value):
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
            _has_topic(value, mentions)
            if subject.speaker
            else subject.head and lemma not in _EVALUATIVE_ADJECTIVES
        ):
            yield Fact(IS_NOW, phrase(value), words)
    elif value.pos_ == "NOUN" and value.tag_ == "NN":
        if (
            _is_indefinite(value)
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
            if not _is_uninformative(value, subject) and (plain or not stranger):
                for one in conjuncts(value):
                    if one != value and _has_possessor(one) and not _has_possessor(value):
                        return
                    yield Fact(
                        IS, phrase(one, split=True), predicate_words(clause, only=one, head=value)
                    )
    elif value.tag_ == "NNS" and subject.plural and subject.head and lemma not in _EMPTY_NOUNS:
        yield Fact(IS, phrase(value), words)
    elif value.pos_ == "PROPN" and not subject.speaker and subject.head and is_name(value):
        of_a_make = _is_indefinite(value)
        if of_a_make or (subject.head not in NAMEABLE_NOUNS and value.ent_type_):
            yield Fact(IS if subject.alive else IS_OF_MAKE, phrase(value), words)


def _has_possessor(value: Token) -> bool:
    """Whether a noun has a possessor.

    After a noun without one it begins another clause: "my son is a doctor and my daughter a nurse".
    """
    return any(child.dep_ == "poss" for child in value.children)


def _is_uninformative(value: Token, subject: Subject) -> bool:
    """Whether a noun says nothing of its subject: "a person" does not, "a morning person" does."""
    lemma = value.lemma_.lower()
    if lemma in _PERSON_NOUNS and subject.alive:
        return lemma not in _GENDER_NOUNS and not any(
            child.dep_ in ("amod", "compound", "nmod") for child in value.children
        )
    if lemma in _PARTITIVE_NOUNS:
        return not any(
            part.pos_ in ("NOUN", "PROPN")
            for child in value.children
            if child.lower_ == "of"
            for part in child.children
        )
    return lemma in _EMPTY_NOUNS


def _has_topic(value: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether an adjective has a complement: "terrible at cooking", "close to my parents"."""
    if value.lemma_.lower() in _MOOD_ADJECTIVES:
        return False
    return any(
        part.dep_ in ("pobj", "pcomp") and (part.tag_ == "VBG" or _is_informative(part, mentions))
        for prep in value.children
        if prep.dep_ == "prep"
        for part in prep.children
    )
