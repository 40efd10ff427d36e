"""Other wordings of training cases: as a recogniser gives them, with an opening, and plain."""

import re
from dataclasses import replace
from typing import Final

from eval.understanding.data import LabelledPair, LabelledTurn, Part

OPENINGS: Final = ("Well, ", "Um, ", "So, ", "Oh, ", "Listen, ", "Okay, ", "You know, ", "Hey, ")
"""What people say first, whatever follows."""

_DROPPED: Final = re.compile(r"[^\w\s'’&+-]|(?<!\w)['’]|['’](?!\w)")
"""What a speech recogniser does not write."""

_SUBJECT: Final = re.compile(r"\bThe user(['’]s)?(?: (\w+))?", re.IGNORECASE)
_PLAIN_VERBS: Final = {"is": "am", "has": "have", "does": "do", "was": "was", "goes": "go"}


def recognised_turn(turn: LabelledTurn) -> LabelledTurn:
    """Return a turn as a recogniser gives it: in lower case, without punctuation."""
    text = _without_case(turn.text)
    return replace(turn, clean=False, text=text) if len(text) == len(turn.text) else turn


def recognised_pair(pair: LabelledPair) -> LabelledPair:
    """Return a pair whose turn is as a recogniser gives it."""
    return replace(pair, clean=False, new=_without_case(pair.new))


def opened(turn: LabelledTurn, opening: str) -> LabelledTurn:
    """Return a turn that begins with other words."""
    parts = tuple(
        replace(part, start=part.start + len(opening), stop=part.stop + len(opening))
        for part in turn.parts
    )
    return replace(turn, text=opening + turn.text, parts=parts)


def plain_turn(turn: LabelledTurn, part: Part) -> LabelledTurn:
    """Return a turn that says the statement of a part, in plain words and nothing else."""
    text = first_person(part.statement)
    return replace(turn, before="", text=text, parts=(replace(part, start=0, stop=len(text)),))


def plain_pair(pair: LabelledPair) -> LabelledPair:
    """Return a pair whose turn says what is true afterwards, in plain words."""
    return replace(pair, new=first_person(pair.result))


def first_person(statement: str) -> str:
    """Return a statement about the user as the user would say it: "I live in Leeds."."""

    def said(match: re.Match[str]) -> str:
        possessive, verb = match[1], match[2]
        if possessive:
            return f"my {verb}" if verb else "my"
        if not verb:
            return "I"
        plain = _PLAIN_VERBS.get(verb)
        if plain is None:
            plain = re.sub(r"ies$", "y", verb) if verb.endswith("ies") else re.sub(r"s$", "", verb)
        return f"I {plain}"

    text = re.sub(r"\btheir\b", "my", _SUBJECT.sub(said, statement))
    return text[:1].upper() + text[1:]


def _without_case(text: str) -> str:
    """Return a text in lower case, with spaces for punctuation, so that offsets stay."""
    return _DROPPED.sub(" ", text).lower()
