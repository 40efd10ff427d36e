"""Jokes: "I live on the moon, just kidding" states nothing."""

import re
from collections.abc import Iterator
from typing import Final

_JOKE_REMARK: Final = re.compile(
    r"(?:\b(?:ha)+h?\b[\s,.!]*)*\b(?:(?:i['’]?m|i\s+am|(?:i\s+)?was)\s+)?(?:(?:just"
    r"|only)\s+)?(?:kidding|joking|messing\s+with\s+you|pulling\s+your\s+leg)\b"
    r"|\b(?:that|it|this)(?:['’]s|\s+(?:is|was))\s+(?:just\s+|only\s+)?a\s+joke\b"
    r"|\bjust\s+a\s+joke\b|(?<=,)\s*not\s+really\s*(?=[.!]|$)",
    re.IGNORECASE,
)
_LAUGHTER: Final = re.compile(r"\b(?:a?(?:ha){2,}h?|(?:he){2,}|lo+l|lmao)\b", re.IGNORECASE)
_DENIED: Final = re.compile(r"(?:\bnot|n['’]t|\bno)\s*$", re.IGNORECASE)
_REMARK_OPENING: Final = re.compile(
    r"^(?:\W*(?:no|nah|well|okay|ok|hey|sorry|don['’]?t believe that(?: one)?|(?:i"
    r"|we) (?:didn['’]?t|don['’]?t|haven['’]?t))\b)*\W*$",
    re.IGNORECASE,
)
"""Words that may precede a remark about the previous turn."""

_CONTINUATION: Final = re.compile(r"\s*,[^.!?]*")
"""The rest of the sentence after a remark that opens a turn, which may be the next joke."""

_SENTENCE_END: Final = re.compile(r"[.!?]+\s*")


_DENIED_AT_ONCE: Final = re.compile(
    r"\w\W{1,9}no,? (?:i|s?he|it|we|they)(?:['’]m not| \w+ not| \w+n['’]t)\b|(?:n['’]t|\bnot)\b"
    r".{,200}?\b(?:yes|well),? (?:i|s?he|it|we|they) (?:am|is|are|do|does|did|have|has)\b",
    re.IGNORECASE,
)


def is_denied_at_once(text: str) -> bool:
    """Whether an utterance denies what it has just said: "he left me, no he didn't"."""
    return _DENIED_AT_ONCE.search(text) is not None


def retracts_previous_turn(text: str) -> bool:
    """Whether an utterance begins by calling the previous turn a joke."""
    match = _JOKE_REMARK.search(text)
    return match is not None and bool(_REMARK_OPENING.match(text[: match.start()]))


def has_laughter(text: str) -> bool:
    """Whether somebody laughs in a text: "haha"."""
    return _LAUGHTER.search(text) is not None


def joke_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the character spans that the speaker calls a joke.

    A span is the sentence up to the remark, or the sentence before it.
    """
    for match in _JOKE_REMARK.finditer(text):
        if _DENIED.search(text[: match.start()]):
            continue
        starts = [
            0,
            *(end.end() for end in _SENTENCE_END.finditer(text) if end.end() <= match.start()),
        ]
        own = starts[-1]
        if not re.search(r"\w", text[own : match.start()]) and len(starts) > 1:
            own = starts[-2]
        yield own, match.start()
        if _REMARK_OPENING.match(text[: match.start()]) and (
            goes_on := _CONTINUATION.match(text, match.end())
        ):
            yield goes_on.span()
