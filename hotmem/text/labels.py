"""Names of subcategories, made of their keywords."""

from collections.abc import Iterator, Sequence
from itertools import combinations, count
from typing import Final

KEYWORDS_PER_NAME: Final = 2
"""Words of a name."""

KEYWORD_SEPARATOR: Final = ", "
"""What stands between the words of a name."""


def propose_names(words: Sequence[str], otherwise: str) -> Iterator[str]:
    """Names for a group with these keywords, the best first, without end.

    One without keywords is called `otherwise`, with a number.
    """
    yield from (
        map(KEYWORD_SEPARATOR.join, combinations(words, min(KEYWORDS_PER_NAME, len(words))))
        if words
        else ()
    )
    yield from (f"{otherwise} {number}" for number in count(1))
