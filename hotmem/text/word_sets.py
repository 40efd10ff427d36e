"""Sets of words, written as people read them."""


def wordlist(words: str) -> frozenset[str]:
    """The words of a string as a set: `wordlist("dog cat")` is `frozenset({"dog", "cat"})`."""
    return frozenset(words.split())
