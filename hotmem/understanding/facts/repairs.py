"""Self-repairs: "the dentist is on Monday, no, on Tuesday" → "the dentist is on Tuesday".

A repair has a reparandum (what was wrong), an editing term, and a replacement that begins with the
same word or word class as the reparandum (Levelt 1983, "Monitoring and self-repair in speech").
Reparandum and editing term are removed before facts are read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.temporal import CALENDAR
from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.rewrites import RewrittenText, Segment
from hotmem.understanding.facts.third_person import is_filler

MAX_WORDS_BACK: Final = 10
"""Words before the editing term in which the reparandum may begin."""

MAX_REPAIR_WORDS: Final = 6
"""Words of the longest replacement that does not restart the clause."""

_EXPLICIT_TERMS: Final = (
    r"(?:no|nope|nah)(?:[\s,]+(?:wait|sorry|i\s+mean|i\s+meant|i\s+tell\s+a\s+lie|hang\s+on"
    r"|hold\s+on|actually|rather|make\s+(?:that|it)))+|(?:oh\s+)?sorry(?:[\s,]+(?:no|i\s+meant?))*"
    r"|(?:or\s+)?i\s+meant?(?:\s+to\s+say)?|or\s+rather|wait[\s,]+no|scratch\s+that|make\s+that"
    r"|(?:uh\s+|er\s+)?correction"
)
"""Editing terms with or without commas."""

_COMMA_TERMS: Final = r"(?:oh\s+)?(?:no|nope|nah)|actually\s+no|wait|well|hang\s+on|hold\s+on"
"""Editing terms only between commas."""

_DEFINITIONS: Final = re.compile(
    r"(?:\b(?:when(?:ever)?|every\s+time|each\s+time|if)\s+(?:i|we)\s+(?:say|mention|talk|speak"
    r"|write|call)\b|^\W*by\b)[^.?!]*$",
    re.IGNORECASE,
)
"""Text before an "I mean" that is a definition: "when I say the office I mean the one in Leeds"."""

_BREAK: Final = r"\s*(?:[,;:…]|\s[—–-]|—)+\s*(?:(?:er|erm|uh|um|oh)\b[\s,]*|or\s+(?:actually\s+)?)?"
_HE_IS: Final = r"(?:it|he|she|they)(?:['’](?:s|re)|\s+(?:is|was|are|were))\b"
_EDITING: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:{_EXPLICIT_TERMS})\b[\s,:]*|{_BREAK}(?:{_COMMA_TERMS})(?:\s*[,—–]\s*)+(?:make\s+(?:that"
    rf"|it)\s+)?|{_BREAK}actually[\s,]+"
    rf"|{_BREAK}(?:no|nope)\s+(?={_HE_IS})|(?<!actually)\s+(?:no|nope)\s+(?=(?:i|we|he|she|they)\s)"
    rf"|\s+(?:um+|uh+|erm?)[\s,]+(?:no|nope|sorry)[\s,]+"
    rf"|[.!]\s+(?P<firm>(?:{_EXPLICIT_TERMS})\b[\s,.:]*)",
    re.IGNORECASE,
)
_RESTART: Final = re.compile(r"(?:it|he|she|they)\s+", re.IGNORECASE)
_RESTART_WITH_COPULA: Final = re.compile(
    r"(?:it|that|he|she|they)(?:['’]?(?:s|re)|\s+(?:is|was|are|were))\s+(?:actually\s+|really\s+)?",
    re.IGNORECASE,
)
"""A clause that restarts with "be": "it's ochre"."""

_RETRACTIONS: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:(?:no|nope)[\s,]+(?:wait|sorry|i\s+mean)|(?:sorry|wait"
    rf"|actually)[\s,]+no|scratch\s+that)\b"
    rf"|{_BREAK}(?:no|nope|wait)\s*,\s*(?:the\b|{_HE_IS})",
    re.IGNORECASE,
)
"""Editing terms that retract what precedes them, whatever follows."""

_CLAUSE: Final = re.compile(r"[,;.!?]\s*|\b(?:and|but|while|whereas)\b", re.IGNORECASE)

_END_MARKS: Final = frozenset(".!?,;:")
_FINITE_TAGS: Final = frozenset({"VBD", "VBZ", "VBP", "MD"})
_WORD_CLASSES: Final = {
    "ADP": "place",
    "DET": "article",
    "NUM": "number",
    "NOUN": "name",
    "PROPN": "name",
    "ADJ": "name",
    "X": "name",
}
"""Classes of words that can replace each other, by part of speech."""


def remove_repairs(doc: Doc) -> RewrittenText | None:
    """Remove what the speaker repaired; None if there is no repair.

    Args:
        doc: The parsed utterance.
    """
    kept, last = [], 0
    for start, stop in repair_spans(doc):
        if start >= last:
            kept.append((last, start))
            last = stop
    if not kept:
        return None
    kept.append((last, len(doc.text)))
    return RewrittenText(tuple(Segment(doc.text[start:stop], start, stop) for start, stop in kept))


def repair_spans(doc: Doc) -> Iterator[tuple[int, int]]:
    """Yield character spans of reparandum and editing term."""
    for match in _EDITING.finditer(doc.text):
        if "mean" in match[0].lower() and _DEFINITIONS.search(doc.text[: match.start()]):
            continue
        before = [token for token in doc if token.idx < match.start()]
        ends = [place for place, token in enumerate(before) if token.text in (".", "!", "?")]
        near = before[ends[-1] + 1 if ends else 0 :][-MAX_WORDS_BACK:]
        for begin in _replacement_starts(doc, match.end(), near):
            after = list(_words_until_end([token for token in doc if token.idx >= begin]))
            wrong = _reparandum_start(near, after)
            if wrong is not None and not (
                match["firm"]
                and _starts_new_statement(match["firm"], after, anew=begin > match.end())
            ):
                yield _start_of_hesitation(wrong), begin
                break


def _start_of_hesitation(wrong: Token) -> int:
    """Where the hesitation before the reparandum begins, or the reparandum: "in um September"."""
    while wrong.i and is_filler(wrong.nbor(-1)):
        wrong = wrong.nbor(-1)
    return wrong.idx


def _starts_new_statement(term: str, after: Sequence[Token], *, anew: bool) -> bool:
    """Whether the sentence after the term may be a new statement.

    "I have a dog. Sorry, I have to go".
    """
    return after[0].pos_ == "PRON" or (
        anew and not re.search(r"\b(?:no|nope|nah|scratch|correction)\b", term, re.IGNORECASE)
    )


def _replacement_starts(doc: Doc, place: int, before: Sequence[Token]) -> Iterator[int]:
    """Yield where the replacement may begin: at once, after a pronoun, or after "it is"."""
    yield place
    verbs = {
        token.lower_
        for token in before
        if token.pos_ in ("VERB", "AUX") or token.tag_ in _FINITE_TAGS
    }
    if (anew := _RESTART.match(doc.text, place)) and any(
        token.idx == anew.end() and token.lower_ in verbs for token in doc
    ):
        yield anew.end()
    if (said_of := _RESTART_WITH_COPULA.match(doc.text, place)) and any(
        token.lemma_ == "be" for token in before
    ):
        yield said_of.end()


def retracted_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans that are retracted without a replacement: "I live in York, no wait, I moved"."""
    for match in _RETRACTIONS.finditer(text):
        start = max((found.end() for found in _CLAUSE.finditer(text, 0, match.start())), default=0)
        if len(text[start : match.start()].split()) > 1:
            yield start, match.start()


