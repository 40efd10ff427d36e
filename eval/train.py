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

from eval.datasets import Conversation
from eval.evidence import holds
from eval.run import SESSION, Models, Task, ingested, models
from hotmem.context.features import FEATURES, features
from hotmem.context.relevance import Logistic, RelevanceModel
from hotmem.reader import Request
from hotmem.recall import retrieve
from hotmem.stopwatch import Stopwatch
from hotmem.types import Evidence, EvidenceKind, Turn

STRENGTH: Final = 1.0
"""Inverse of the L2 penalty on standardised features; between 0.01 and 10 the held-out figures differ by less than 0.002."""

FITTED_ON: Final = {
    EvidenceKind.PASSAGE: tuple(FEATURES),
    EvidenceKind.MEMORY: ("overlap", "cosine", "fact"),
    EvidenceKind.SUMMARY: ("overlap", "cosine", "session_words"),
}
"""Features of each kind's model. Facts and summaries stand for themselves: what surrounds them raises all facts of a good session alike."""

BINS: Final = 20
"""Bins of equal width of the calibration error."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The candidates of one conversation's questions.

    Attributes:
        held_out: Whether the conversation is kept from fitting.
        features: float32 (n, len(FEATURES)).
        kinds: What each candidate is.
        labels: bool (n,); whether it helps.
    """

    held_out: bool
    features: NDArray[np.float32]
    kinds: tuple[EvidenceKind, ...]
    labels: NDArray[np.bool_]

    def of(self, kind: EvidenceKind) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Features and labels of one kind; features that its model is not fitted on are 0."""
        chosen = np.array([found is kind for found in self.kinds], dtype=np.bool_)
        used = np.array([name in FITTED_ON[kind] for name in FEATURES])
        return np.where(used, self.features[chosen], np.float32(0)), self.labels[chosen]


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
    return asyncio.run(_sampled(task, models(task.shelf)))


async def _sampled(task: Task, loaded: Models) -> Sample:
    conversation = task.conversation
    turns = {turn.id: turn for turn in conversation.turns}
    rows: list[NDArray[np.float32]] = [np.empty((0, len(FEATURES)), np.float32)]
    evidence: list[Evidence] = []
    labels: list[bool] = []
    async with ingested(conversation, loaded) as memory:
        for question in conversation.questions:
            request = Request(question.text, conversation.user, SESSION, question.asked_at, 0)
            found = await retrieve(memory.reader, request, Stopwatch())
            rows.append(features(found.query, found.candidates))
            evidence += [candidate.evidence for candidate in found.candidates]
            labels += [_helps(candidate.evidence, question.evidence, turns) for candidate in found.candidates]
    return Sample(task.number % 2 == 1, np.concatenate(rows), tuple(one.kind for one in evidence), np.array(labels, dtype=np.bool_))


def _helps(evidence: Evidence, wanted: Sequence[str], turns: Mapping[str, Turn]) -> bool:
    """Whether a passage holds the words of a wanted turn, a fact was read from one, or a summary is of a session with one."""
    if evidence.kind is EvidenceKind.SUMMARY:
        return any(turns[turn].session_id == evidence.session_id for turn in wanted)
    told = evidence.kind is EvidenceKind.MEMORY
    return any(turn in evidence.turn_ids and (told or holds(evidence.text, turns[turn].text)) for turn in wanted)


def fitted(datasets: Mapping[str, Sequence[Sample]]) -> RelevanceModel:
    """The models fitted on the conversations that are not held out, each dataset weighing the same."""
    return RelevanceModel(
        {kind: _fitted([[s.of(kind) for s in samples if not s.held_out] for samples in datasets.values()]) for kind in EvidenceKind}
    )


def _fitted(datasets: Sequence[Sequence[tuple[NDArray[np.float32], NDArray[np.bool_]]]]) -> Logistic:
    """One kind's model; each dataset is a list of features and labels."""
    rows = np.concatenate([part[0] for parts in datasets for part in parts])
    labels = np.concatenate([part[1] for parts in datasets for part in parts])
    sizes = [sum(len(part[1]) for part in parts) for parts in datasets]
    weights = np.concatenate([np.full(size, len(labels) / (len(sizes) * max(size, 1))) for size in sizes])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((rows - mean) / deviation, labels, sample_weight=weights)
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return Logistic(float(model.intercept_[0] - coefficients @ mean), coefficients)


def quality(model: RelevanceModel, samples: Sequence[Sample]) -> Quality:
    """How the model does on the held-out conversations."""
    held = [sample for sample in samples if sample.held_out and len(sample.labels)]
    probabilities = np.concatenate([model.probabilities(sample.features, sample.kinds) for sample in held])
    labels = np.concatenate([sample.labels for sample in held])
    return Quality(len(labels), float(roc_auc_score(labels, probabilities)), calibration_error(probabilities, labels))


def calibration_error(probabilities: NDArray[np.float32], labels: NDArray[np.bool_]) -> float:
    """Expected calibration error (Naeini, Cooper and Hauskrecht 2015) over `BINS` bins: the mean gap of said and true, by bin size."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = [abs(probabilities[bins == place].mean() - labels[bins == place].mean()) * np.mean(bins == place) for place in np.unique(bins)]
    return float(np.sum(gaps))


def written(model: RelevanceModel, datasets: Sequence[str]) -> str:
    """The model as `relevance.json` keeps it."""
    data: dict[str, object] = {"fitted": f"{datetime.now(UTC).date().isoformat()} on every second conversation of {', '.join(datasets)}"}
    for kind, fit in model.kinds.items():
        named = zip(FEATURES, fit.coefficients, strict=True)
        data[kind] = {"intercept": round(fit.intercept, 4)} | {name: round(float(value), 4) for name, value in named if abs(value) >= 5e-5}
    return json.dumps(data, indent=2)
