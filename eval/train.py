"""Fits the relevance model: what the ranking sees of every candidate, and whether it delivers evidence.

Every second conversation of each dataset is fitted on; the others tell how well the model ranks and how true its probabilities
are. Each dataset counts the same, whatever its size. The coefficients are written as readable JSON.
"""

import asyncio
import json
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from eval.datasets import Conversation, Question
from eval.evidence import holds
from eval.run import SESSION, Models, Task, ingested, models
from hotmem import Memory
from hotmem.context.features import FEATURES, features
from hotmem.context.relevance import RelevanceModel
from hotmem.reader import Request
from hotmem.recall import retrieve
from hotmem.stopwatch import Stopwatch
from hotmem.types import Evidence

STRENGTH: Final = 1.0
"""Inverse of the L2 penalty on standardised features; between 0.01 and 10 the held-out figures differ by less than 0.002."""

BINS: Final = 20
"""Bins of equal width of the calibration error."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The candidates of one conversation's questions.

    Attributes:
        held_out: Whether the conversation is kept from fitting.
        features: float32 (n, len(FEATURES)).
        labels: bool (n,); whether a candidate delivers a turn of evidence.
    """

    held_out: bool
    features: NDArray[np.float32]
    labels: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Quality:
    """How a model does on one dataset's held-out conversations: AUC, and calibration error (0 to 1)."""

    candidates: int
    auc: float
    calibration_error: float


def collect(conversations: Sequence[Conversation], jobs: int, folder: Path, console: Console, name: str) -> list[Sample]:
    """The samples of a dataset, one a conversation."""
    tasks = [Task(number, conversation, 0, folder / "shelf.db") for number, conversation in enumerate(conversations)]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(track(pool.map(sampled, tasks), name, len(tasks), console=console))


def sampled(task: Task) -> Sample:
    """The sample of one conversation; the body of a process."""
    rows = asyncio.run(_sampled(task.conversation, models(task.shelf)))
    stacked = np.concatenate([row[0] for row in rows]) if rows else np.empty((0, len(FEATURES)), np.float32)
    return Sample(task.number % 2 == 1, stacked, np.concatenate([row[1] for row in rows]) if rows else np.empty(0, np.bool_))


async def _sampled(conversation: Conversation, loaded: Models) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
    texts = {turn.id: turn.text for turn in conversation.turns}
    async with ingested(conversation, loaded) as memory:
        return [await _candidates(memory, conversation.user, question, texts) for question in conversation.questions]


async def _candidates(memory: Memory, user_id: str, question: Question, texts: Mapping[str, str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    found = await retrieve(memory.reader, Request(question.text, user_id, SESSION, question.asked_at, 0), Stopwatch())
    evidence = [candidate.evidence for candidate in found.candidates]
    return features(found.query, found.candidates), np.array([_delivers(one, question.evidence, texts) for one in evidence], dtype=np.bool_)


def _delivers(evidence: Evidence, wanted: Sequence[str], texts: Mapping[str, str]) -> bool:
    return any(turn in evidence.turn_ids and holds(evidence.text, texts[turn]) for turn in wanted)


def fitted(datasets: Mapping[str, Sequence[Sample]]) -> RelevanceModel:
    """The model fitted on the conversations that are not held out, each dataset weighing the same."""
    parts = [[sample for sample in samples if not sample.held_out and len(sample.labels)] for samples in datasets.values()]
    rows = np.concatenate([sample.features for part in parts for sample in part])
    labels = np.concatenate([sample.labels for part in parts for sample in part])
    sizes = [sum(len(sample.labels) for sample in part) for part in parts]
    weights = np.concatenate([np.full(size, len(labels) / (len(sizes) * size)) for size in sizes])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((rows - mean) / deviation, labels, sample_weight=weights)
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return RelevanceModel(float(model.intercept_[0] - coefficients @ mean), coefficients)


def quality(model: RelevanceModel, samples: Sequence[Sample]) -> Quality:
    """How the model does on the held-out conversations."""
    held = [sample for sample in samples if sample.held_out and len(sample.labels)]
    probabilities = np.concatenate([model.probabilities(sample.features) for sample in held])
    labels = np.concatenate([sample.labels for sample in held])
    return Quality(len(labels), float(roc_auc_score(labels, probabilities)), calibration_error(probabilities, labels))


def calibration_error(probabilities: NDArray[np.float32], labels: NDArray[np.bool_]) -> float:
    """Expected calibration error (Naeini, Cooper and Hauskrecht 2015) over `BINS` bins: the mean gap of said and true, by bin size."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = [abs(probabilities[bins == place].mean() - labels[bins == place].mean()) * np.mean(bins == place) for place in np.unique(bins)]
    return float(np.sum(gaps))


def written(model: RelevanceModel, datasets: Sequence[str]) -> str:
    """The model as `relevance.json` keeps it."""
    return json.dumps(
        {
            "fitted": f"{datetime.now(UTC).date().isoformat()} on every second conversation of {', '.join(datasets)}",
            "intercept": round(model.intercept, 4),
            "coefficients": {name: round(float(value), 4) for name, value in zip(FEATURES, model.coefficients, strict=True)},
        },
        indent=2,
    )
