"""A whole replay: what was recorded, what was asked about, and how the settings compare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.models import Language
from hotmem.replay.comparison import Comparison, compared
from hotmem.replay.recording import Exchange, Recording
from hotmem.replay.replaying import replayed
from hotmem.replay.settings import Setting
from hotmem.text.stemming import STOP_STEMS, terms

FOREIGN_WORDS: Final = 5
"""Words from which a reply without any of the commonest English ones is not English."""


@dataclass(frozen=True, slots=True)
class Study:
    """A replay and what came of it.

    Attributes:
        recording: The sessions.
        exchanges: The exchanges of the sample.
        comparison: How the settings compare over them.
    """

    recording: Recording
    exchanges: tuple[Exchange, ...]
    comparison: Comparison

    @property
    def days(self) -> tuple[date, date]:
        """The first and the last day on which anything was said, in UTC."""
        moments = [turn.spoken_at for session in self.recording.sessions for turn in session]
        return min(moments).date(), max(moments).date()

    @property
    def foreign(self) -> float:
        """Share of the sample's replies that are not English, 0 to 1."""
        replies = [terms(exchange.reply) for exchange in self.exchanges]
        return sum(
            len(words) >= FOREIGN_WORDS and STOP_STEMS.isdisjoint(words) for words in replies
        ) / len(replies)


async def study(
    recording: Recording,
    exchanges: Sequence[Exchange],
    settings: Sequence[Setting],
    language: Language,
    advance: Callable[[], None],
) -> Study:
    """Replays the exchanges under every setting; see `hotmem.replay.replaying`.

    Raises:
        InvalidInput: If no question needs memory.
        ModelMissing: If a setting's encoder is not installed.
        StoreError: If the temporary file cannot be written.
    """
    outcomes = (
        await replayed(recording, exchanges, settings, language, advance) if exchanges else []
    )
    if not outcomes:
        raise InvalidInput(
            "None of the turns that the bot replied to asks for anything that a memory could know. Come back after more conversations."
        )
    return Study(recording, tuple(exchanges), compared(settings, outcomes))
