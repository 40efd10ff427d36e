"""What HotMem accepts as text and as an id, how values compare, and how long texts are cut into passages."""

import re
from collections.abc import Sequence
from typing import Final

from hotmem.errors import InvalidInput

MAX_TEXT: Final = 200_000
"""Characters of one turn; about four hours of speech at 150 words a minute."""

LONGEST_STATEMENT: Final = 5_000
"""Characters of a statement that is stored outright; the encoder reads the first thousand or so."""

MAX_ID: Final = 512
"""Characters of a user, session or turn id."""

PASSAGE_WORDS: Final = 45
"""Words a passage aims at. Long turns found as passages of about 45 words deliver 0.50 of BEAM's
evidence, as whole turns 0.19."""

LONGEST_WORD: Final = 128
"""Characters without white space that count as one word; what is longer is an address, or was
never said."""

_UNSPEAKABLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ud800-\udfff\u2028\u2029\ufeff]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DETERMINER = re.compile(r"^(?:a|an|the|my|our|his|her|their)\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_WORD = re.compile(rf"\S{{1,{LONGEST_WORD}}}")


def clean(text: str) -> str:
    """Removes what cannot be stored or spoken and trims the ends.

    Every other character stays as it is.

    Lone surrogates become U+FFFD, control characters other than tab and line breaks disappear.
    """
    return _UNSPEAKABLE.sub("", _SURROGATE.sub("\ufffd", text)).strip()


def checked_text(text: str, name: str = "text", longest: int = MAX_TEXT) -> str:
    """The cleaned text.

    Args:
        text: The text.
        name: What an error calls it.
        longest: Characters at most.

    Raises:
        InvalidInput: If it is not a string, holds no visible character, or is longer than that.
    """
    if not isinstance(text, str):
        raise InvalidInput(
            f"{name} is {type(text).__name__}, not a string. Pass the words that were said."
        )
    if len(text) > longest:
        raise InvalidInput(
            f"{name} has {len(text):,} characters; at most {longest:,} are taken at once. Split it."
        )
    cleaned = clean(text)
    if not cleaned:
        raise InvalidInput(
            f"{name} is empty. {'Leave out turns in which nothing was said.' if name == 'text' else 'Write some words.'}"
        )
    return cleaned


def checked_id(value: str, name: str) -> str:
    """The id, unchanged.

    Raises:
        InvalidInput: If it is not a string, is empty, longer than `MAX_ID`, or holds characters
            that cannot be stored.
    """
    if not isinstance(value, str):
        raise InvalidInput(
            f"{name} is {type(value).__name__}, not a string. Pass str(...) of your own id."
        )
    if not value:
        raise InvalidInput(f"{name} is empty. Pass the id by which your program knows it.")
    if len(value) > MAX_ID:
        raise InvalidInput(
            f"{name} has {len(value):,} characters; an id has 1 to {MAX_ID}. Use a shorter key, such as a hash."
        )
    if _UNSPEAKABLE.search(value):
        raise InvalidInput(
            f"{name} holds control characters or broken Unicode. Use printable characters."
        )
    return value


def checked_ids(values: Sequence[str], name: str) -> tuple[str, ...]:
    """The ids, unchanged.

    Raises:
        InvalidInput: If it is one string, or one of them is no id.
    """
    if isinstance(values, str):
        raise InvalidInput(f"{name} is one string. Pass a list of ids.")
    return tuple(checked_id(value, f"an id in {name}") for value in values)


def plain(value: str) -> str:
    """A value for comparing: lower case, without articles, possessives and punctuation."""
    return " ".join(_DETERMINER.sub("", value.casefold().strip(" .,!?;:'\"")).split())


def passages(text: str, words: int = PASSAGE_WORDS) -> list[tuple[int, int]]:
    """Cuts a text at sentence ends into passages of about `words` words.

    Args:
        text: Cleaned text.
        words: Words a passage aims at. A sentence of more than twice as many is cut between words,
            a word of over `LONGEST_WORD` characters within.

    Returns:
        Character spans (start, stop) in order, without overlap, each starting and ending with a
        visible character.
    """
    spans: list[tuple[int, int]] = []
    start, stop, count = 0, 0, 0
    for piece_start, piece_stop in _pieces(text, 2 * words):
        size = sum(1 for _ in _WORD.finditer(text, piece_start, piece_stop))
        if count and count + size > words + words // 3:
            spans.append((start, stop))
            count = 0
        if not count:
            start = piece_start
        stop, count = piece_stop, count + size
    if count:
        spans.append((start, stop))
    return spans


def _pieces(text: str, most_words: int) -> list[tuple[int, int]]:
    """Sentences as spans; over-long ones cut between words."""
    ends = [match.span() for match in _SENTENCE_END.finditer(text)] + [(len(text), len(text))]
    spans, start = [], 0
    for end, following in ends:
        words = [match.span() for match in _WORD.finditer(text, start, end)]
        for first in range(0, len(words), most_words):
            chunk = words[first : first + most_words]
            spans.append((chunk[0][0], chunk[-1][1]))
        start = following
    return spans
