"""Contractions that the parser misreads, expanded."""

import re
from collections.abc import Iterator
from typing import Final

from hotmem.text.numerals import TENS
from hotmem.types.parse import Doc
from hotmem.understanding.facts.rewrites import RewrittenText, Segment

_OWNED_NOUN: Final = r"\b(?:my|our)(?:\s+(?!not\b)[a-z-]+){1,3}"

_PARTICIPLE: Final = (
    r"(?:been|got|had|(?:just|already|recently|finally)\s+\w+(?:ed|en|ne|wn|ght|ld|ft|me|un|lt)\b)"
)

_COMPLEMENT: Final = (
    r"(?:an?|the|in|on|at|from|not|my|our|just|now|still|also|really|very|quite|called|named"
    r"|allergic|afraid|scared|married|pregnant|retired|divorced"
    rf"|diabetic|vegetarian|vegan|\d+|(?:{'|'.join(TENS)})(?:-\w+)?|seven|eight|nine|ten|eleven"
    rf"|twelve|\w+teen"
    r"|(?:going|coming|moving|working|living|studying|training|learning|getting|turning)\s+(?:to"
    r"|in|at|as|for|on|a|with|over|married|back|here|next))"
)

_CONTRACTED_VERB: Final = re.compile(
    rf"{_OWNED_NOUN}(?P<verb>['’]s)(?=\s+(?:(?P<has>{_PARTICIPLE})|{_COMPLEMENT})\b)", re.IGNORECASE
)

_INFORMAL_CONTRACTIONS: Final = {
    "wanna": "want to",
    "gonna": "going to",
    "gotta": "have to",
    "tryna": "trying to",
    "finna": "going to",
    "hafta": "have to",
    "lemme": "let me",
    "gimme": "give me",
    "dunno": "don't know",
    "kinda": "kind of",
    "sorta": "sort of",
    "lotta": "lot of",
    "outta": "out of",
}
"""Spoken contractions that the parser takes for verbs or names."""

_INFORMAL: Final = re.compile(
    rf"\b(?P<had>['’]ve\s+|have\s+|['’]s\s+|has\s+)?(?P<word>{'|'.join(_INFORMAL_CONTRACTIONS)})\b",
    re.IGNORECASE,
)

_DETACHED_CONTRACTION: Final = re.compile(
    r"(?<=\w)\s+(?=(?:['’](?:m|s|re|ve|ll|d)|n['’]t)\b)", re.IGNORECASE
)
"""The gap in "I 'm" and "do n't", as in tokenised text."""

_SENTENCE_FINAL_I: Final = re.compile(r"(?<=\bI)(?=\.\s*(?:$|[A-Z]))")
""""I" at the end of a sentence, which the parser takes for an initial with its full stop."""


def expand_contractions(doc: Doc) -> RewrittenText | None:
    """Expand contractions that the parser misreads; None if there are none.

    "my sister's a vet" gets "is", "wanna" becomes "want to", and the gap in "I 'm" is closed.
    """
    text, segments, last = doc.text, list[Segment](), 0
    for (start, stop), word in sorted(_replacements(text)):
        if start < last:
            continue
        segments += [Segment(text[last:start], last, start), Segment(word, start, stop)]
        last = stop
    if not segments:
        return None
    return RewrittenText((*segments, Segment(text[last:], last, len(text))))


def _replacements(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield character spans and their replacements."""
    for match in _CONTRACTED_VERB.finditer(text):
        yield match.span("verb"), " has" if match["has"] else " is"
    for match in _INFORMAL.finditer(text):
        word = match["word"].lower()
        spelt = "got to" if match["had"] and word == "gotta" else _INFORMAL_CONTRACTIONS[word]
        yield match.span("word"), spelt.capitalize() if match["word"][0].isupper() else spelt
    for match in _DETACHED_CONTRACTION.finditer(text):
        yield match.span(), ""
    for match in _SENTENCE_FINAL_I.finditer(text):
        yield match.span(), " "
