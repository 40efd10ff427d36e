"""Whether a text is a wish about how the bot shall behave from now on.

A linear model of the text's words and of its grammar: who is subject of which verb, and the order
of the parts of speech. Trained by `python -m eval train-wishes`.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from hotmem.types.understanding import Span, Token
from hotmem.understanding.facts.instructions.topics import exclusive_topics
from hotmem.understanding.query.commands import term_id, term_ids
from hotmem.understanding.term_model import TermIds, load_term_model, logistic

_FUNCTION_WORDS: Final = frozenset(
    {"PRON", "ADV", "ADP", "SCONJ", "AUX", "PART", "DET", "CCONJ", "INTJ"}
)
"""Parts of speech whose words stand for themselves in the order of a text's words."""


def wish(text: Span) -> float:
    """The probability that a text is a wish about how the bot shall behave from now on."""
    return logistic(load_term_model("wishes-1", "wish").logit(wish_ids(text)))


def wish_ids(text: Span) -> TermIds:
    """The sorted ids of a text's terms."""
    grammar = np.array([term_id(term) for term in _grammar(text)], dtype=np.uint32)
    return np.union1d(term_ids(text.text), grammar)


def _grammar(text: Span) -> Iterator[str]:
    """Yield topics, verbs with their subjects, and each two and three parts of speech in a row."""
    yield from exclusive_topics(text.text)
    words = [token for token in text if not token.is_space]
    for token in words:
        if token.pos_ in ("VERB", "AUX"):
            denied = any(child.dep_ == "neg" for child in token.children)
            yield f"{token.tag_} {token.dep_} {_subject(token)}"
            yield f"{token.lemma_} {_subject(token)} {denied}"
    tags = ["<", *(one.lower_ if one.pos_ in _FUNCTION_WORDS else one.tag_ for one in words), ">"]
    for size in (2, 3):
        for start in range(len(tags) - size + 1):
            yield "-".join(tags[start : start + size])


def _subject(verb: Token) -> str:
    """A verb's subject: the pronoun, "noun", or ""."""
    subjects = (child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass"))
    subject = next(subjects, None)
    if subject is None:
        return ""
    return str(subject.lower_) if subject.pos_ == "PRON" else "noun"
