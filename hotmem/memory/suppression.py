"""Suppression of forgotten words that are still in a bot's conversation.

A bot that repeats them would have them stored again. The words are held as keyed hashes, in this
process only, until the user says them again or the session ends. Names are compared in normal form
(`hotmem.text.names`).
"""

import secrets
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import Final, TypeAlias

from cachetools import FIFOCache

from hotmem.core.threads import run_off_loop
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.text.names import split_unspaced, whole_words
from hotmem.text.stemming import STOP_STEMS, terms
from hotmem.types import ContextBlock

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


class Suppression:
    """What the user had forgotten or said off the record, and is not to come back.

    Args:
        database: Returns the open database.

    Attributes:
        forgotten: The words of forgotten turns and memories.
        version: Number of the latest deletion that this process knows of.
    """

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self.forgotten = SuppressedTexts()
        self.version = 0
        self._off_record = SuppressedTexts()

    def hides(self, text: str, *, user_id: str) -> bool:
        """Whether a text repeats what the user had forgotten: no language model is to see it."""
        return self.forgotten.found(user_id, text)

    def withholds(self, text: str, *, user_id: str) -> bool:
        """Whether a text repeats what the user had forgotten or said off the record.

        It counts for the rest of the session, until the user speaks of it again.
        """
        return self.hides(text, user_id=user_id) or self._off_record.found(user_id, text)

    def current(self, block: ContextBlock | None) -> ContextBlock | None:
        """The block; None if something was forgotten since it was made, which it may hold."""
        if block is None or block.forget_version is None or block.forget_version >= self.version:
            return block
        return None

    async def withhold(self, text: str, *, user_id: str) -> None:
        """Suppresses what was said off the record.

        No turn of the bot and no tool stores its words, unless they are stored already.
        """
        phrases = single_words(await run_off_loop(len(text), partial(whole_words, text)))
        self._off_record.add(user_id, phrases)
        database = self._database()
        user = await database.read_all(queries.users.find, user_id)
        if user is not None:
            _, stored = await database.read(queries.forget.words_by_speaker, user)
            self._off_record.drop(user_id, phrases & single_words(stored))

    def speaks_of(self, text: str, *, user_id: str) -> None:
        """Ends the suppression of what the user speaks of themselves.

        `Memory.remember` calls it for every turn of the user.
        """
        self.forgotten.lift(user_id, text)
        self._off_record.lift(user_id, text)

    def clear(self, user_id: str) -> None:
        """Ends the suppression of all that a user had forgotten or said off the record."""
        self.forgotten.clear(user_id)
        self._off_record.clear(user_id)


def single_words(words: Iterable[str]) -> set[Phrase]:
    """Each word as a phrase."""
    return {frozenset({word}) for word in words}
