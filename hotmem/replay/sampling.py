"""Random sample of the exchanges with a question that needs memory; statements ask nothing."""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from hotmem.models import Language
from hotmem.replay.recording import Exchange, Recording
from hotmem.retrieval.query import QUERY_WORDS
from hotmem.understanding.query.analyzer import analyse

SEED: Final = 7
"""Fixed, so that samples are reproducible."""

BATCH: Final = 64
"""Questions parsed at once."""


def sample_exchanges(recording: Recording, language: Language, most: int) -> list[Exchange]:
    """Sample exchanges whose question needs memory; in order. Blocking.

    Args:
        recording: The sessions.
        language: Parses questions until enough are found.
        most: Maximum exchanges.
    """
    candidates = list(recording.exchanges())
    Random(SEED).shuffle(candidates)
    found = list(islice(_needing_memory(recording, language, candidates), most))
    return sorted(found, key=lambda one: (one.session, one.place))


def _needing_memory(
    recording: Recording, language: Language, candidates: Sequence[Exchange]
) -> Iterator[Exchange]:
    for start in range(0, len(candidates), BATCH):
        batch = candidates[start : start + BATCH]
        asked = [recording.sessions[one.session][one.place] for one in batch]
        docs = language.parse(
            [" ".join(turn.text.split()[-QUERY_WORDS:]) for turn in asked], names=False
        )
        for exchange, turn, doc in zip(batch, asked, docs, strict=True):
            analysis = analyse(doc, turn.spoken_at)
            if analysis.needs_memory and analysis.question:
                yield exchange
