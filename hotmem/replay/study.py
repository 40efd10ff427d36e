"""A complete replay: recording, sampled exchanges and comparison."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.models import Language
from hotmem.replay.comparison import Comparison, compare
from hotmem.replay.recording import Exchange, Recording
from hotmem.replay.replaying import replay
from hotmem.replay.settings import Setting
from hotmem.text.stemming import STOP_STEMS, terms

MIN_FOREIGN_WORDS: Final = 5
"""Minimum words of a reply without English stop words that counts as not English."""


@dataclass(frozen=True, slots=True)
class Study:
    """A replay and its results.

    Attributes:
        recording: The sessions.
        exchanges: Sampled exchanges.
        comparison: Comparison of the settings.
    """

    recording: Recording
    exchanges: tuple[Exchange, ...]
    comparison: Comparison

    @property
    def days(self) -> tuple[date, date]:
        """First and last day with a turn, UTC."""
        moments = [turn.spoken_at for session in self.recording.sessions for turn in session]
        return min(moments).date(), max(moments).date()

    @property
    def foreign(self) -> float:
        """Share of replies in the sample that are not English, 0 to 1."""
        replies = [terms(exchange.reply) for exchange in self.exchanges]
        return sum(
            len(words) >= MIN_FOREIGN_WORDS and STOP_STEMS.isdisjoint(words) for words in replies
        ) / len(replies)


async def run_study(
    recording: Recording,
    exchanges: Sequence[Exchange],
    settings: Sequence[Setting],
    language: Language,
    advance: Callable[[], None],
) -> Study:
    """Replay the exchanges under every setting; see `hotmem.replay.replaying`.

    Raises:
        InvalidInput: If no question needs memory.
        ModelMissing: If a setting's encoder is not installed.
        StoreError: If the temporary file cannot be written.
    """
    outcomes = await replay(recording, exchanges, settings, language, advance) if exchanges else []
    if not outcomes:
        raise InvalidInput(
            "No user turn with a reply needs memory. Try again after more conversations."
        )
    return Study(recording, tuple(exchanges), compare(settings, outcomes))
