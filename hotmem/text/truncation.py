"""Text as it is analysed.

A parser, a tokenizer or a pattern never gets more of it than it reads quickly.

Tokenizers and patterns take the square of the time for twice as many brackets, the parser takes the
longer the more tokens there are, and they hold the interpreter's lock meanwhile: nothing but the
text itself can be bounded. Ordinary text stays as it is. What is stored and quoted stays whole,
whatever is in it.
"""

import re
from typing import Final

MAX_QUERY_CHARACTERS: Final = 2_000
"""Characters of a question: 200 words have some 1,200."""

MAX_PARSED_CHARACTERS: Final = 5_000
"""Characters of any text that is parsed, as many as a statement may have."""

MAX_SYMBOL_RUN: Final = 40
"""Characters in a row that are neither letters nor digits: spaces, brackets, emoji, marks. A
line of dashes is told by as many."""

MAX_WORD_CHARACTERS: Final = 64
"""Letters and digits in a row, after which a word is cut in two; as many count in a term."""

MAX_UNSPACED_RUN: Final = 128
"""Characters without white space, as in an address, after which a space is put between; the
tokenizer's time grows with their square."""

CHARACTERS_PER_TOKEN: Final = 3
"""Characters for each token that may come of a text, on average. English has five or six; signs
and single letters one and two."""

Span = tuple[int, int]
"""A stretch of characters (start, stop); an empty one stands for a space that is put between."""

_UNUSUAL: Final = re.compile(
    rf"(?<![\W_])[\W_]{{{MAX_SYMBOL_RUN + 1}}}|(?<![^\W_])[^\W_]{{{MAX_WORD_CHARACTERS + 1}}}|(?<!\S)\S{{{MAX_UNSPACED_RUN + 1}}}"
)
_PART: Final = re.compile(rf"(?P<word>[^\W_]{{1,{MAX_WORD_CHARACTERS}}})|[\W_]+")
_TOKEN: Final = re.compile(r"[^\W_]+|[^\w\s]|_|[^\S ]\s*|\s\s+")
"""What may become a token, white space but for a single space among it: no letter or sign stands
in two, and few words are cut in two."""


def truncate(text: str, longest: int = MAX_PARSED_CHARACTERS) -> str:
    """The text as it is analysed: its beginning, without what would take long.

    Long runs of signs and spaces are cut short, long words are cut in two, and what comes after
    `longest` characters, or a third as many tokens, is left out.

    Args:
        text: Any text; ordinary text comes back as it is.
        longest: Characters at most.
    """
    return join_spans(text, truncated_spans(text, longest))


def truncate_start(text: str, longest: int = MAX_QUERY_CHARACTERS) -> str:
    """The same of the end of a text, from the beginning of a word.

    Who talks long comes to the point at the end.
    """
    if len(text) > longest:
        text = (text[-longest:].split(maxsplit=1) or [""])[-1]
    return truncate(text, longest)


def truncate_middle(text: str, longest: int = MAX_QUERY_CHARACTERS) -> str:
    """The same of both ends of a long text, with an ellipsis between."""
    return (
        truncate(text, longest)
        if len(text) <= longest
        else f"{truncate(text, longest // 2)} … {truncate_start(text, longest // 2)}"
    )


def join_spans(text: str, spans: list[Span]) -> str:
    """The readable form of a text, of which these are the stretches."""
    return (
        text
        if spans == [(0, len(text))]
        else "".join(text[start:stop] if start < stop else " " for start, stop in spans)
    )


def truncated_spans(text: str, longest: int = MAX_PARSED_CHARACTERS) -> list[Span]:
    """The stretches of a text that make up its readable form, in order.

    One where nothing but the end is left out.
    """
    if (
        len(text) <= longest
        and not _UNUSUAL.search(text)
        and _tokens(text, 0, len(text)) <= longest // CHARACTERS_PER_TOKEN
    ):
        return [(0, len(text))]
    spans: list[Span] = []
    length = tokens = signs = run = 0
    cut = False
    for part in _PART.finditer(text):
        start, stop = part.span()
        word = part["word"] is not None
        if word and (cut or run + stop - start > MAX_UNSPACED_RUN):
            if length + 1 >= longest:
                break
            if signs == MAX_SYMBOL_RUN:
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
        length, signs, cut = length + stop - start, 0 if word else stop - start, word
    return spans


def _tokens(text: str, start: int, stop: int) -> int:
    """Tokens that may come of a stretch."""
    return sum(1 for _ in _TOKEN.finditer(text, start, stop))
