"""Numbers and codes, which are kept word for word or not at all.

"four four seven two", "l s six six d d".
"""

from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Token

_SPELLING_WORDS: Final = wordlist(
    "oh nought double triple treble dash hyphen slash dot point underscore hash capital"
)
"""Words used when a code is read out."""

_LETTER_WORDS: Final = frozenset({"a", "i"})
"""Letters that are words too."""

_OF_CODES: Final = frozenset({"nought", "naught", "double", "triple"})
"""Words of codes that the parser does not know for numbers."""


def is_code_token(token: Token) -> bool:
    """Whether a token is a number, contains a digit, or is a single letter."""
    return (
        token.like_num
        or token.lower_ in _OF_CODES
        or any(letter.isdigit() for letter in token.text)
        or (len(token) == 1 and token.is_alpha and token.lower_ not in _LETTER_WORDS)
    )


def is_spelt(token: Token) -> bool:
    """Whether a token is a number or a letter that is read out: the "i" of "m a r i a"."""
    if token.lower_ not in _LETTER_WORDS:
        return is_code_token(token)
    before = token.doc[token.i - 1] if token.i else token
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else token
    hyphened = (after.text == "-" and not token.whitespace_) or (
        before.text == "-" and not before.whitespace_
    )
    beside = [after] if token.whitespace_ else []
    beside += [before] if before.whitespace_ else []
    return (
        hyphened
        or any(len(one) == 1 and is_code_token(one) for one in beside)
        or (token.text == "I" and bool(token.ent_type_) and token.ent_iob_ == "I")
    )


def is_read_out(token: Token) -> bool:
    """Whether a token may be part of a code that is read out: also "double" and "dash"."""
    return is_spelt(token) or token.lower_ in _SPELLING_WORDS


def opens_code(token: Token) -> bool:
    """Whether a word begins a code or a value with a letter: "oh seven seven", "O negative"."""
    if is_code_token(token):
        return True
    return is_read_out(token) and any(map(is_read_out, token.doc[token.i + 1 : token.i + 2]))
