"""Suppression of forgotten words that are still in a bot's conversation.

A bot that repeats them would have them stored again. The words are held as keyed hashes, in this
process only, until the user says them again or the session ends. Names are compared in normal form
(`hotmem.text.names`).
"""

import secrets
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from threading import Lock
from typing import Final, TypeAlias

from cachetools import FIFOCache

from hotmem.text.names import split_unspaced
from hotmem.text.stemming import STOP_STEMS, terms

Phrase: TypeAlias = frozenset[str]
"""Stems; a text that contains all of them is suppressed."""

HashedPhrase: TypeAlias = frozenset[bytes]
"""Hashes of the stems of a phrase."""

HASH_BYTES: Final = 8
KEY_BYTES: Final = 16

CACHED_TEXTS: Final = 2048
"""Number of texts whose hashed words are cached: each turn checks the whole conversation."""


class SuppressedTexts:
    """The forgotten phrases of each user. Thread-safe."""

    def __init__(self) -> None:
        self._phrases: dict[str, dict[bytes, set[HashedPhrase]]] = {}
        self._lengths: dict[str, set[int]] = {}
        self._hashed_texts: FIFOCache[bytes, HashedPhrase] = FIFOCache(CACHED_TEXTS)
        self._key = secrets.token_bytes(KEY_BYTES)
        self._lock = Lock()

    def add(self, user_id: str, phrases: Iterable[Phrase]) -> None:
        """Suppress phrases, without their stop words."""
        content = [phrase - STOP_STEMS for phrase in phrases]
        lengths = {
            len(run) for phrase in content for word in phrase for run in split_unspaced(word)[0]
        }
        hashed = [self._hash_words(phrase) for phrase in content if phrase]
        with self._lock:
            held = self._phrases.setdefault(user_id, {})
            self._lengths.setdefault(user_id, set()).update(lengths)
            for phrase in hashed:
                held.setdefault(min(phrase), set()).add(phrase)

    def drop(self, user_id: str, phrases: Iterable[Phrase]) -> None:
        """Stop suppressing phrases."""
        self._drop(
            user_id,
            [self._hash_words(phrase - STOP_STEMS) for phrase in phrases if phrase - STOP_STEMS],
        )

    def found(self, user_id: str, text: str) -> bool:
        """Whether a text contains a suppressed phrase."""
        return bool(self._found(user_id, text))

    def lift(self, user_id: str, text: str) -> None:
        """Stop suppressing the phrases in a text that the user said."""
        self._drop(user_id, self._found(user_id, text))

    def lift_all(self, user_id: str, texts: Iterable[str]) -> None:
        """Stop suppressing the phrases in texts that were restored."""
        for text in texts:
            self.lift(user_id, text)

    def clear(self, user_id: str) -> None:
        """Stop suppressing all phrases of a user."""
        with self._lock:
            self._phrases.pop(user_id, None)
            self._lengths.pop(user_id, None)

    def _drop(self, user_id: str, hashed: Iterable[HashedPhrase]) -> None:
        with self._lock:
            held = self._phrases.get(user_id, {})
            for phrase in hashed:
                held.get(min(phrase), set()).discard(phrase)

    def _found(self, user_id: str, text: str) -> list[HashedPhrase]:
        if not self._phrases.get(user_id):
            return []
        words = self._words_of(user_id, text)
        with self._lock:
            held = self._phrases.get(user_id, {})
            return [phrase for word in words for phrase in held.get(word, ()) if phrase <= words]

    def _words_of(self, user_id: str, text: str) -> HashedPhrase:
        """Hashes of the words of a text, and of the parts of its runs without spaces.

        The parts have the lengths of the suppressed runs.
        """
        lengths = bytes(sorted(length for length in self._lengths.get(user_id, ()) if length < 256))
        key = self._hash(text, lengths)
        with self._lock:
            cached = self._hashed_texts.get(key)
        if cached is not None:
            return cached
        runs, left = split_unspaced(text)
        hashed = self._hash_words((*terms(left), *self._windows(lengths, runs)))
        with self._lock:
            self._hashed_texts[key] = hashed
        return hashed

    def _windows(self, lengths: bytes, runs: Iterable[str]) -> Iterator[str]:
        """The parts of runs without spaces that have the given lengths."""
        for run in runs:
            for length in lengths:
                yield from (run[start : start + length] for start in range(len(run) - length + 1))

    def _hash_words(self, words: Iterable[str]) -> HashedPhrase:
        return frozenset(self._hash(word) for word in words)

    def _hash(self, text: str, context: bytes = b"") -> bytes:
        hashed = text.encode(errors="surrogatepass") + b"\0" + context
        return blake2b(hashed, key=self._key, digest_size=HASH_BYTES).digest()
