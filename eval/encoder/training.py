"""Fits a projection of the published model's token states, whose signs are kept: late interaction then ranks a question's evidence first.

Each question is put beside its evidence, the passages nearest to it by their rows, and some at random, all of the same conversation. The loss is
that of the evidence among them under the late-interaction score as recall computes it; the signs pass the gradient on as a tanh does
(straight-through, Bengio et al. 2013, https://arxiv.org/abs/1308.3432).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eval.encoder.material import Material

NEAREST: Final = 25
RANDOM: Final = 30
"""Wrong passages of a question, of each kind."""

MOST_PIECES: Final = 64
"""Pieces of a passage that are looked at in training."""

BATCH: Final = 8
"""Questions of a step."""

SCALE: Final = 30.0
"""What a score is multiplied by before the softmax; scores of a question's passages differ by some hundredths."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a projection is fitted.

    Attributes:
        dimensions: Of the codes; a multiple of 8.
        epochs: Times that as many questions are seen as there are.
        rate: Step size of Adam.
        anchor: How strongly the projected states are held near those it began with.
        seed: Of the order and the random passages.
    """

    dimensions: int = 128
    epochs: float = 2.0
    rate: float = 5e-4
    anchor: float = 0.0
    seed: int = 7


def principal(materials: Sequence[Material], dimensions: int, seed: int) -> NDArray[np.float32]:
    """Where fitting begins: the principal directions of the states, turned at random so that every bit tells as much, float32 (384, dimensions)."""
    states = np.concatenate([material.passages.states[:: max(len(material.passages.states) // 20_000, 1)] for material in materials]).astype(
        np.float32
    )
    width = states.shape[1]
    if dimensions >= width:
        return np.eye(width, dtype=np.float32)
    covariance = np.cov(states - states.mean(axis=0), rowvar=False)
    directions = np.linalg.eigh(covariance)[1][:, ::-1][:, :dimensions]
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(dimensions, dimensions)))
    return np.asarray(directions @ turn, dtype=np.float32)


def fitted(materials: Sequence[Material], settings: Settings, tell: Callable[[int, int, float], None]) -> NDArray[np.float32]:
    """The projection, float32 (384, dimensions).

    Args:
        materials: What to fit on; every dataset is seen as often as the others, whatever its size.
        settings: How.
        tell: Called after each step with its number, all steps, and the mean loss of the last hundred.
    """
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    start = torch.from_numpy(principal(materials, settings.dimensions, settings.seed))
    projection = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([projection], lr=settings.rate)
    questions = sum(len(material.evidence) for material in materials)
    steps = max(round(settings.epochs * questions / BATCH), 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.rate, total_steps=steps + 1, pct_start=0.1)
    drawn = _drawn(materials, generator)
    losses: list[float] = []
    for step in range(steps):
        optimiser.zero_grad()
        total = torch.zeros(())
        for _ in range(BATCH):
            material, number = next(drawn)
            total = total + loss(material, number, projection, generator) / BATCH
        if settings.anchor:
            total = total + settings.anchor * torch.mean((projection - start) ** 2)
        total.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        losses.append(float(total.detach()))
        tell(step + 1, steps, float(np.mean(losses[-100:])))
    return projection.detach().numpy()


def loss(material: Material, number: int, projection: Tensor, generator: np.random.Generator) -> Tensor:
    """How unlikely a question's evidence is among what it was put beside."""
    evidence, others = candidates(material, number, generator)
    chosen = [*evidence, *others]
    pieces = [material.passages.of(passage)[:MOST_PIECES] for passage in chosen]
    states = torch.from_numpy(np.concatenate(pieces))
    starts = np.cumsum([0, *(len(part) for part in pieces)])
    asked = torch.from_numpy(material.questions.of(number)) @ projection
    asked = asked / asked.abs().sum(dim=1, keepdim=True).clamp_min(1e-9)
    agreement = signs(states @ projection) @ asked.T
    matches = torch.stack([part.max(dim=0).values for part in agreement.tensor_split(starts[1:-1].tolist())])
    contrast = (matches.max(dim=0).values - matches.mean(dim=0)).detach()
    scores = SCALE * (matches @ (contrast / contrast.sum().clamp_min(1e-6)))
    right, wrong = scores[: len(evidence)], torch.logsumexp(scores[len(evidence) :], dim=0)
    return (torch.logaddexp(right, wrong) - right).mean()


def signs(states: Tensor) -> Tensor:
    """1 and -1; the gradient is that of a tanh over states of common size."""
    soft = torch.tanh(states / states.detach().abs().mean())
    return soft + (torch.where(states > 0, 1.0, -1.0) - soft).detach()


def candidates(material: Material, number: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Passages of a question's evidence, and wrong ones of the same conversation: the nearest by row, and some at random."""
    right = np.isin(material.turns, material.evidence[number]) & (np.diff(material.passages.starts) > 0)
    wrong = np.flatnonzero(~right & (np.diff(material.passages.starts) > 0))
    near = wrong[np.argsort(-(material.passages.rows[wrong] @ material.questions.rows[number]))[:NEAREST]]
    rest = np.setdiff1d(wrong, near)
    return np.flatnonzero(right)[:6], np.concatenate([near, generator.choice(rest, min(RANDOM, len(rest)), replace=False)])


def _drawn(materials: Sequence[Material], generator: np.random.Generator) -> Iterator[tuple[Material, int]]:
    """Questions without end, each dataset's as often as another's; of a dataset all before one comes again."""
    of: defaultdict[str, list[tuple[Material, int]]] = defaultdict(list)
    for material in materials:
        of[material.dataset] += [(material, number) for number in range(len(material.evidence))]
    streams = [_again(questions, generator) for questions in of.values()]
    while True:
        yield next(streams[generator.integers(len(streams))])


def _again(questions: list[tuple[Material, int]], generator: np.random.Generator) -> Iterator[tuple[Material, int]]:
    while True:
        for place in generator.permutation(len(questions)):
            yield questions[place]
