"""Denials in one breath: "my boyfriend dumped me, no he didn't" states neither.

A clause of a subject and an auxiliary alone denies the clause before it if that has the same
subject and tense, and is negated where the other is not.
"""

from collections.abc import Iterator
from typing import Final

from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.assertion import VERB_TAGS
from hotmem.understanding.facts.rewrites import RewrittenText, Segment
from hotmem.understanding.whole_sentences import is_elliptic

_PAST: Final = frozenset({"VBD"})
_FINITE: Final = frozenset({"VBD", "VBZ", "VBP"})
_FIRST: Final = frozenset({"i", "we"})
_THIRD: Final = frozenset({"he", "she", "it", "they"})
_OPENING: Final = frozenset({"INTJ", "PUNCT", "CCONJ"})
"""Parts of speech that may stand between the two clauses."""

_EMBEDDED: Final = frozenset({"relcl", "acl", "pcomp", "csubj", "aux", "auxpass"})


def denied_spans(doc: Doc) -> Iterator[tuple[int, int]]:
    """Yield the character spans of what is denied directly after it was said."""
    yield from (denied for denied, _ in _denials(doc))


def without_denials(doc: Doc) -> RewrittenText | None:
    """Leave out what is denied in the same breath, and its denial; None if there is nothing."""
    cut = sorted(span for spans in _denials(doc) for span in spans)
    if not cut:
        return None
    segments, last = [], 0
    for start, stop in [*cut, (len(doc.text), len(doc.text))]:
        if start > last:
            segments.append(Segment(doc.text[last:start], last, start))
        last = max(last, stop)
    return RewrittenText(tuple(segments))


def _denials(doc: Doc) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the spans of each clause that is denied, and of the denial."""
    for verb in doc:
        pronoun = _subject(verb)
        if pronoun is None or not _stands_alone(verb, pronoun):
            continue
        end = _end_of_clause_before(verb, pronoun)
        before = _clause_before(pronoun)
        if end is None or before is None:
            continue
        subject = _subject(before)
        if (
            subject is not None
            and _is_same(subject, pronoun)
            and _is_negated(before) != _is_negated(verb)
            and _is_past(before) == _is_past(verb)
        ):
            last = max((verb, *verb.rights), key=lambda one: one.i)
            stop = last.idx + len(last)
            yield (subject.left_edge.idx, end.idx + len(end)), (end.idx + len(end), stop)


def _subject(verb: Token) -> Token | None:
    """The subject before a verb, without one that is shared."""
    return next((one for one in verb.lefts if one.dep_ in ("nsubj", "nsubjpass")), None)


def _stands_alone(verb: Token, subject: Token) -> bool:
    """Whether a clause is a subject with an auxiliary, asserted: "he didn't"."""
    return (
        is_elliptic(verb)
        and verb.dep_ not in _EMBEDDED
        and not any(one.dep_ in ("mark", "aux") for one in verb.children)
    )


def _end_of_clause_before(verb: Token, subject: Token) -> Token | None:
    """The last word before a clause and its interjections; None if the clause has other words."""
    words = reversed(subject.doc[: subject.i])
    last = next((one for one in words if one.pos_ not in _OPENING), None)
    return None if last is None or (last in verb.subtree and last.head == verb) else last


def _clause_before(subject: Token) -> Token | None:
    """The verb of the last clause with a subject that begins before a subject."""
    verbs = reversed(subject.doc[: subject.i])
    return next((one for one in verbs if one.pos_ in VERB_TAGS and _subject(one)), None)


def _is_same(subject: Token, pronoun: Token) -> bool:
    """Whether a pronoun may stand for the subject before it; a noun is the same if repeated."""
    if subject.lower_ == pronoun.lower_:
        return True
    return pronoun.lower_ in _THIRD and subject.lower_ not in _FIRST | {"you"}


def _is_negated(verb: Token) -> bool:
    return any(one.dep_ == "neg" for one in verb.children)


def _is_past(verb: Token) -> bool:
    helpers = (one.tag_ for one in verb.children if one.dep_ in ("aux", "auxpass"))
    return next((tag for tag in helpers if tag in _FINITE), verb.tag_) in _PAST
