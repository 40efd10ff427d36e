"""What is said in jest: "I live on the moon, just kidding" tells nothing."""

import re
from collections.abc import Iterator
from typing import Final

_JEST: Final = re.compile(
    r"(?:\b(?:ha)+h?\b[\s,.!]*)*\b(?:(?:i['’]?m|i\s+am|(?:i\s+)?was)\s+)?(?:(?:just|only)\s+)?(?:kidding|joking|messing\s+with\s+you|pulling\s+your\s+leg)\b"
    r"|\b(?:that|it|this)(?:['’]s|\s+(?:is|was))\s+(?:just\s+|only\s+)?a\s+joke\b|\bjust\s+a\s+joke\b|(?<=,)\s*not\s+really\s*(?=[.!]|$)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"(?:\bnot|n['’]t|\bno)\s*$", re.IGNORECASE)
_BEFORE: Final = re.compile(
    r"^(?:\W*(?:no|nah|well|okay|ok|hey|sorry|don['’]?t believe that(?: one)?|(?:i|we) (?:didn['’]?t|don['’]?t|haven['’]?t))\b)*\W*$",
    re.IGNORECASE,
)
"""What may stand before a remark about the turn before."""

_GOES_ON: Final = re.compile(r"\s*,[^.!?]*")
"""What is said in one breath with a remark that opens a turn: it may be the next joke."""

_SENTENCE_END: Final = re.compile(r"[.!?]+\s*")


def retracts_previous_turn(text: str) -> bool:
    """Whether an utterance begins by saying that what was said before it was a joke."""
    match = _JEST.search(text)
    return match is not None and bool(_BEFORE.match(text[: match.start()]))


def joke_spans(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of an utterance, in characters, that its speaker says were a joke.

    The sentence up to the remark, or the one before it.
    """
    for match in _JEST.finditer(text):
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
        if _BEFORE.match(text[: match.start()]) and (goes_on := _GOES_ON.match(text, match.end())):
            yield goes_on.span()
