"""Classification of an utterance's intent and complexity."""

from functools import lru_cache
from typing import Final

import numpy as np

from hotmem.text.word_sets import wordlist
from hotmem.types import Complexity, Intent, Vector
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.query.commands import term_ids
from hotmem.understanding.query.cues import COMPLEX, COURTESIES, INTENTS, QUESTION
from hotmem.understanding.term_model import TermModel, load_tensors, logistic

LONG_UTTERANCE: Final = 14
"""Number of tokens above which an utterance is at least of medium complexity."""

_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "NUM", "ADJ"})
_QUESTION_WORDS: Final = wordlist("who whose what which where when why how")
_SELF: Final = wordlist("i my me mine")
_FILLER: Final = wordlist(
    "so well then too very much really just now today all again there everyone everybody guys "
    "buddy friend mate man dude bot assistant hotmem"
)
_HIGH_COMPLEXITY: Final = frozenset({Intent.SUMMARY, Intent.PATTERN, Intent.RELATION})


def find_intent(doc: Doc, *, timed: bool) -> Intent:
    """Classify the intent of an utterance.

    Args:
        doc: The parsed utterance.
        timed: Whether it mentions a time, which makes a question one of time.
    """
    if is_chitchat(doc):
        return Intent.CHITCHAT
    text = doc.text
    for intent, cue in INTENTS:
        if cue.search(text) and (intent is not Intent.TIME or is_question(doc)):
            return intent
    return Intent.TIME if timed and is_question(doc) else Intent.FACT


def is_chitchat(doc: Doc) -> bool:
    """Whether an utterance has only courtesies and filler, or no word at all."""
    spans = [match.span() for match in COURTESIES.finditer(doc.text)]
    rest = [
        token
        for token in doc
        if token.text.strip() and not any(start <= token.idx < stop for start, stop in spans)
    ]
    if not spans:
        return not any(character.isalnum() for token in rest for character in token.text)
    addressed = len(doc) <= 6 and not any(token.text == "?" for token in doc)
    return not any(_has_content(token, addressed=addressed) for token in rest)


def is_question(doc: Doc) -> bool:
    """Whether an utterance is a question, with or without a question mark."""
    return bool(QUESTION.search(doc.text))


def find_complexity(
    doc: Doc, intent: Intent, *, entities: int, timed: bool, ambiguous: bool
) -> Complexity:
    """Classify how much of the memory an utterance needs.

    High if it spans sessions or compares, low if it asks for a single fact.
    """
    verbs = sum(token.pos_ == "VERB" for token in doc)
    if intent in _HIGH_COMPLEXITY or COMPLEX.search(doc.text) or (entities > 1 and verbs > 2):
        return Complexity.HIGH
    if (
        timed
        or ambiguous
        or entities > 1
        or intent in (Intent.TIME, Intent.REFERENCE)
        or len(doc) > LONG_UTTERANCE
    ):
        return Complexity.MEDIUM
    return Complexity.LOW


def _has_content(token: Token, *, addressed: bool) -> bool:
    """Whether a word outside the courtesies is content; a name used to address someone is not."""
    if token.lower_ in _SELF or token.lower_ in _QUESTION_WORDS:
        return True
    if token.lower_ in _FILLER or token.pos_ not in _CONTENT:
        return False
    return not (
        addressed and token.pos_ == "PROPN" and token.dep_ not in ("attr", "poss", "pobj", "acomp")
    )


MIN_NEED: Final = 0.1
"""Probability from which memory is asked. Little: what is not asked cannot be answered, what is
asked for nothing costs some tokens (`python -m eval need`)."""


@lru_cache(maxsize=1)
def load_model() -> tuple[TermModel, Vector]:
    """The shipped model of the words, and the weights of the embedding, loaded once."""
    tensors = load_tensors("needs-1")
    return TermModel.of(tensors, "need"), tensors["need_vector"].astype(np.float32)


def need(text: str, vector: Vector) -> float:
    """The probability that memory helps with an utterance.

    Args:
        text: The utterance.
        vector: Its embedding by the encoder that the model was trained on, a unit row.

    Returns:
        The probability, 0 to 1. It is 1 for a script other than Latin, which the model cannot read.
    """
    if any(one > "\u024f" and not "\u2010" <= one <= "\u2027" for one in text):
        return 1.0
    model, weights = load_model()
    return logistic(model.logit(term_ids(text)) + float(weights @ vector))
