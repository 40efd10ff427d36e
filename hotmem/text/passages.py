"""Passages of long texts, and texts cut to a length."""

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


MAX_QUERY_CHARACTERS: Final = 2_000
"""Characters of a query."""

MAX_PARSED_CHARACTERS: Final = 5_000
"""Characters of any text that is parsed."""

MAX_SYMBOL_RUN: Final = 40
"""Characters in a row that are neither letters nor digits."""

MAX_SHOWN_WORD: Final = 64
"""Letters and digits in a row before a word is split."""

MAX_UNSPACED_RUN: Final = 128
"""Characters without white space, as in a URL, before a space is inserted."""

CHARACTERS_PER_TOKEN: Final = 3
"""Minimum average characters per token; English has five or six, runs of symbols one or two."""

Span = tuple[int, int]
"""Characters (start, stop) of a text; an empty span stands for an inserted space."""

_UNUSUAL: Final = re.compile(
    rf"(?<![\W_])[\W_]{{{MAX_SYMBOL_RUN + 1}}}|(?<![^\W_])[^\W_]{{{MAX_SHOWN_WORD + 1}}}"
    rf"|(?<!\S)\S{{{MAX_UNSPACED_RUN + 1}}}"
)
_PART: Final = re.compile(rf"(?P<word>[^\W_]{{1,{MAX_SHOWN_WORD}}})|[\W_]+")
_TOKEN: Final = re.compile(r"[^\W_]+|[^\w\s]|_|[^\S ]\s*|\s\s+")
"""Upper bound of the tokens of a tokenizer, which rarely splits a word."""


def truncate(text: str, longest: int = MAX_PARSED_CHARACTERS) -> str:
    """Truncate a text, and shorten what would take long to analyse.

    Long runs of symbols are shortened, long words are split, and the text ends after `longest`
    characters or a third as many tokens.

    Args:
        text: Any text; ordinary text is returned unchanged.
        longest: Maximum number of characters.
    """
    return join_spans(text, truncated_spans(text, longest))


def truncate_start(text: str, longest: int = MAX_QUERY_CHARACTERS) -> str:
    """Truncate a text at its start, from the beginning of a word.

    A long utterance has its question at the end.
    """
    if len(text) > longest:
        text = (text[-longest:].split(maxsplit=1) or [""])[-1]
    return truncate(text, longest)


def truncate_middle(text: str, longest: int = MAX_QUERY_CHARACTERS) -> str:
    """Truncate a long text in the middle, with an ellipsis between its ends."""
    if len(text) <= longest:
        return truncate(text, longest)
    return f"{truncate(text, longest // 2)} … {truncate_start(text, longest // 2)}"


def join_spans(text: str, spans: list[Span]) -> str:
    """Join the spans of a truncated text."""
    return (
        text
        if spans == [(0, len(text))]
        else "".join(text[start:stop] if start < stop else " " for start, stop in spans)
    )


def truncated_spans(text: str, longest: int = MAX_PARSED_CHARACTERS) -> list[Span]:
    """The spans that make up a truncated text, in order; one span if only the end is cut."""
    if (
        len(text) <= longest
        and not _UNUSUAL.search(text)
        and _tokens(text, 0, len(text)) <= longest // CHARACTERS_PER_TOKEN
    ):
        return [(0, len(text))]
    spans: list[Span] = []
    length = tokens = symbols = run = 0
    cut = False
    for part in _PART.finditer(text):
        start, stop = part.span()
        word = part["word"] is not None
        if word and (cut or run + stop - start > MAX_UNSPACED_RUN):
            if length + 1 >= longest:
                break
            if symbols == MAX_SYMBOL_RUN:
                spans[-1] = (spans[-1][0], spans[-1][1] - 1)
                length -= 1
            spans.append((start, start))
            length, run = length + 1, 0
        stop = min(stop if word else min(stop, start + MAX_SYMBOL_RUN), start + longest - length)
        tokens += _tokens(text, start, stop)
        if stop <= start or tokens > longest // CHARACTERS_PER_TOKEN:
            break
        if spans and spans[-1][1] == start and spans[-1][0] < start:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
        spaces = re.search(r"\s\S*$", text[start:stop])
        run = stop - start - spaces.start() - 1 if spaces else run + stop - start
        length, symbols, cut = length + stop - start, 0 if word else stop - start, word
    return spans


def _tokens(text: str, start: int, stop: int) -> int:
    """Upper bound of the number of tokens in a span."""
    return sum(1 for _ in _TOKEN.finditer(text, start, stop))
