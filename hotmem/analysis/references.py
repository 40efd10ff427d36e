"""What an ambiguous utterance may stand for: the salient nouns and names of the recent turns.

A candidate's salience is its recency halved with every turn back, times its role in the sentence (subject over object over the rest, the order of
centering theory: Grosz, Joshi and Weinstein 1995), with a bonus for names.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from spacy.tokens import Doc, Token

from hotmem.analysis.entities import find_entities
from hotmem.analysis.wordlist import wordlist

MOST_TURNS: Final = 10
"""Recent turns looked at (the design's number)."""

MOST_TERMS: Final = 3
"""Phrases an utterance is expanded by."""

_ROLE: Final = {
    "nsubj": 1.0,
    "nsubjpass": 1.0,
    "dobj": 0.9,
    "attr": 0.8,
    "oprd": 0.8,
    "appos": 0.8,
    "ROOT": 0.8,
    "pobj": 0.7,
    "conj": 0.7,
    "dative": 0.7,
}
_DECAY: Final = 0.6
_LEAST: Final = 0.12
_SINGULAR_PEOPLE: Final = wordlist("he she him her his hers himself herself")
_PEOPLE: Final = wordlist("they them their theirs themselves")
_PLACES: Final = frozenset({"here", "there"})
_KIN: Final = wordlist(
    "sister brother mother father mom dad mum wife husband partner girlfriend boyfriend son daughter friend boss colleague coworker "
    "roommate flatmate neighbour neighbor cousin aunt uncle grandmother grandfather grandma grandpa niece nephew teacher doctor "
    "therapist coach kid child baby dog cat woman man girl boy guy lady"
)
_EMPTY: Final = wordlist(
    "thing things stuff lot bit way time times day days week weeks month months year years one ones kind sort something anything "
    "everything nothing someone anyone everyone morning evening night afternoon today tomorrow yesterday hour hours minute minutes "
    "question answer idea guess fun course thanks thank problem name names word words people person"
)


def expand(doc: Doc, ambiguous: Sequence[str], recent: Sequence[Doc]) -> tuple[str, ...]:
    """Words from the recent turns that the ambiguous ones may stand for.

    Args:
        doc: The utterance.
        ambiguous: Its words that point elsewhere, from `find_ambiguous`.
        recent: The turns before it, oldest first; the last `MOST_TURNS` are used.

    Returns:
        At most `MOST_TERMS` phrases, most salient first; empty when nothing fits or nothing is ambiguous.
    """
    if not ambiguous:
        return ()
    own = {token.lemma_.lower() for token in doc}
    salience: dict[str, float] = {}
    for back, turn in enumerate(reversed(recent[-MOST_TURNS:])):
        for phrase, head, weight in _candidates(turn):
            if head.lemma_.lower() not in own and _fits(head, ambiguous):
                salience[phrase] = salience.get(phrase, 0.0) + weight * _DECAY**back
    best = sorted(salience, key=salience.__getitem__, reverse=True)
    return tuple(phrase for phrase in best[:MOST_TERMS] if salience[phrase] >= max(_LEAST, 0.4 * salience[best[0]]))


def _candidates(turn: Doc) -> Iterator[tuple[str, Token, float]]:
    names = {word for name in find_entities(turn) for word in name.split()}
    for token in turn:
        if token.dep_ == "compound" or token.pos_ not in ("NOUN", "PROPN") or token.ent_type_ in ("DATE", "TIME", "CARDINAL", "ORDINAL"):
            continue
        if token.lemma_.lower() in _EMPTY or token.is_stop or not token.is_alpha or len(token) < 2:
            continue
        words = [child.text for child in token.lefts if child.dep_ in ("compound", "amod") and child.is_alpha and not child.is_stop]
        phrase = " ".join([*words[-2:], token.text])
        weight = _ROLE.get(token.dep_, 0.5) * (1.3 if token.text in names else 1.0)
        yield phrase, token, weight


def _fits(head: Token, ambiguous: Sequence[str]) -> bool:
    """Whether a noun is of the sort and number that at least one of the ambiguous words asks for."""
    kin = head.lemma_.lower() in _KIN or (head.dep_ == "appos" and head.head.lemma_.lower() in _KIN)
    person = kin or head.ent_type_ == "PERSON" or (head.pos_ == "PROPN" and not head.ent_type_)
    plural = head.tag_ in ("NNS", "NNPS") or bool(head.conjuncts)
    for word in ambiguous:
        if word in _SINGULAR_PEOPLE:
            if person and not plural:
                return True
        elif word in _PEOPLE:
            if person or plural:
                return True
        elif word in _PLACES:
            if head.ent_type_ in ("GPE", "LOC", "FAC", "ORG") or head.dep_ == "pobj":
                return True
        elif word in ("these", "those"):
            if plural:
                return True
        elif word in ("it", "its", "itself"):
            if head.ent_type_ != "PERSON" and not plural:
                return True
        elif head.ent_type_ != "PERSON":
            return True
    return False
