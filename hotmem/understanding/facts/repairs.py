"""Repairs in one breath: "the dentist is on Monday, no, on Tuesday" → "the dentist is on Tuesday".

A repair has three parts (Levelt 1983, "Monitoring and self-repair in speech"): what was wrong, an
editing term, and what stands in its place, which begins with the same word or the same sort of word
as what was wrong. What was wrong and the editing term are taken out before facts are read, so that
what nobody meant is never known.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.rewrites import Rewrite, Segment

MAX_WORDS_BACK: Final = 10
"""Words before the editing term among which what was wrong begins."""

MAX_REPAIR_WORDS: Final = 6
"""Words of a repair that does not begin the clause anew."""

_FIRM: Final = (
    r"(?:no|nope|nah)(?:[\s,]+(?:wait|sorry|i\s+mean|i\s+meant|i\s+tell\s+a\s+lie|hang\s+on|hold\s+on|actually|rather|make\s+(?:that|it)))+|(?:oh\s+)?sorry(?:[\s,]+(?:no|i\s+meant?))*"
    r"|(?:or\s+)?i\s+meant?(?:\s+to\s+say)?|or\s+rather|wait[\s,]+no|scratch\s+that|make\s+that|(?:uh\s+|er\s+)?correction"
)
"""Terms that are no part of what is said, with or without commas."""

_SOFT: Final = r"(?:oh\s+)?(?:no|nope|nah)|actually\s+no|wait|well|hang\s+on|hold\s+on"
"""Terms only between commas."""

_DEFINES: Final = re.compile(
    r"(?:\b(?:when(?:ever)?|every\s+time|each\s+time|if)\s+(?:i|we)\s+(?:say|mention|talk|speak|write|call)\b|^\W*by\b)[^.?!]*$",
    re.IGNORECASE,
)
"""What stands before an "I mean" that takes nothing back: "when I say the office I mean the one
in Leeds"."""

_BREAK: Final = r"\s*(?:[,;:…]|\s[—–-]|—)+\s*(?:(?:er|erm|uh|um|oh)\b[\s,]*|or\s+(?:actually\s+)?)?"
_HE_IS: Final = r"(?:it|he|she|they)(?:['’](?:s|re)|\s+(?:is|was|are|were))\b"
_EDITING: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:{_FIRM})\b[\s,:]*|{_BREAK}(?:{_SOFT})(?:\s*[,—–]\s*)+(?:make\s+(?:that|it)\s+)?|{_BREAK}actually[\s,]+"
    rf"|{_BREAK}(?:no|nope)\s+(?={_HE_IS})|\s+(?:um+|uh+|erm?)[\s,]+(?:no|nope|sorry)[\s,]+|[.!]\s+(?P<firm>(?:{_FIRM})\b[\s,.:]*)",
    re.IGNORECASE,
)
_ANEW: Final = re.compile(r"(?:it|he|she|they)\s+", re.IGNORECASE)
_SAID_OF: Final = re.compile(
    r"(?:it|that|he|she|they)(?:['’]?(?:s|re)|\s+(?:is|was|are|were))\s+(?:actually\s+|really\s+)?",
    re.IGNORECASE,
)
"""How what was said begins anew: "she lives in Leeds", and without the verb that it had: "it's
ochre"."""

_PLAIN: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:(?:no|nope)[\s,]+(?:wait|sorry|i\s+mean)|(?:sorry|wait|actually)[\s,]+no|scratch\s+that)\b"
    rf"|{_BREAK}(?:no|nope|wait)\s*,\s*(?:the\b|{_HE_IS})",
    re.IGNORECASE,
)
"""Terms that take back what stands before them, whatever follows."""

_CLAUSE: Final = re.compile(r"[,;.!?]\s*|\b(?:and|but|while|whereas)\b", re.IGNORECASE)

_ENDS: Final = frozenset(".!?,;:")
_FINITE: Final = frozenset({"VBD", "VBZ", "VBP", "MD"})
_SORTS: Final = {
    "ADP": "place",
    "DET": "article",
    "NUM": "number",
    "NOUN": "name",
    "PROPN": "name",
    "ADJ": "name",
    "X": "name",
}
"""Sorts of words that stand for each other, by part of speech."""


