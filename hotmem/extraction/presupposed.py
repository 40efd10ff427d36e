"""What "my" takes for granted: who says "my three sisters are coming" has three sisters.

Only of whom and what not everyone has: partners, children, siblings, animals, vehicles, instruments.
"""

from collections.abc import Iterator
from typing import Final

from spacy.tokens import Doc, Span, Token

from hotmem.analysis.wordlist import wordlist
from hotmem.extraction.relations import HAS
from hotmem.extraction.retelling import OWN, sentence
from hotmem.types import Statement

_TELLING: Final = wordlist(
    "dog cat puppy kitten kitty rabbit bunny hamster parrot bird horse pony mare goldfish turtle snake lizard chicken goat pet pig cow ferret son "
    "daughter kid child baby twin brother sister sibling wife husband boyfriend girlfriend fiance fiancé fiancée nephew niece grandson granddaughter "
    "grandchild grandkid stepson stepdaughter stepbrother stepsister roommate flatmate car truck van bike bicycle motorcycle motorbike scooter boat "
    "yacht camper kayak piano guitar violin cello ukulele garden farm greenhouse camera telescope laptop cottage website blog podcast bakery "
    "grandparent"
)
_NOT_NOW: Final = wordlist("late ex former first future dream next own favourite favorite last old previous imaginary dead other")
_ENDINGS: Final = wordlist("die pass lose bury sell divorce leave miss wish imagine suppose steal crash total return want need")
"""Verbs beside which what was had may be gone, or is not there yet."""

_UNREAL: Final = wordlist("if would could should might may 'd ’d never no unless")


def read_presupposed(doc: Doc, speaker: str) -> Iterator[Statement]:
    """What the speaker must have, by the words of the utterance, each once; of sentences that ask, suppose or tell of an end nothing."""
    told: set[str] = set()
    for span in doc.sents:
        if not _tells(span):
            continue
        for token in span:
            noun = token.lemma_.lower()
            if noun in _TELLING and noun not in told and token.pos_ == "NOUN" and _owned(token) and not _past(token):
                told.add(noun)
                yield _had(token, speaker)


def _tells(said: Span) -> bool:
    """Whether a sentence neither asks nor orders nor supposes, nor tells of an end."""
    if "?" in said.text or said.root.tag_ == "VB":
        return False
    return not any(token.lower_ in _UNREAL or token.lemma_ in _ENDINGS or token.tag_ in ("WP", "WRB", "WDT") for token in said)


def _owned(noun: Token) -> bool:
    mine = any(child.dep_ == "poss" and child.lower_ in OWN for child in noun.children)
    return mine and not any(child.lower_ in _NOT_NOW or child.text == "-" for child in noun.lefts)


def _past(noun: Token) -> bool:
    """Whether a clause says only what someone was."""
    return noun.dep_ in ("nsubj", "nsubjpass") and noun.head.lemma_ == "be" and noun.head.tag_ == "VBD"


def _had(noun: Token, speaker: str) -> Statement:
    words = [child.lower_ for child in noun.lefts if child.dep_ in ("nummod", "compound", "amod") and child.is_alpha]
    had = " ".join([*words, noun.lower_])
    article = "" if noun.tag_ == "NNS" else "an" if had[0] in "aeiou" else "a"
    return Statement(
        text=sentence(speaker, HAS.name, article, had),
        subject=speaker,
        relation=HAS.name,
        object=had,
        kind=HAS.kind,
        category=HAS.category,
        importance=HAS.importance,
        start=noun.left_edge.idx,
        stop=noun.idx + len(noun),
    )
