"""Whether words of a turn are a sentence that can be understood alone."""

from typing import Final

from hotmem.types.parse import Span, Token
from hotmem.understanding.facts.clauses import drops_subject

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl", "csubj"})
_SUBORDINATE: Final = frozenset({"advcl", "relcl", "acl"})
_AUXILIARIES: Final = frozenset({"do", "be", "have"})
_FINITE: Final = frozenset({"VBZ", "VBD", "VBP", "MD"})
_BACK: Final = frozenset(
    {"he", "she", "it", "they", "this", "that", "these", "those", "one", "ones", "there", "which"}
)
"""Subjects that refer back to something said before; "there" may also begin a clause."""

_OPENING: Final = frozenset({"PRP$", "PRP", "NNP", "NNPS"})
"""Tags of first words that begin a statement rather than a fragment: "my", "I", a name."""

MIN_WHOLE: Final = 4
"""Words of a sentence from which it may be whole although its parse has no verb."""

_SPEAKER: Final = frozenset({"i", "me", "my", "us", "our", "we"})
"""In "they have me on pills" it does not matter who they are."""

_UNFINISHED: Final = frozenset({"ADP", "SCONJ", "CCONJ", "DET", "PART"})
"""Last words after which something is missing: "he coughs when"."""


def stands_alone(part: Span) -> bool:
    """Whether words have a subject and a finite verb, and refer to nothing before them.

    A subject may be dropped where it is the speaker: "Just moved to Lyon". "It's a kilo" says
    nothing without what came before it.

    Args:
        part: The words, a clause or more of a parsed turn.
    """
    words = [token for token in part if not token.is_punct and not token.is_space]
    if not words or _is_unfinished(words[-1]):
        return False
    subjects = [
        token for token in words if token.dep_ in _SUBJECTS and token.head.dep_ not in _SUBORDINATE
    ]
    first = subjects[0] if subjects else words[0]
    if subjects and is_elliptic(first.head):
        return False
    if subjects and any(token.tag_ in _FINITE for token in words if token.i > first.i):
        return not _refers_back(first, words)
    return _looks_whole(words) or (not subjects and any(map(drops_subject, words)))


def is_elliptic(verb: Token) -> bool:
    """Whether a verb is an auxiliary whose verb was said before: "but my wife doesn't"."""
    return (
        verb.lemma_ in _AUXILIARIES
        and verb.tag_ in ("VBD", "VBZ", "VBP")
        and all(one.dep_ in ("neg", "punct") for one in verb.rights)
    )


def _looks_whole(words: list[Token]) -> bool:
    """Whether words are a whole sentence that begins as statements do, whatever its parse.

    In "my nephew Tim studies at Oxford" the parser takes the verb for a noun.
    """
    first, last = words[0], words[-1]
    whole = not any(
        token.is_alpha
        for token in first.doc[first.sent.start : last.sent.end]
        if not first.i <= token.i <= last.i
    )
    return (
        whole and len(words) >= MIN_WHOLE and first.tag_ in _OPENING and first.lower_ not in _BACK
    )


def _is_unfinished(last: Token) -> bool:
    return last.pos_ in _UNFINISHED and last.dep_ not in ("prt", "neg", "pobj", "dobj", "attr")


def _refers_back(subject: Token, words: list[Token]) -> bool:
    """Whether a subject is a pronoun that means something before the words, or "there"."""
    if subject.lower_ not in _BACK or subject.dep_ == "expl":
        return False
    if subject.lower_ == "they" and any(one.lower_ in _SPEAKER for one in words):
        return False
    return not any(
        one.pos_ in ("NOUN", "PROPN") and one.dep_ in (*_SUBJECTS, "dobj", "pobj", "attr", "ROOT")
        for one in words
        if one.i < subject.i
    )