def _words_until_end(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.text in _END_MARKS or token.pos_ in ("CCONJ", "SCONJ"):
            return
        yield token


def _reparandum_start(before: Sequence[Token], after: Sequence[Token]) -> Token | None:
    """Return the first word of the reparandum; None if the words after the term replace nothing."""
    if not before or not after:
        return None
    first = after[0]
    again = next((token for token in reversed(before) if token.lower_ == first.lower_), None)
    if (
        again is not None
        and first.pos_ == "DET"
        and _has_of_phrase(before, again)
        and not any(token.lower_ == "of" for token in after)
    ):
        return None
    if again is not None and (len(after) <= MAX_REPAIR_WORDS or first.pos_ == "PRON"):
        return again
    if {first.lower_, before[-1].lower_} <= CALENDAR:
        return before[-1]
    if len(after) > MAX_REPAIR_WORDS or any(token.tag_ in _FINITE_TAGS for token in after):
        return None
    sort = _WORD_CLASSES.get(first.pos_)
    if sort is None:
        return None
    if sort != "name":
        return next(
            (token for token in reversed(before) if _WORD_CLASSES.get(token.pos_) == sort), None
        )
    names = sum(1 for token in after if token.pos_ == "PROPN") or 1
    run = [token for token in before[-names:] if _WORD_CLASSES.get(token.pos_) == "name"]
    return run[0] if run and run[-1] is before[-1] else None


def _has_of_phrase(before: Sequence[Token], again: Token) -> bool:
    """Whether the reparandum has an "of" phrase that the replacement would lose.

    "the third of May, no, the fourth".
    """
    return any(token.lower_ == "of" and token.i > again.i for token in before)
