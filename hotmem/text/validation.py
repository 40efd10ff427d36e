"""Validation of texts and ids that come from outside."""

import re
import string
from collections.abc import Sequence
from typing import Final

from hotmem.errors import InvalidInput

MAX_TEXT_CHARACTERS: Final = 200_000
"""Characters of one turn: about four hours of speech."""

MAX_STATEMENT_CHARACTERS: Final = 5_000
"""Characters of a statement that is stored directly."""

MAX_ID_CHARACTERS: Final = 512
"""Characters of a user, session or turn id."""

_CONTROL_CHARACTER = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ud800-\udfff\u2028\u2029\ufeff]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DETERMINER = re.compile(r"^(?:a|an|the|my|our|his|her|their)\s+")


def clean_text(text: str) -> str:
    """Strip control characters and surrounding white space; lone surrogates become U+FFFD.

    Tabs and line breaks stay.
    """
    return _CONTROL_CHARACTER.sub("", _SURROGATE.sub("\ufffd", text)).strip()


def validate_text(text: str, name: str = "text", longest: int = MAX_TEXT_CHARACTERS) -> str:
    """Return the cleaned text.

    Args:
        text: The text.
        name: Name of the argument, for error messages.
        longest: Maximum length in characters.

    Raises:
        InvalidInput: If it is not a string, is empty after cleaning, or is too long.
    """
    if not isinstance(text, str):
        raise InvalidInput(
            f"{name} is {type(text).__name__}, not a string. Pass the words that were said."
        )
    if len(text) > longest:
        raise InvalidInput(
            f"{name} has {len(text):,} characters; the maximum is {longest:,}. Split it."
        )
    cleaned = clean_text(text)
    if not cleaned:
        fix = "Leave out turns in which nothing was said." if name == "text" else "Pass some words."
        raise InvalidInput(f"{name} is empty. {fix}")
    return cleaned


def validate_id(value: str, name: str) -> str:
    """Return the id unchanged.

    Raises:
        InvalidInput: If it is not a string, is empty, is longer than `MAX_ID_CHARACTERS`, or
            contains control characters.
    """
    if not isinstance(value, str):
        raise InvalidInput(
            f"{name} is {type(value).__name__}, not a string. Pass str(...) of your own id."
        )
    if not value:
        raise InvalidInput(f"{name} is empty. Pass the id that your program uses.")
    return _validate_label(value, name, "key, such as a hash")


def validate_name(value: str, name: str) -> str:
    """Return the name of a person or a bot unchanged.

    Args:
        value: The name.
        name: Name of the argument, for error messages.

    Raises:
        InvalidInput: As for `validate_id`.
    """
    if not isinstance(value, str) or not value:
        fact = "empty" if value == "" else f"{type(value).__name__}, not a string"
        raise InvalidInput(f"{name} is {fact}. Pass a name, or None if it is not known.")
    return _validate_label(value, name, "name")


def validate_ids(values: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the ids unchanged.

    Raises:
        InvalidInput: If `values` is a single string, or one of them is not a valid id.
    """
    if isinstance(values, str):
        raise InvalidInput(f"{name} is one string. Pass a list of ids.")
    return tuple(validate_id(value, f"an id in {name}") for value in values)


def normalize_value(value: str) -> str:
    """Normalize a value for comparison: lower case, no leading determiner, no outer punctuation."""
    return " ".join(_DETERMINER.sub("", value.casefold().strip(" .,!?;:'\"")).split())


def _validate_label(value: str, name: str, shorter: str) -> str:
    """Return an id or a name unchanged, if its length and characters are valid."""
    if len(value) > MAX_ID_CHARACTERS:
        raise InvalidInput(
            f"{name} has {len(value):,} characters; the maximum is {MAX_ID_CHARACTERS}. "
            f"Use a shorter {shorter}."
        )
    if _CONTROL_CHARACTER.search(value):
        raise InvalidInput(
            f"{name} holds control characters or broken Unicode. Use printable characters."
        )
    return value


END: Final = "|"
"""The word that replaces punctuation, and ends every normalised utterance."""

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_APOSTROPHE: Final = re.compile(r"['’ʼ]")
_TOKEN: Final = re.compile(r"\w+(?:-\w+)*%?|[.?!,;:…—–()]+|(?<!\w)-+(?!\w)")
_HESITATIONS: Final = frozenset(
    {"um", "umm", "uh", "uhm", "uhh", "er", "erm", "err", "hmm", "hm", "mm", "mhm", "ah", "eh"}
)


def normalize(text: str) -> str:
    """Normalise an utterance: "Um, don't." becomes "dont |".

    The result is in lower case with single spaces, without hesitations and apostrophes, and with
    `END` for punctuation and at the end.
    """
    found = [
        token if token[0].isalnum() else END
        for token in _TOKEN.findall(_APOSTROPHE.sub("", text).casefold())
    ]
    spoken = [token for token in found if token not in _HESITATIONS]
    kept = [
        token
        for place, token in enumerate(spoken)
        if token != END or (place and spoken[place - 1] != END)
    ]
    return " ".join([*(kept[:-1] if kept and kept[-1] == END else kept), END])


def ascii_lower(text: str) -> str:
    """The text with A to Z in lower case, and every other character as it is."""
    return text.translate(_LOWER)
