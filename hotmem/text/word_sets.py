"""Sets of words, written as one string."""

import json
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
