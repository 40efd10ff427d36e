"""Parts of a turn as the parse completes and divides them.

The reader finds words; a statement needs whole clauses, each of its own, so that one can end while
the other holds.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from hotmem.types.parse import Doc, Span, Token

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
