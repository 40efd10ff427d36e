"""Contrasts: "lives in Dublin not in Cork" → "lives in Dublin".

What a "not" after a phrase denies is of the same form as the phrase: a name after a name, or the
same preposition again. It is no part of the value, and names the one that was wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.rewrites import RewrittenText, Segment

_NAMES: Final = frozenset({"NOUN", "PROPN", "NUM"})
_WITHIN: Final = _NAMES | {"DET", "ADJ"}
"""Parts of speech of what is denied."""

_LINKS: Final = frozenset({",", "and"})


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a speaker denies beside what is so.

    Attributes:
        start: First character of the words that can be left out, the comma before "not" included.
        stop: One past their last character.
        wrong: The value that is denied.
    """

    start: int
    stop: int
    wrong: str


def find_contrasts(doc: Doc) -> Iterator[Contrast]:
    """Yield the contrasts of an utterance, in order; an order keeps what shall not be done."""
    for negation in doc:
        if negation.lower_ != "not" or not negation.i or _is_order(negation.sent.root):
            continue
        first = negation.i
        while first and doc[first - 1].lower_ in _LINKS:
            first -= 1
        denied = list(_denied(negation))
        if not first or not denied or not _are_alike(doc[first - 1], denied, first):
            continue
        value = [token for token in denied if token.pos_ not in ("ADP", "DET")]
        last = denied[-1]
        yield Contrast(
            doc[first - 1].idx + len(doc[first - 1]),
            last.idx + len(last),
            doc.text[value[0].idx : last.idx + len(last)],
        )


def without_contrasts(doc: Doc) -> RewrittenText | None:
    """Leave out what is denied; None if there is nothing."""
    found = list(find_contrasts(doc))
    if not found:
        return None
    edges = [0, *(place for one in found for place in (one.start, one.stop)), len(doc.text)]
    return RewrittenText(
        tuple(
            Segment(doc.text[start:stop], start, stop)
            for start, stop in zip(edges[::2], edges[1::2], strict=True)
        )
    )


def _is_order(verb: Token) -> bool:
    """Whether a verb is an imperative: "call me Mrs Whitlock, not Dorothy"."""
    return verb.tag_ == "VB" and not any(
        one.dep_ in ("nsubj", "aux", "nsubjpass") for one in verb.children
    )


def _denied(negation: Token) -> Iterator[Token]:
    """Yield the words after "not" up to the end of their phrase; none if a clause follows."""
    rest = list(negation.doc[negation.i + 1 :])
    found: list[Token] = []
    for token in rest:
        opens = token.pos_ == "ADP" and not found
        if not opens and (token.is_sent_start or not (token.pos_ in _WITHIN or _is_name(token))):
            break
        found.append(token)
    following = rest[len(found) : len(found) + 1]
    if not any(token.pos_ in ("VERB", "AUX", "ADP", "PRON") for token in following):
        yield from found


def _are_alike(said: Token, denied: list[Token], stop: int) -> bool:
    """Whether a phrase and what is denied beside it have the same form."""
    last = denied[-1]
    if not (_is_name(said) and _is_name(last)) and {said.pos_, last.pos_} != {"ADJ"}:
        return False
    if denied[0].pos_ != "ADP":
        return True
    near = said.doc[said.sent.start : stop]
    return len(denied) > 1 and any(token.lower_ == denied[0].lower_ for token in near)


def _is_name(word: Token) -> bool:
    """Whether a word ends a name or number, whatever the parser took it for: "Leigh not Leeds"."""
    return word.pos_ in _NAMES or (word.is_alpha and word.text[0].isupper() and word.pos_ != "PRON")
