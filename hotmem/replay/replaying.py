"""Replay of a recording in a temporary file under every setting, and the study of it."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from time import perf_counter
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.models import Language, load_encoder
from hotmem.options import RecallOptions
from hotmem.ranking.relevance import fitted_model
from hotmem.recall import RecallContext, recall
from hotmem.replay.comparison import Comparison, Outcome, compare, score_block
from hotmem.replay.recording import Exchange, Recording, unrelated_replies
from hotmem.replay.settings import Setting
from hotmem.retrieval.context import RecallRequest
from hotmem.storage import queries
from hotmem.text.stemming import STOP_STEMS, terms
from hotmem.text.validation import clean_text
from hotmem.types import Turn

UNRELATED_REPLIES: Final = 4
"""Unrelated replies per block for the correction of coincidence; more are slower."""

Outcomes = list[list[Outcome]]
"""For each exchange that needs memory, the outcomes in the order of the settings."""


def total_steps(
    recording: Recording, exchanges: Sequence[Exchange], settings: Sequence[Setting]
) -> int:
    """Return the number of steps of `replay`: turns stored and blocks made."""
    return recording.turns * len(_by_encoder(settings)) + len(exchanges) * len(settings)


async def replay(
    recording: Recording,
    exchanges: Sequence[Exchange],
    settings: Sequence[Setting],
    language: Language,
    advance: Callable[[], None],
) -> Outcomes:
    """Make the block of each setting for each exchange, and score it by the reply.

    Args:
        recording: The sessions.
        exchanges: Sampled exchanges, in order.
        settings: Settings to compare.
        language: Parser.
        advance: Called after each step; see `total_steps`.

    Raises:
        ModelMissing: If a setting's encoder is not installed.
        StoreError: If the temporary file cannot be written.
    """
    found: dict[tuple[int, int], Outcome | None] = {}
    groups = _by_encoder(settings)
    encoders = [
        await asyncio.to_thread(load_encoder, settings[numbers[0]].options.models)
        for numbers in groups.values()
    ]
    for numbers, encoder in zip(groups.values(), encoders, strict=True):
        group = {number: settings[number] for number in numbers}
        options = replace(group[numbers[0]].options, recall=RecallOptions())
        with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as folder:
            path = Path(folder) / "replay.db"
            async with Memory.open(path, options, encoder=encoder, language=language) as memory:
                await _replay(memory, recording, exchanges, group, found, advance)
    rows = [
        [found[place, number] for number in range(len(settings))] for place in range(len(exchanges))
    ]
    return [[one for one in row if one is not None] for row in rows if None not in row]


def _by_encoder(settings: Sequence[Setting]) -> dict[str, list[int]]:
    """Return the indices of settings by encoder; those with the same encoder share a file."""
    groups: dict[str, list[int]] = {}
    for number, setting in enumerate(settings):
        groups.setdefault(setting.options.models.encoder, []).append(number)
    return groups


async def _replay(
    memory: Memory,
    recording: Recording,
    exchanges: Sequence[Exchange],
    settings: dict[int, Setting],
    found: dict[tuple[int, int], Outcome | None],
    advance: Callable[[], None],
) -> None:
    """Store a recording in an empty memory with all layers, and score its exchanges."""
    asked = {(one.session, one.place): number for number, one in enumerate(exchanges)}
    others = unrelated_replies(exchanges, UNRELATED_REPLIES)
    for session, turns in enumerate(recording.sessions):
        for place, turn in enumerate(turns):
            number = asked.get((session, place))
            if number is not None:
                await memory.settle()
                for setting, outcome in await _score_settings(
                    memory,
                    turns[: place + 1],
                    exchanges[number],
                    others[number],
                    settings,
                    rotation=number,
                ):
                    found[number, setting] = outcome
                    advance()
            await memory.remember(turn)
            advance()
        await memory.end_session(user_id=recording.user_id, session_id=turns[0].session_id)


async def _score_settings(
    memory: Memory,
    turns: Sequence[Turn],
    exchange: Exchange,
    others: Sequence[str],
    settings: dict[int, Setting],
    *,
    rotation: int,
) -> list[tuple[int, Outcome | None]]:
    """Return the outcome of each setting for one exchange.

    The order rotates, because the first setting fills caches for the others.
    """
    question = turns[-1]
    visible = tuple(turn.text for turn in turns)
    order = sorted(settings)
    start = rotation % len(order)
    replies = (exchange.reply, *others)
    outcomes = []
    for number in (*order[start:], *order[:start]):
        setting = settings[number]
        reader = await _configure(memory, question.user_id, setting)
        request = RecallRequest(
            clean_text(question.text),
            question.user_id,
            question.session_id,
            question.spoken_at,
            setting.options.recall.max_tokens,
            visible=visible,
        )
        started = perf_counter()
        block = await recall(reader, request)
        ms = (perf_counter() - started) * 1000
        outcome = await asyncio.to_thread(
            score_block, reader, exchange.session, block, visible, replies, ms
        )
        outcomes.append((number, outcome))
    return outcomes


async def _configure(memory: Memory, user_id: str, setting: Setting) -> RecallContext:
    """Return a recall context with the options of a setting, and store its layer weights."""
    storage, reader, options = memory.runtime.storage, memory.runtime.recall, setting.options
    database = storage.database
    user = await database.read_all(queries.users.find, user_id)
    if user is not None:
        put, now = queries.layer_weights.put_weights, datetime.now(UTC)
        if await database.read(queries.layer_weights.weights, user) != setting.weights:
            await database.write(put, user, setting.weights, now, "set")
    layers = [search for search in reader.layers if search.layer in options.recall.layers]
    return replace(
        reader, layers=layers, model=fitted_model(options.models.relevance), options=options.recall
    )


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
