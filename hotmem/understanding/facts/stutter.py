"""Stutter: words that are repeated by accident, "to the to the doctor"."""

from collections.abc import Sequence
from typing import Final

from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.rewrites import RewrittenText, Segment
from hotmem.understanding.facts.spelled_codes import is_read_out

MAX_STUTTER_TOKENS: Final = 3
"""Tokens of the longest repeated beginning: "to the um to the doctor"."""

_STUTTERED_POS: Final = frozenset(
    {"PRON", "DET", "ADP", "AUX", "VERB", "CCONJ", "SCONJ", "PART", "ADV"}
)
"""Parts of speech that are repeated by accident."""


def without_stutter(tokens: Sequence[Token]) -> list[Token]:
    """Leave out what is repeated at once: "to the to the doctor". Numbers and letters stay."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        for size in range(1, MAX_STUTTER_TOKENS + 1):
            again, before = kept[-size:], kept[-2 * size : -size]
            if (
                [one.lower_ for one in again] == [one.lower_ for one in before]
                and again[0].pos_ in _STUTTERED_POS
                and before[0].pos_ in _STUTTERED_POS
                and not any(is_read_out(one) for one in again)
                and not (size == 1 and _is_meant_twice(before[0], token))
            ):
                del kept[-size:]
                break
    return kept


def remove_stutter(doc: Doc) -> RewrittenText | None:
    """Leave out what is repeated at once in an utterance; None if nothing is.

    Args:
        doc: The parsed utterance.
    """
    tokens = list(doc)
    kept = without_stutter(tokens)
    if len(kept) == len(tokens):
        return None
    spans = [(one.idx, one.idx + len(one) + len(one.whitespace_)) for one in kept]
    return RewrittenText(tuple(Segment(doc.text[slice(*span)], *span) for span in spans))


def _is_meant_twice(before: Token, token: Token) -> bool:
    """Whether a repeated word is said twice on purpose: "had had", "very very", "a a seven"."""
    following = token.doc[token.i + 1 : token.i + 2]
    letter = len(token) == 1 and token.lower_ != "i"
    if letter and (not following or len(following[0]) == 1 or following[0].like_num):
        return True
    return (before.tag_ != token.tag_ and token.lower_ in ("had", "that")) or token.pos_ == "ADV"
