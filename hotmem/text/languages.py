"""The languages that words can be stemmed in, by their ISO 639-1 codes."""

from typing import Final

from hotmem.errors import InvalidInput

ENGLISH: Final = "en"

STEMMERS: Final = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    ENGLISH: "porter",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""Languages with a stemmer, and what Snowball calls it. English has Porter's (1980), with which the
ranking was fitted."""

UNSTEMMED: Final = ("ja", "ko", "th", "zh")
"""Languages whose words are not stemmed: their text is cut into pairs of characters."""

LANGUAGES: Final = tuple(sorted((*STEMMERS, *UNSTEMMED)))
"""All languages that can be set."""


def checked_language(code: str) -> str:
    """Return the code of a language.

    Raises:
        InvalidInput: If it is not one of `LANGUAGES`.
    """
    if code not in LANGUAGES:
        raise InvalidInput(
            f"language is {code!r}, which is not supported. Use one of {', '.join(LANGUAGES)}."
        )
    return code
