"""What users had forgotten, as words: a bot that still has them in its conversation would say them again and so bring them back.

They are held in this process alone, until the user speaks of them again or a session of theirs ends.
"""

from collections.abc import Iterable

from hotmem.terms import STOPS, stems

Phrase = frozenset[str]
"""Stems; a text that holds all of them tells what is forgotten."""


class Withheld:
    """The forgotten phrases of each user."""

    def __init__(self) -> None:
        self._phrases: dict[str, dict[str, set[Phrase]]] = {}

    def add(self, user_id: str, phrases: Iterable[Phrase]) -> None:
        """Notes what is not to come back; words that tell nothing by themselves may."""
        held = self._phrases.setdefault(user_id, {})
        for phrase in filter(None, (phrase - STOPS for phrase in phrases)):
            held.setdefault(min(phrase), set()).add(phrase)

    def drop(self, user_id: str, phrases: Iterable[Phrase]) -> None:
        """Takes phrases that were added out again."""
        held = self._phrases.get(user_id, {})
        for phrase in filter(None, (phrase - STOPS for phrase in phrases)):
            held.get(min(phrase), set()).discard(phrase)

    def found(self, user_id: str, text: str) -> bool:
        """Whether a text tells what the user had forgotten."""
        return bool(self._found(user_id, text))

    def lift(self, user_id: str, text: str) -> None:
        """What the user says themselves is no longer forgotten."""
        self.drop(user_id, self._found(user_id, text))

    def clear(self, user_id: str) -> None:
        """Holds nothing of the user any more."""
        self._phrases.pop(user_id, None)

    def _found(self, user_id: str, text: str) -> list[Phrase]:
        held = self._phrases.get(user_id)
        if not held:
            return []
        told = stems(text)
        return [phrase for word in told for phrase in tuple(held.get(word, ())) if phrase <= told]
