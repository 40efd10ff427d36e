"""Sets of words, written as one string."""


def wordlist(words: str) -> frozenset[str]:
    """Split a string into a set of words: `wordlist("dog cat")` is `frozenset({"dog", "cat"})`."""
    return frozenset(words.split())
