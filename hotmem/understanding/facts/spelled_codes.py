"""Numbers and codes, which are told word for word or not at all.

"four four seven two", "l s six six d d".
"""

from collections.abc import Sequence
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token

_SPELLING: Final = wordlist(
    "oh nought double triple treble dash hyphen slash dot point underscore hash capital"
)
"""What is said between the digits and letters of a code."""

_WORDS: Final = frozenset({"a", "i"})
"""Letters that are words too."""


def is_code_token(token: Token) -> bool:
    """Whether a token is a number, part of one, or a letter said alone."""
    return (
        token.like_num
        or any(letter.isdigit() for letter in token.text)
        or (len(token) == 1 and token.is_alpha and token.lower_ not in _WORDS)
    )


def keeps_codes_whole(words: Sequence[Token]) -> bool:
    """Whether none of the words is a number that goes on with one left out.

    "0113 4567" of "0113 224 4567".
    """
    kept = {token.i for token in words}
    numbers = [token for token in words if is_code_token(token)]
    beside = (other for token in numbers for other in token.doc[max(token.i - 1, 0) : token.i + 2])
    return all(other.i in kept or not is_code_token(other) for other in beside)


def spelled_code(value: Token) -> tuple[Token, ...]:
    """The numbers and letters that a code is made of, of which `value` is the head.

    () if other words are of it too.
    """
    doc = value.doc
    inner = [token for token in value.subtree if is_code_token(token)]
    if not inner:
        return ()
    first, last = inner[0].i, inner[0].i + 1
    while first and _within(doc[first - 1]):
        first -= 1
    while last < len(doc) and _within(doc[last]):
        last += 1
    while last > first and not (is_code_token(doc[last - 1]) or doc[last - 1].lower_ in _WORDS):
        last -= 1
    found = tuple(doc[first:last])
    alone = all(token in found or token.is_punct for token in (value, *value.lefts))
    return found if alone and sum(map(is_code_token, found)) > 1 else ()


def _within(token: Token) -> bool:
    return (
        is_code_token(token)
        or token.lower_ in _SPELLING
        or token.lower_ in _WORDS
        or token.text in ("-", "/", "+")
    )
