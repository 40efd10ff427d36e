"""What users had forgotten, as words.

A bot that still has them in its conversation would say them again and so bring them back.

Words are held as keyed hashes, in this process alone, until the user speaks of them again or a
session of theirs ends: no forgotten word stays in it on their account. Names are compared in their
normal form (`hotmem.text.names`).
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from threading import Lock
from typing import Final, TypeAlias

from hotmem.text.names import split_unspaced
from hotmem.text.stemming import STOP_STEMS, terms

Phrase: TypeAlias = frozenset[str]
"""Stems; a text that holds all of them tells what is forgotten."""

Sealed: TypeAlias = frozenset[bytes]
"""Hashes of a phrase's stems."""

HASH_BYTES: Final = 8
KEY_BYTES: Final = 16

CACHED_TEXTS: Final = 2048
"""Texts whose hashed words are kept, by a hash of the text: a conversation is looked through
with every turn, and a text takes some 80 µs."""


def phrase_of(name: str) -> Phrase:
    """The words of a name, or of anything else that is to be withheld as a whole."""
    runs, left = split_unspaced(name)
    return frozenset((*runs, *terms(left)))


class SuppressedTexts:
    """The forgotten phrases of each user. Thread-safe."""

    def __init__(self) -> None:
        self._phrases: dict[str, dict[bytes, set[Sealed]]] = {}
        self._lengths: dict[str, set[int]] = {}
        self._told: OrderedDict[bytes, Sealed] = OrderedDict()
        self._key = secrets.token_bytes(KEY_BYTES)
        self._lock = Lock()

    def add(self, user_id: str, phrases: Iterable[Phrase]) -> None:
        """Notes what is not to come back; words that tell nothing by themselves may."""
        told = [phrase - STOP_STEMS for phrase in phrases]
        lengths = {
            len(run) for phrase in told for word in phrase for run in split_unspaced(word)[0]
        }
        sealed = [self._sealed(phrase) for phrase in told if phrase]
        with self._lock:
            held = self._phrases.setdefault(user_id, {})
            self._lengths.setdefault(user_id, set()).update(lengths)
            for phrase in sealed:
                held.setdefault(min(phrase), set()).add(phrase)

    def drop(self, user_id: str, phrases: Iterable[Phrase]) -> None:
        """Takes phrases that were added out again."""
        self._drop(
            user_id,
            [self._sealed(phrase - STOP_STEMS) for phrase in phrases if phrase - STOP_STEMS],
        )

    def found(self, user_id: str, text: str) -> bool:
        """Whether a text tells what the user had forgotten."""
        return bool(self._found(user_id, text))

    def lift(self, user_id: str, text: str) -> None:
        """What the user says themselves is no longer forgotten."""
        self._drop(user_id, self._found(user_id, text))

    def lift_all(self, user_id: str, texts: Iterable[str]) -> None:
        """What is told in texts that are there again is no longer forgotten."""
        for text in texts:
            self.lift(user_id, text)

    def clear(self, user_id: str) -> None:
        """Holds nothing of the user any more."""
        with self._lock:
            self._phrases.pop(user_id, None)
            self._lengths.pop(user_id, None)

    def _drop(self, user_id: str, sealed: Iterable[Sealed]) -> None:
        with self._lock:
            held = self._phrases.get(user_id, {})
            for phrase in sealed:
                held.get(min(phrase), set()).discard(phrase)

    def _found(self, user_id: str, text: str) -> list[Sealed]:
        if not self._phrases.get(user_id):
            return []
        told = self._words_of(user_id, text)
        with self._lock:
            held = self._phrases.get(user_id, {})
            return [phrase for word in told for phrase in held.get(word, ()) if phrase <= told]

    def _words_of(self, user_id: str, text: str) -> Sealed:
        """Hashes of a text's words, and of the parts of its runs without spaces that are as long as what is held."""
        lengths = bytes(sorted(length for length in self._lengths.get(user_id, ()) if length < 256))
        key = self._hash(text, lengths)
        with self._lock:
            known = self._told.get(key)
        if known is not None:
            return known
        runs, left = split_unspaced(text)
        told = self._sealed(
            (*terms(text), *terms(left), *self._windows(lengths, runs)) if runs else terms(left)
        )
        with self._lock:
            self._told[key] = told
            while len(self._told) > CACHED_TEXTS:
                self._told.popitem(last=False)
        return told

    def _windows(self, lengths: bytes, runs: Iterable[str]) -> Iterator[str]:
        """Parts of runs without spaces, as long as what is held."""
        for run in runs:
            for length in lengths:
                yield from (run[start : start + length] for start in range(len(run) - length + 1))

    def _sealed(self, words: Iterable[str]) -> Sealed:
        return frozenset(self._hash(word) for word in words)

    def _hash(self, text: str, beside: bytes = b"") -> bytes:
        return blake2b(
            text.encode(errors="surrogatepass") + b"\0" + beside,
            key=self._key,
            digest_size=HASH_BYTES,
        ).digest()
