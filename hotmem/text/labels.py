"""Names of groups, made of their keywords."""

from collections.abc import Iterator, Sequence
from itertools import combinations, count
from typing import Final

KEYWORDS_PER_NAME: Final = 2
"""Keywords in a name."""

KEYWORD_SEPARATOR: Final = " and "
"""Separator of the keywords in a name."""


def propose_names(words: Sequence[str], otherwise: str) -> Iterator[str]:
    """Yield names for a group with these keywords, best first, without end.

    After the combinations of keywords come numbered names, "`otherwise` 1" and so on.
    """
    yield from (
        map(KEYWORD_SEPARATOR.join, combinations(words, min(KEYWORDS_PER_NAME, len(words))))
        if words
        else ()
    )
    yield from (f"{otherwise} {number}" for number in count(1))
