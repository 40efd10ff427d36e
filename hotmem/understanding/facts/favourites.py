"""Favourites in subject position: "pizza is my favourite food", "Tupac is my favourite"."""

from dataclasses import replace

from hotmem.types import Statement
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.phrases import is_self_contained, phrase
from hotmem.understanding.facts.predicates import complement
from hotmem.understanding.facts.relations import FAVOURITE, LIKES
from hotmem.understanding.facts.subjects import possession
from hotmem.understanding.facts.third_person import (
    FIRST_PERSON_POSSESSIVES,
    sentence,
    to_third_person,
)

_FAVOURITE_WORDS = frozenset({"favourite", "favorite", "fave", "favourites", "favorites"})


def read_favourite(clause: Clause, speaker: str) -> Statement | None:
    """Return the statement of a clause that calls its subject a favourite; None for other clauses.

    Args:
        clause: The clause.
        speaker: The speaker's name.
    """
    if (
        clause.subject is None
        or not clause.copular
        or clause.negated
        or clause.tense is not Tense.PRESENT
    ):
        return None
    called = complement(clause.verb, "attr") or complement(clause.verb, "acomp")
    named = phrase(clause.subject)
    if (
        called is None
        or clause.subject.pos_ not in ("NOUN", "PROPN")
        or clause.subject.tag_ == "WP"
        or not is_self_contained(named, ())
    ):
        return None
    kind = _favourite_of(called, speaker)
    if kind is None or any(
        token.lower_ in (*FIRST_PERSON_POSSESSIVES, *_FAVOURITE_WORDS) for token in named
    ):
        return None
    value = to_third_person(named, speaker)
    are = "is" if clause.subject.tag_ in ("NN", "NNP") else "are"
    text = sentence(kind, "is", value) if kind else sentence(value, are, "a favourite of", speaker)
    statement = (FAVOURITE if kind else LIKES).statement(
        kind or speaker, value, text, named[0].idx, called.idx + len(called)
    )
    return replace(statement, entities=(value,) if clause.subject.pos_ == "PROPN" else ())


def _favourite_of(called: Token, speaker: str) -> str | None:
    """Return the category of a favourite: "Ana's favourite food".

    "" if there is no category or it is one of several; None if it is no favourite.
    """
    several = next(
        (
            part
            for child in called.children
            if child.lower_ == "of"
            for part in child.children
            if part.dep_ == "pobj"
        ),
        None,
    )
    if called.lower_ == "one" and several is not None:
        return "" if _favourite_of(several, speaker) is not None else None
    if not any(
        child.dep_ == "poss" and child.lower_ in FIRST_PERSON_POSSESSIVES
        for child in called.children
    ):
        return None
    if called.lower_ in _FAVOURITE_WORDS:
        return ""
    return (
        possession(called, speaker)
        if any(child.lower_ in _FAVOURITE_WORDS for child in called.children)
        else None
    )
