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
from scipy.optimize import minimize_scalar
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
from hotmem.types import Evidence, EvidenceKind, Turn

STRENGTH: Final = 1.0
"""Inverse of the L2 penalty on standardised features; between 0.01 and 10 the held-out figures differ by less than 0.002."""

COLUMNS: Final = list(FEATURES)
SHIFTED: Final = ("memory", "summary")
"""Kinds of evidence beside passages."""

BINS: Final = 20
"""Bins of equal width of the calibration error."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The candidates of one conversation's questions.

    Attributes:
        held_out: Whether the conversation is kept from fitting.
        features: float32 (n, len(FEATURES)).
        labels: bool (n,); whether a candidate helps.
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
    turns = {turn.id: turn for turn in conversation.turns}
    async with ingested(conversation, loaded) as memory:
        return [await _candidates(memory, conversation.user, question, turns) for question in conversation.questions]


async def _candidates(memory: Memory, user_id: str, question: Question, turns: Mapping[str, Turn]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    found = await retrieve(memory.reader, Request(question.text, user_id, SESSION, question.asked_at, 0), Stopwatch())
    evidence = [candidate.evidence for candidate in found.candidates]
    return features(found.query, found.candidates), np.array([_helps(one, question.evidence, turns) for one in evidence], dtype=np.bool_)


def _helps(evidence: Evidence, wanted: Sequence[str], turns: Mapping[str, Turn]) -> bool:
    """Whether a passage holds the words of a wanted turn, a fact was read from one, or a summary is of a session with one."""
    if evidence.kind is EvidenceKind.SUMMARY:
        return any(turns[turn].session_id == evidence.session_id for turn in wanted)
    told = evidence.kind is EvidenceKind.MEMORY
    return any(turn in evidence.turn_ids and (told or holds(evidence.text, turns[turn].text)) for turn in wanted)


def fitted(datasets: Mapping[str, Sequence[Sample]]) -> RelevanceModel:
    """The model fitted on the conversations that are not held out, each dataset weighing the same.

    The features are fitted on passages, of which there are most; facts and summaries are given the same coefficients and a shift of
    their own.
    """
    parts = [[sample for sample in samples if not sample.held_out and len(sample.labels)] for samples in datasets.values()]
    rows = np.concatenate([sample.features for part in parts for sample in part])
    labels = np.concatenate([sample.labels for part in parts for sample in part])
    sizes = [sum(len(sample.labels) for sample in part) for part in parts]
    weights = np.concatenate([np.full(size, len(labels) / (len(sizes) * size)) for size in sizes])
    kinds = [rows[:, COLUMNS.index(kind)] > 0 for kind in SHIFTED]
    passages = ~np.any(kinds, axis=0)
    mean, deviation = rows[passages].mean(axis=0), rows[passages].std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000)
    model.fit((rows[passages] - mean) / deviation, labels[passages], sample_weight=weights[passages])
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    intercept = float(model.intercept_[0] - coefficients @ mean)
    for kind, chosen in zip(SHIFTED, kinds, strict=True):
        logits = intercept + rows[chosen] @ coefficients
        coefficients[COLUMNS.index(kind)] = shift(logits, labels[chosen], weights[chosen])
    return RelevanceModel(intercept, coefficients)


def shift(logits: NDArray[np.float32], labels: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    """What must be added to the logits for the least log loss."""

    def loss(added: float) -> float:
        moved = logits + added
        return float(np.average(np.logaddexp(0, np.where(labels, -moved, moved)), weights=weights))

    return float(minimize_scalar(loss, bounds=(-10, 10), method="bounded").x) if len(labels) else 0.0


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
