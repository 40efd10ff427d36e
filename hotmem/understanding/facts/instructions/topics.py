"""Topics of standing instructions: forms of address, units, language, length.

A new instruction replaces an earlier one on the same exclusive topic.
"""

import re
from collections.abc import Iterator
from typing import Final

from hotmem.text.word_sets import wordlist

_NON_NAMES: Final = wordlist(
    "by from please instead not never always when whenever in at on and or but now again only "
    "just like with a an the my your that this it "
    "names they them she her he him anything everything whatever something because since if for "
    "to as until till while during after before so thanks "
    "back okay ok today tomorrow tonight"
)
_NAMES: Final = rf"(?!(?:{'|'.join(sorted(_NON_NAMES))})\b)"
_ONE: Final = (
    rf"(?:(?:mr|mrs|ms|miss|dr|doctor|prof|professor|captain|sir|lady|auntie"
    rf"|uncle)\b\.?\s+{_NAMES})?[\w][\w'’-]*"
)
_FORMS: Final = (
    r"\bcall(?:s|ed|ing)?\s+(?:me|her|him|them|the\s+user)\s+(?:by\s+my\s+\w+\s+name,?\s+"
    r"|just\s+|always\s+|only\s+)?",
    r"\b(?:address|refer\s+to)\s+(?:me|her|him|them|the\s+user)\s+(?:only\s+|always\s+)?as\s+",
    r"\b(?:to\s+be|being|is|am)\s+(?:called|named|addressed\s+as)\s+",
    r"\bgo(?:es)?\s+by\s+",
    r"\b(?:my|user['’]s)\s+name\s+is\s+",
)
_CALLED: Final = re.compile(
    rf"(?:{'|'.join(_FORMS)})[\"“'‘]?(?P<name>{_ONE}(?:\s+{_NAMES}(?-i:[A-Z])[\w'’-]*){{0,2}})",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"\b(?:(?:do|did|does|would|wouldn|didn|don|doesn)(?:['’]?t|\s+not)|never|not|stop|quit"
    r"|hates?|dislikes?|nobody|no\s*-?one|none|neither|no\s+longer"
    r"|only\s+my|you\s+keep|used\s+to|hardly|rarely|anything\s+but|everything\s+but)\b",
    re.IGNORECASE,
)
_RESTART: Final = re.compile(
    r"[,;.]|\b(?:but|so|please|instead|just)\b|\bcall(?:s|ed|ing)?\s+me\s+(?=\S)", re.IGNORECASE
)
"""Boundaries after which an earlier refusal no longer applies."""

EXCLUSIVE_TOPICS: Final = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "name": r"call(?:ed|ing)?\s+(?:me|her|him|them)|address\s+(?:me|her|him|them)|go\s+by"
        r"|to\s+be\s+called",
        "language": (
            r"(?:speak|talk|answer|reply|respond|write)\b[^,;.]*\b(?:english|german|french"
            r"|spanish|italian|portuguese|russian|chinese|mandarin|japanese"
            r"|korean|arabic|hindi|dutch|swedish|norwegian|danish|polish|turkish|greek|welsh)"
        ),
        "temperature": r"celsius|centigrade|fahrenheit",
        "distance": r"miles|kilomet(?:re|er)s?|km",
        "weight": r"kilos?|kilograms?|pounds\s+and\s+ounces|stones?",
        "clock": r"(?:24|12|twenty[\s-]four|twelve)[\s-]hour|military\s+time",
        "length": r"(?:keep|make|be|like|prefer|want|give)\b[^,;.]*\b(?:short|shorter|brief"
        r"|concise|long|longer|detailed|thorough)",
        "speed": r"(?:speak|talk|read|go)\b[^,;.]*\b(?:slow(?:er|ly)?|fast(?:er)?|quick(?:er"
        r"|ly)?|speed|pace)",
        "volume": r"(?:speak|talk|go)\b[^,;.]*\b(?:loud(?:er|ly)?|quiet(?:er|ly)?|softly|softer"
        r"|volume)|speak\s+up",
    }.items()
}
"""Topics that allow one instruction at a time, by their patterns."""


def preferred_name(words: str) -> str:
    """Return the name to call the user by; "" if there is none.

    A form of address takes precedence over "my name is".
    """
    found = [match for match in _names(words) if not is_refused(words[: match.start("name")])]
    wished = sorted(found, key=lambda match: "name is" in " ".join(match[0].casefold().split()))
    return next((capitalize_words(match["name"]) for match in wished), "")


def refused_name(words: str) -> str:
    """Return the name not to call the user by; "" if there is none."""
    found = (match for match in _names(words) if is_refused(words[: match.start("name")]))
    return next((match["name"] for match in found), "")


def is_refused(before: str) -> bool:
    """Whether a name after these words is refused: "nobody calls me"."""
    *_, last = ["", *(part for part in _RESTART.split(before) if part.strip())]
    return bool(_REFUSAL.search(last))


def capitalize_words(name: str) -> str:
    """Capitalise a name, as speech recognisers may not."""
    return " ".join(f"{word[:1].upper()}{word[1:]}" for word in name.split())


def exclusive_topics(words: str) -> frozenset[str]:
    """Return the exclusive topics of an instruction; a refused name replaces nothing."""
    return frozenset(
        name
        for name, form in EXCLUSIVE_TOPICS.items()
        if form.search(words) and (name != "name" or preferred_name(words))
    )


def _names(words: str) -> Iterator[re.Match[str]]:
    return (
        match for match in _CALLED.finditer(words) if match["name"].casefold() not in _NON_NAMES
    )
