"""What is said in jest: "I live on the moon, just kidding" tells nothing."""

import re
from collections.abc import Iterator
from typing import Final

_JEST: Final = re.compile(
    r"(?:\b(?:ha)+h?\b[\s,.!]*)*\b(?:(?:i['’]?\s*a?m|was)\s+)?(?:(?:just|only)\s+)?(?:kidding|joking|messing\s+with\s+you|pulling\s+your\s+leg)\b"
    r"|\b(?:that|it|this)(?:['’]s|\s+(?:is|was))\s+(?:just\s+|only\s+)?a\s+joke\b|\bjust\s+a\s+joke\b|(?<=,)\s*not\s+really\s*(?=[.!]|$)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"(?:\bnot|n['’]t|\bno)\s*$", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?]+\s*")


def jests(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of an utterance, in characters, that its speaker says were a joke: the sentence up to the remark, or the one before it."""
    for match in _JEST.finditer(text):
        if _DENIED.search(text[: match.start()]):
            continue
        starts = [0, *(end.end() for end in _SENTENCE_END.finditer(text) if end.end() <= match.start())]
        own = starts[-1]
        if not re.search(r"\w", text[own : match.start()]) and len(starts) > 1:
            own = starts[-2]
        yield own, match.start()