def remove_repairs(doc: Doc) -> Rewrite | None:
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
    return Rewrite(tuple(Segment(doc.text[start:stop], start, stop) for start, stop in kept))


def _taken_back(doc: Doc) -> Iterator[tuple[int, int]]:
    """Stretches of characters: what was wrong with the editing term behind it."""
    for match in _EDITING.finditer(doc.text):
        if "mean" in match[0].lower() and _DEFINES.search(doc.text[: match.start()]):
            continue
        before = [token for token in doc if token.idx < match.start()]
        ends = [place for place, token in enumerate(before) if token.text in (".", "!", "?")]
        near = before[ends[-1] + 1 if ends else 0 :][-MAX_WORDS_BACK:]
        for begin in _begins(doc, match.end(), near):
            after = list(_until_end([token for token in doc if token.idx >= begin]))
            wrong = _wrong(near, after)
            if wrong is not None and not (
                match["firm"] and _goes_on(match["firm"], after, anew=begin > match.end())
            ):
                yield wrong.idx, begin
                break


def _goes_on(term: str, after: Sequence[Token], *, anew: bool) -> bool:
    """Whether what follows in a sentence of its own may be new.

    "I have a dog. Sorry, I have to go".
    """
    return after[0].pos_ == "PRON" or (
        anew and not re.search(r"\b(?:no|nope|nah|scratch|correction)\b", term, re.IGNORECASE)
    )


def _begins(doc: Doc, place: int, before: Sequence[Token]) -> Iterator[int]:
    """Where the right words may begin.

    As they are said, behind a pronoun for what was spoken of, or behind "it is" too.
    """
    yield place
    verbs = {
        token.lower_ for token in before if token.pos_ in ("VERB", "AUX") or token.tag_ in _FINITE
    }
    if (anew := _ANEW.match(doc.text, place)) and any(
        token.idx == anew.end() and token.lower_ in verbs for token in doc
    ):
        yield anew.end()
    if (said_of := _SAID_OF.match(doc.text, place)) and any(
        token.lemma_ == "be" for token in before
    ):
        yield said_of.end()


def retracted_spans(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that were said to be wrong at once, and not word for word what is right.

    "I live in York, no wait, I moved".
    """
    for match in _PLAIN.finditer(text):
        start = max((found.end() for found in _CLAUSE.finditer(text, 0, match.start())), default=0)
        if len(text[start : match.start()].split()) > 1:
            yield start, match.start()


def _until_end(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.text in _ENDS or token.pos_ in ("CCONJ", "SCONJ"):
            return
        yield token


def _wrong(before: Sequence[Token], after: Sequence[Token]) -> Token | None:
    """The first word of what was wrong.

    None if what follows the editing term takes nothing's place.
    """
    if not before or not after:
        return None
    first = after[0]
    again = next((token for token in reversed(before) if token.lower_ == first.lower_), None)
    if (
        again is not None
        and first.pos_ == "DET"
        and _said_more(before, again)
        and not any(token.lower_ == "of" for token in after)
    ):
        return None
    if again is not None and (len(after) <= MAX_REPAIR_WORDS or first.pos_ == "PRON"):
        return again
    if len(after) > MAX_REPAIR_WORDS or any(token.tag_ in _FINITE for token in after):
        return None
    sort = _SORTS.get(first.pos_)
    if sort is None:
        return None
    if sort != "name":
        return next((token for token in reversed(before) if _SORTS.get(token.pos_) == sort), None)
    names = sum(1 for token in after if token.pos_ == "PROPN") or 1
    run = [token for token in before[-names:] if _SORTS.get(token.pos_) == "name"]
    return run[0] if run and run[-1] is before[-1] else None


def _said_more(before: Sequence[Token], again: Token) -> bool:
    """Whether the words that a repair would replace say of what.

    "the third of May", of which "the fourth" would lose the month.
    """
    return any(token.lower_ == "of" and token.i > again.i for token in before)
