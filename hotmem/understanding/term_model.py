"""A linear model of a text's terms."""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.models.files import load_shipped
from hotmem.types.understanding import Doc, Span, Token

Tensors = Mapping[str, NDArray[np.generic]]
TermIds = NDArray[np.uint32]


@lru_cache
def load_term_model(file: str, name: str) -> "TermModel":
    """A shipped model, loaded once in a process."""
    return TermModel.of(load_shipped(f"{file}.npz"), name)


class TermModel:
    """A logistic regression on which terms a text has; thread-safe.

    Args:
        terms: Sorted ids of the terms that it knows, uint32, shape (n,).
        weights: Their weights, shape (n,).
        bias: The bias, shape (1,).
    """

    def __init__(
        self, terms: NDArray[np.generic], weights: NDArray[np.generic], bias: NDArray[np.generic]
    ) -> None:
        self._terms, self._weights = terms, weights.astype(np.float32)
        self._bias = float(bias[0])

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> Self:
        """The model of the tensors with a name."""
        return cls(*(tensors[f"{name}_{part}"] for part in ("terms", "weights", "bias")))

    def logit(self, ids: TermIds) -> float:
        """The log-odds for a text with these terms."""
        indices = np.searchsorted(self._terms[:-1], ids)
        known = indices[self._terms[indices] == ids]
        return float(self._weights[known].sum() / max(len(known), 1) ** 0.5 + self._bias)


def logistic(logit: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + math.exp(-logit))


_OTHER_CLAUSES: Final = frozenset({"conj", "cc", "punct", "advcl", "parataxis", "relcl", "mark"})
"""Dependents that a part does not need to be complete."""

_JOINED: Final = frozenset({"conj", "parataxis"})
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl"})
REFERRING: Final = frozenset({"he", "she", "it", "they"})
"""Subjects that refer to what the clause before them says."""

_VERBS: Final = ("VERB", "AUX")
_LINKS: Final = frozenset({"CCONJ", "PUNCT", "SPACE"})


def clauses(doc: Doc, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the characters of each clause of a part, completed by what belongs to its words.

    Args:
        doc: The parsed turn.
        start: First character of the part.
        stop: One past its last character.
    """
    part = doc.char_span(start, stop, alignment_mode="expand")
    if part is None:
        return
    whole = _completed(part)
    edges = [whole.start, *sorted(set(_clause_starts(whole))), whole.end]
    pieces = [doc[first:last] for first, last in pairwise(edges)]
    spoken = [piece for piece in pieces if _has_verb(piece)]
    for piece in spoken or [whole]:
        tokens = list(piece)
        while tokens and tokens[0].pos_ in _LINKS:
            tokens = tokens[1:]
        while tokens and tokens[-1].pos_ in _LINKS:
            tokens = tokens[:-1]
        if tokens:
            yield tokens[0].idx, tokens[-1].idx + len(tokens[-1])


def _completed(part: Span) -> Span:
    """The part with the objects, numbers and names that depend on its words."""
    first, last = part.start, part.end
    for token in part:
        for child in token.children:
            if child.dep_ in _OTHER_CLAUSES or first <= child.i < last:
                continue
            if child.left_edge.i <= last and child.i >= last:
                last = max(last, child.right_edge.i + 1)
            elif child.right_edge.i >= first - 1 and child.i < first:
                first = min(first, child.left_edge.i)
    return part.doc[first:last]


def _clause_starts(whole: Span) -> Iterator[int]:
    """The places where a joined clause or a sentence with a subject of its own begins.

    One that begins with "she" stays with the clause before it, which says who she is.
    """
    for token in whole:
        if token.dep_ in _SUBJECTS and (first := _clause_start(token)) is not None:
            start = first
        elif token.is_sent_start and _has_verb(token.sent):
            start = token.i
        else:
            continue
        if start > whole.start and _first_word(whole.doc[start:]) not in REFERRING:
            yield start


def _clause_start(subject: Token) -> int | None:
    """The first word of a joined main clause, or None: "on" of "I work, and on Friday I'm free"."""
    verb, first = subject.head, subject.left_edge.i
    edge = verb.left_edge.i
    if verb.pos_ not in _VERBS or first == 0:
        return None
    doc = subject.doc
    if 0 < edge < first and doc[edge - 1].pos_ in _LINKS:
        first = edge
    linked = doc[first - 1].pos_ == "CCONJ"
    return first if linked or verb.dep_ in _JOINED else None


def _first_word(words: Span) -> str:
    """The first word after links, in lower case."""
    return next((token.lower_ for token in words if token.pos_ not in _LINKS), "")


def _has_verb(words: Span) -> bool:
    return any(token.pos_ in _VERBS for token in words)
