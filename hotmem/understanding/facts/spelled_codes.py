"""Numbers and codes, which are kept word for word or not at all.

"four four seven two", "l s six six d d".
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Token

_SPELLING_WORDS: Final = wordlist(
    "oh nought double triple treble dash hyphen slash dot point underscore hash capital"
)
"""Words used when a code is read out."""

MAX_CODE_TOKENS: Final = 24
"""Tokens of the longest code that is read out."""

_CODE_WORD_POS: Final = frozenset({"NOUN", "PROPN", "NUM", "ADJ", "VERB", "X", "SYM"})
"""Parts of speech of words in a password, as they are parsed."""

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


def keeps_codes_whole(words: Sequence[Token]) -> bool:
    """Whether no number among the words is cut: "0113 4567" of "0113 224 4567"."""
    kept = {token.i for token in words}
    numbers = [token for token in words if is_code_token(token)]
    beside = (other for token in numbers for other in token.doc[max(token.i - 1, 0) : token.i + 2])
    return all(other.i in kept or not is_code_token(other) for other in beside)


def spelled_code(value: Token) -> tuple[Token, ...]:
    """Return the tokens of the code of which `value` is the head; () if it has other words too."""
    doc = value.doc
    inner = [token for token in value.subtree if is_code_token(token)]
    if not inner:
        return ()
    first, last = inner[0].i, inner[0].i + 1
    while first and _can_be_inside_code(doc[first - 1]):
        first -= 1
    while last < len(doc) and _can_be_inside_code(doc[last]):
        last += 1
    while last > first and not (
        is_code_token(doc[last - 1]) or doc[last - 1].lower_ in _LETTER_WORDS
    ):
        last -= 1
    found = tuple(doc[first:last])
    alone = all(token in found or token.is_punct for token in (value, *value.lefts))
    return found if alone and sum(map(is_code_token, found)) > 1 else ()


def code_after(verb: Token) -> tuple[Token, ...]:
    """Return the code that a clause ends with, with its words: "is pancake seven seven".

    () if another part of the clause follows, or if there is no number or letter in it.
    """
    found = tuple(
        takewhile(
            lambda token: _can_be_inside_code(token) or token.pos_ in _CODE_WORD_POS,
            verb.doc[verb.i + 1 : verb.i + 1 + MAX_CODE_TOKENS],
        )
    )
    if not found or not any(map(is_code_token, found)):
        return ()
    following = verb.doc[found[-1].i + 1 : found[-1].i + 2]
    ended = not following or following[0].is_punct or following[0].is_sent_start
    last = found[-1]
    return found if ended and (is_spelt(last) or last.lower_ in _SPELLING_WORDS) else ()


def _can_be_inside_code(token: Token) -> bool:
    return (
        is_code_token(token)
        or token.lower_ in _SPELLING_WORDS
        or token.lower_ in _LETTER_WORDS
        or token.text in ("-", "/", "+")
    )
