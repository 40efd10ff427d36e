"""Predicates: the words of a clause, its complements and its times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types.understanding import Token
from hotmem.understanding.facts.clauses import Clause, Tense, misattached_verb
from hotmem.understanding.facts.relations import (
    DID,
    DOES,
    HAS,
    LEFT_OUT,
    WANTS,
    Relation,
    is_discourse,
    phrase,
)
from hotmem.understanding.facts.subjects import Subject

_PLACES: Final = frozenset({"there", "here"})


@dataclass(frozen=True, slots=True)
class Fact:
    """What a clause says of its subject, before it is put into the third person.

    Attributes:
        relation: The relation.
        value: Tokens of the object, in order; may be empty.
        words: Tokens of the whole predicate, in order.
        object: The object, if it is not the text of `value`: a date, for example.
        negated: Overrides the polarity of the clause if given.
        over: The word for what has ended, if facts of other relations end with it.
    """

    relation: Relation
    value: tuple[Token, ...]
    words: tuple[Token, ...]
    object: str = ""
    negated: bool | None = None
    over: Token | None = None


def predicate_words(
    clause: Clause, *, only: Token | None = None, head: Token | None = None
) -> tuple[Token, ...]:
    """Return the words of a clause without its subject, other clauses and discourse words.

    Args:
        clause: The clause.
        only: The one conjunct to keep; the others are left out.
        head: The complement that `only` is coordinated with.
    """
    kept: set[Token] = {clause.finite, clause.verb}
    opening = (
        0
        if clause.subject is None
        else clause.subject.left_edge.i
        if clause.subject.pos_ != "PRON"
        else clause.subject.i
    )
    if clause.subject is not None and clause.subject.head not in (
        clause.finite,
        clause.verb,
        clause.finite.head,
    ):
        opening = 0
    for verb in dict.fromkeys(
        (
            clause.finite.head if clause.finite.dep_ in ("aux", "auxpass") else clause.finite,
            clause.verb,
        )
    ):
        kept.add(verb)
        for child in verb.children:
            if (
                child.dep_ not in LEFT_OUT
                and child.dep_ != "xcomp"
                and not child.is_punct
                and not is_discourse(child)
            ) or (
                child.dep_ == "xcomp" and child != clause.verb and _is_outside_clause(child, clause)
            ):
                kept.update(phrase(child))
    if only is not None and head is not None:
        kept -= set(head.subtree)
        kept.update(phrase(only, split=True))
    before = {token for token in kept if token.i < opening}
    front = sorted((token for token in before if _is_time(token)), key=lambda token: token.i)
    return (*sorted(kept - before, key=lambda token: token.i), *front)


def inner_phrase(clause: Clause) -> tuple[Token, ...]:
    """Return the verb and its dependents, without auxiliaries and subject."""
    return tuple(
        token
        for token in phrase(clause.verb)
        if token.dep_ not in ("aux", "auxpass", "neg") or token.head != clause.verb
    )


def _is_time(token: Token) -> bool:
    """Whether a word before the subject is a time; others are discourse ("Besides")."""
    return token.ent_type_ in ("DATE", "TIME") or any(
        child.ent_type_ in ("DATE", "TIME") for child in token.children if child.dep_ == "pobj"
    )


def conjuncts(head: Token) -> tuple[Token, ...]:
    """Return a complement and its conjuncts, if all are of the same part of speech."""
    others = [
        token for token in head.conjuncts if token.i > head.i and misattached_verb(token) is None
    ]
    if all(
        token.pos_ in ("NOUN", "PROPN", "X") or token.tag_ == head.tag_ == "VBG" for token in others
    ) and (head.pos_ != "VERB" or head.tag_ == "VBG"):
        return (head, *others)
    return (head,)


def complement(verb: Token, slot: str) -> Token | None:
    """Return the head of a complement.

    Args:
        verb: The verb.
        slot: "dobj", "xcomp", "attr", "acomp", or a preposition.
    """
    for child in verb.children:
        if child.dep_ == slot or (
            slot == "dobj"
            and child.dep_ == "punct"
            and child.pos_ in ("NOUN", "PROPN")
            and child.i > verb.i
        ):
            return child
        if child.dep_ in ("prep", "agent") and child.lower_ == slot:
            return next((part for part in child.children if part.dep_ in ("pobj", "pcomp")), None)
        if child.dep_ == "prt":
            for prep in child.children:
                if prep.dep_ == "prep" and prep.lower_ == slot:
                    return next((part for part in prep.children if part.dep_ == "pobj"), None)
    return None


def first_mention(words: Sequence[Token], mentions: Sequence[TimeMention]) -> TimeMention | None:
    """Return the first time among the words."""
    return next(
        (
            mention
            for mention in mentions
            if any(mention.start <= token.idx < mention.stop for token in words)
        ),
        None,
    )


def has_deictic_place(verb: Token) -> bool:
    """Whether the verb has "there" or "here"."""
    return any(child.lower_ in _PLACES for child in verb.children)


def _is_outside_clause(child: Token, clause: Clause) -> bool:
    return clause.verb not in child.subtree and child not in clause.verb.ancestors


_WORDS: Final = word_sets(__file__)

_EMPTY_VERBS: Final = _WORDS["empty_verbs"]
"""Verbs about the conversation, or without meaning of their own."""

_EMPTY_NOUNS: Final = _WORDS["empty_nouns"]
"""Nouns that say nothing as a possession or an object."""

_DEICTIC_DETERMINERS: Final = wordlist("this that these those any more such your his her their its")
"""Determiners whose noun is known only from the conversation."""


def read_general_verb(
    clause: Clause, subject: Subject, mentions: Sequence[TimeMention]
) -> Iterator[Fact]:
    """Yield the fact of a clause that fits no table, if it is informative.

    Args:
        clause: The clause; its verb is not "be".
        subject: Its resolved subject; only people and pets have such facts.
        mentions: The times in the utterance.
    """
    verb = clause.verb
    if (
        not subject.alive
        or (clause.subject is None and clause.finite.tag_ == "VBG" and not clause.frame)
        or clause.frame not in ("", "want", "used")
        or clause.tense is Tense.FUTURE
        or (verb.lemma_ in _EMPTY_VERBS and verb.lemma_ != "get")
    ):
        return
    words, inner = predicate_words(clause), inner_phrase(clause)
    mention = first_mention(words, mentions)
    head = complement(verb, "dobj")
    if verb.lemma_ in ("have", "own") or (verb.lower_ == "got" and clause.tense is Tense.PRESENT):
        if (
            head is not None
            and clause.frame in ("", "used")
            and verb.tag_ != "VBG"
            and _is_informative(head)
        ):
            yield Fact(HAS if clause.tense is Tense.PRESENT else DID, phrase(head), words)
        return
    if (
        verb.lemma_ == "get"
        and clause.tense is Tense.PAST
        and clause.frame == ""
        and head is not None
        and _is_informative(head)
    ):
        yield Fact(DID, inner, words)
        return
    if verb.lemma_ == "get" or not any(
        _is_informative(token)
        for token in inner
        if mention is None or not mention.start <= token.idx < mention.stop
    ):
        return
    relation = DID if clause.tense is Tense.PAST else WANTS if clause.frame == "want" else DOES
    yield Fact(relation, inner, words)


def _is_informative(token: Token) -> bool:
    """Whether a word is a noun or name that is meaningful by itself."""
    if (
        token.pos_ not in ("NOUN", "PROPN")
        or token.lemma_.lower() in _EMPTY_NOUNS
        or token.ent_type_ in ("DATE", "TIME", "CARDINAL", "ORDINAL")
    ):
        return False
    if (
        token.dep_ == "dobj"
        and token.tag_ in ("NN", "NNS")
        and [child.lower_ for child in token.children] == ["the"]
        and not _has_preposition(token.head)
    ):
        return False
    return not any(child.lower_ in _DEICTIC_DETERMINERS for child in token.children)


def _has_preposition(verb: Token) -> bool:
    """Whether the verb has a prepositional phrase, which makes its object generic.

    "the train" in "I take the train to work".
    """
    return any(child.dep_ == "prep" for child in verb.children)
