"""Function words of languages other than English, most frequent ones first.

A text with several of them is of that language (`hotmem.text.language_detection`). In a question
they are no search terms.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hotmem.text.word_sets import wordlist

_FILE: Final = Path(__file__).with_suffix(".json")
_LISTS: Final[Mapping[str, str]] = json.loads(_FILE.read_text("utf-8"))

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: wordlist(words) for language, words in _LISTS.items() if language != "shared"
}
"""Words by language, in lower case with their diacritics; for Japanese and Chinese the pairs of
characters that they are cut into."""

SHARED_WORDS: Final = wordlist(_LISTS["shared"])
"""Words that English sentences, exclamations and names have too: alone they are no sign of another
language."""
