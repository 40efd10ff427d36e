"""Split long texts into passages at sentence ends."""

import re
from typing import Final

PASSAGE_WORDS: Final = 45
"""Target length of a passage, in words."""

MAX_WORD_CHARACTERS: Final = 128
"""Characters without white space that count as one word."""

SENTENCE_END: Final = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_WORD: Final = re.compile(rf"\S{{1,{MAX_WORD_CHARACTERS}}}")


def split_passages(text: str, words: int = PASSAGE_WORDS) -> list[tuple[int, int]]:
    """Split a text at sentence ends into passages of about `words` words.

    Args:
        text: Cleaned text.
        words: Target length of a passage. A sentence of more than twice as many words is cut
            between words, a word of more than `MAX_WORD_CHARACTERS` characters inside it.

    Returns:
        Character spans (start, stop) in order, without overlap, each starting and ending with a
        visible character.
    """
    spans: list[tuple[int, int]] = []
    start, stop, count = 0, 0, 0
    for sentence_start, sentence_stop in _sentences(text, 2 * words):
        size = sum(1 for _ in _WORD.finditer(text, sentence_start, sentence_stop))
        if count and count + size > words + words // 3:
            spans.append((start, stop))
            count = 0
        if not count:
            start = sentence_start
        stop, count = sentence_stop, count + size
    if count:
        spans.append((start, stop))
    return spans


def _sentences(text: str, max_words: int) -> list[tuple[int, int]]:
    """The spans of sentences, those of more than `max_words` words cut between words."""
    ends = [match.span() for match in SENTENCE_END.finditer(text)] + [(len(text), len(text))]
    spans, start = [], 0
    for end, following in ends:
        words = [match.span() for match in _WORD.finditer(text, start, end)]
        for first in range(0, len(words), max_words):
            chunk = words[first : first + max_words]
            spans.append((chunk[0][0], chunk[-1][1]))
        start = following
    return spans
