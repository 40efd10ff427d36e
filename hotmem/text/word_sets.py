"""Sets of words, written as one string."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final


def wordlist(words: str) -> frozenset[str]:
    """Split a string into a set of words: `wordlist("dog cat")` is `frozenset({"dog", "cat"})`."""
    return frozenset(words.split())


def word_sets(module: str) -> dict[str, frozenset[str]]:
    """The sets of words in the JSON file beside a module, by name."""
    written = json.loads(Path(module).with_suffix(".json").read_text("utf-8"))
    return {name: wordlist(words) for name, words in written.items()}


STOP_WORDS: Final = word_sets(__file__)["stop"]
"""spaCy's English list (MIT), copied because importing it would load spaCy."""

_LISTS: Final[Mapping[str, str]] = json.loads(
    Path(__file__).with_name("function_words.json").read_text("utf-8")
)

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: wordlist(words) for language, words in _LISTS.items() if language != "shared"
}
"""Function words of languages other than English, most frequent ones first, in lower case with
their diacritics; for Japanese and Chinese the pairs of characters that they are cut into. A text
with several of them is of that language (`hotmem.text.language_detection`). In a question they are
no search terms."""

SHARED_WORDS: Final = wordlist(_LISTS["shared"])
"""Words that English sentences, exclamations and names have too: alone they are no sign of another
language."""
