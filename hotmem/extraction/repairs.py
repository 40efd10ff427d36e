"""Repairs in one breath: "the dentist is on Monday, no, on Tuesday" → "the dentist is on Tuesday".

A repair has three parts (Levelt 1983, "Monitoring and self-repair in speech"): what was wrong, an editing term, and what stands in its place,
which begins with the same word or the same sort of word as what was wrong. What was wrong and the editing term are taken out before facts are
read, so that what nobody meant is never known.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.extraction.rewording import Piece, Reworded
from hotmem.types.parse import Doc, Token

BACK: Final = 10
"""Words before the editing term among which what was wrong begins."""

LONGEST: Final = 6
"""Words of a repair that does not begin the clause anew."""

_FIRM: Final = (
    r"(?:no|nope|nah)(?:[\s,]+(?:wait|sorry|i\s+mean|i\s+meant|actually|rather|make\s+(?:that|it)))+|(?:oh\s+)?sorry(?:[\s,]+(?:no|i\s+meant?))*"
    r"|(?:or\s+)?i\s+meant?(?:\s+to\s+say)?|or\s+rather|wait[\s,]+no|scratch\s+that|make\s+that|(?:uh\s+|er\s+)?correction"
)
"""Terms that are no part of what is said, with or without commas."""

_SOFT: Final = r"(?:oh\s+)?(?:no|nope|nah)|actually\s+no|wait|well|hang\s+on|hold\s+on"
"""Terms only between commas."""

_DEFINES: Final = re.compile(
    r"(?:\b(?:when(?:ever)?|every\s+time|each\s+time|if)\s+(?:i|we)\s+(?:say|mention|talk|speak|write|call)\b|^\W*by\b)[^.?!]*$",
    re.IGNORECASE,
)
"""What stands before an "I mean" that takes nothing back: "when I say the office I mean the one in Leeds"."""

_BREAK: Final = r"\s*(?:[,;:…]|\s[—–-]|—)+\s*(?:(?:er|erm|uh|um|oh)\b[\s,]*|or\s+(?:actually\s+)?)?"
_EDITING: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:{_FIRM})\b[\s,:]*|{_BREAK}(?:{_SOFT})(?:\s*[,—–]\s*)+(?:make\s+(?:that|it)\s+|it['’]s\s+)?|{_BREAK}actually[\s,]+",
    re.IGNORECASE,
)

_ENDS: Final = frozenset(".!?,;:")
_FINITE: Final = frozenset({"VBD", "VBZ", "VBP", "MD"})
_SORTS: Final = {"ADP": "place", "DET": "article", "NUM": "number", "NOUN": "name", "PROPN": "name", "ADJ": "name", "X": "name"}
"""Sorts of words that stand for each other, by part of speech."""


def repaired(doc: Doc) -> Reworded | None:
    """The utterance without what its speaker took back, or None where nothing was.

    Args:
        doc: The parsed utterance.
    """
    kept, last = [], 0
    for start, stop in _taken_back(doc):
        if start >= last:
            kept.append((last, start))
            last = stop
    if not kept:
        return None
    kept.append((last, len(doc.text)))
    return Reworded(tuple(Piece(doc.text[start:stop], start, stop) for start, stop in kept))


def _taken_back(doc: Doc) -> Iterator[tuple[int, int]]:
    """Stretches of characters: what was wrong with the editing term behind it."""
    for match in _EDITING.finditer(doc.text):
        if "mean" in match[0].lower() and _DEFINES.search(doc.text[: match.start()]):
            continue
        before = [token for token in doc if token.idx < match.start()]
        ends = [place for place, token in enumerate(before) if token.text in (".", "!", "?")]
        after = list(_until_end([token for token in doc if token.idx >= match.end()]))
        wrong = _wrong(before[ends[-1] + 1 if ends else 0 :][-BACK:], after)
        if wrong is not None:
            yield wrong.idx, match.end()


def _until_end(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.text in _ENDS or token.pos_ in ("CCONJ", "SCONJ"):
            return
        yield token


def _wrong(before: Sequence[Token], after: Sequence[Token]) -> Token | None:
    """The first word of what was wrong; None if what follows the editing term takes nothing's place."""
    if not before or not after:
        return None
    first = after[0]
    again = next((token for token in reversed(before) if token.lower_ == first.lower_), None)
    if again is not None and (len(after) <= LONGEST or first.pos_ == "PRON"):
        return again
    if len(after) > LONGEST or any(token.tag_ in _FINITE for token in after):
        return None
    sort = _SORTS.get(first.pos_)
    if sort is None:
        return None
    if sort != "name":
        return next((token for token in reversed(before) if _SORTS.get(token.pos_) == sort), None)
    names = sum(1 for token in after if token.pos_ == "PROPN") or 1
    run = [token for token in before[-names:] if _SORTS.get(token.pos_) == "name"]
    return run[0] if run and run[-1] is before[-1] else None
