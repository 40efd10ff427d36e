"""Train the turn encoder: late interaction over one-bit codes ranks evidence first.

Each step uses one conversation: some of its questions, their evidence and other passages. The loss
is that of the evidence among them under the score as recall computes it, and under the cosine of
whole vectors. Gradients pass the signs like a tanh (straight-through estimator, Bengio et al. 2013,
https://arxiv.org/abs/1308.3432).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from eval.datasets import Conversation
from eval.encoder.material import asked_of, passages_of
from eval.encoder.model import Padded, TurnEncoder, principal

QUESTIONS: Final = 24
PASSAGES: Final = 110
"""Maximum questions and passages of a step."""

LEAST_OTHERS: Final = 30
"""Minimum number of negative passages."""

MOST_PIECES: Final = 64
"""Maximum tokens used of a passage."""

MOST_EVIDENCE: Final = 6
"""Maximum evidence passages of a question."""

MATCH_SCALE: Final = 30.0
ROW_SCALE: Final = 20.0
"""Factor of scores before the softmax, because passages differ by some hundredths only."""

SAMPLED: Final = 7
"""Every n-th passage is used for the principal directions."""

WARM_UP: Final = 0.1
"""Share of the steps in which the learning rate rises linearly; it then falls linearly to 0."""

LARGEST_STEP: Final = 5.0
"""Maximum norm of a gradient."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Hyperparameters of training.

    Attributes:
        layers: Number of last layers that are changed, 0 to 6.
        rank: Rank of the changes.
        dimensions: Dimensions of the codes; a multiple of 8.
        epochs: Number of passes over the questions.
        layer_rate: Learning rate of the changes, with AdamW.
        projection_rate: Learning rate of the projection.
        rows: Weight of the loss of whole vectors relative to late interaction.
        kept: Share of the learnt changes that is kept at the end, 0 to 1: an interpolation between
            published and trained weights (Wortsman et al. 2022, https://arxiv.org/abs/2109.01903).
        seed: Seed of initialisation and order.
    """

    layers: int = 0
    rank: int = 16
    dimensions: int = 128
    epochs: float = 4.0
    layer_rate: float = 1e-3
    projection_rate: float = 5e-4
    rows: float = 0.5
    kept: float = 0.5
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Lesson:
    """A conversation as input of the trained layers.

    Attributes:
        passages: Its passages; each float16 (tokens, 384).
        questions: Its questions.
        evidence: Indices of the evidence passages of each question.
    """

    passages: list[Tensor]
    questions: list[Tensor]
    evidence: list[list[int]]


def trained(
    datasets: Mapping[str, Sequence[Conversation]],
    settings: Settings,
    tell: Callable[[int, int, float], None],
) -> TurnEncoder:
    """Train an encoder on all conversations.

    The weight of a dataset is the square root of its number of questions.

    Args:
        datasets: Conversations by dataset.
        settings: Hyperparameters.
        tell: Called after each step with its number, the number of steps, and the mean loss of the
            last hundred.
    """
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    encoder = TurnEncoder(settings.layers, settings.rank, torch.eye(384))
    lessons = {
        name: [lesson for one in part if (lesson := _lesson(encoder, one)).evidence]
        for name, part in datasets.items()
    }
    encoder.projection.data = principal(
        _some_states(encoder, lessons), settings.dimensions, settings.seed
    )
    groups = [{"params": [encoder.projection], "lr": settings.projection_rate}]
    if settings.layers:
        groups.append({"params": list(encoder.changed()), "lr": settings.layer_rate})
    steps = round(
        settings.epochs
        * sum(
            max(len(lesson.evidence) // QUESTIONS, 1)
            for part in lessons.values()
            for lesson in part
        )
    )
    if not steps:
        return encoder
    optimiser = torch.optim.AdamW(groups, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / (WARM_UP * steps), 1 - step / steps)
    )
    losses: list[float] = []
    for step in range(steps):
        optimiser.zero_grad()
        total = loss(encoder, _drawn(lessons, generator), settings.rows, generator)
        total.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
        torch.nn.utils.clip_grad_norm_([encoder.projection, *encoder.changed()], LARGEST_STEP)
        optimiser.step()
        schedule.step()
        losses.append(float(total.detach()))
        tell(step + 1, steps, float(np.mean(losses[-100:])))
    encoder.weaken(settings.kept)
    return encoder


def loss(
    encoder: TurnEncoder, lesson: Lesson, rows: float, generator: np.random.Generator
) -> Tensor:
    """Return the loss of the evidence of some questions among the passages."""
    questions = generator.permutation(len(lesson.evidence))[:QUESTIONS].tolist()
    wanted = list(dict.fromkeys(at for question in questions for at in lesson.evidence[question]))
    others = generator.permutation(np.setdiff1d(np.arange(len(lesson.passages)), wanted)).tolist()
    chosen = wanted + others[: max(PASSAGES - len(wanted), LEAST_OTHERS)]
    told, asked = (
        Padded.of([lesson.passages[at][:MOST_PIECES] for at in chosen]),
        Padded.of([lesson.questions[at] for at in questions]),
    )
    told_states, asked_states = encoder.states(told), encoder.states(asked)
    scores = [
        (
            1.0,
            MATCH_SCALE
            * matched(
                signs(told_states @ encoder.projection),
                told.words,
                asked_states @ encoder.projection,
                asked.words,
            ),
        )
    ]
    if rows:
        scores.append(
            (
                rows,
                ROW_SCALE
                * encoder.rows(asked_states, asked.there)
                @ encoder.rows(told_states, told.there).T,
            )
        )
    place = {at: number for number, at in enumerate(chosen)}
    total = torch.zeros(())
    for weight, table in scores:
        for row, question in zip(table, questions, strict=True):
            right = torch.zeros(len(chosen), dtype=torch.bool)
            right[[place[at] for at in lesson.evidence[question]]] = True
            wrong = torch.logsumexp(row[~right], dim=0)
            total = total + weight * (torch.logaddexp(row[right], wrong) - row[right]).mean()
    return total / (len(questions) * (1 + rows))


def matched(told: Tensor, told_words: Tensor, asked: Tensor, asked_words: Tensor) -> Tensor:
    """Return the late-interaction score of each passage for each question, (questions, passages).

    Args:
        told: Signs of the passages' token states, (passages, longest, dimensions).
        told_words: 1 for tokens, 0 for padding.
        asked: Codes of the questions' tokens, (questions, longest, dimensions).
        asked_words: 1 for tokens, 0 for padding.
    """
    asked = asked / asked.abs().sum(dim=-1, keepdim=True).clamp_min(1e-9)
    agreement = torch.einsum("qsd,ptd->qspt", asked, told).masked_fill(
        told_words[None, None] == 0, -1.0
    )
    best = agreement.max(dim=-1).values * asked_words[..., None]
    contrast = (best.max(dim=-1).values - best.mean(dim=-1)).detach()
    weight = contrast / contrast.sum(dim=-1, keepdim=True).clamp_min(1e-6)
    return (best * weight[..., None]).sum(dim=1)


def signs(states: Tensor) -> Tensor:
    """Return 1 and -1, with the gradient of a tanh."""
    soft = torch.tanh(states / states.detach().abs().mean())
    return soft + (torch.where(states > 0, 1.0, -1.0) - soft).detach()


def _lesson(encoder: TurnEncoder, conversation: Conversation) -> Lesson:
    turns, texts = passages_of(conversation)
    questions, evidence = asked_of(conversation)
    of_turn: defaultdict[int, list[int]] = defaultdict(list)
    for at, turn in enumerate(turns):
        of_turn[turn].append(at)
    places = [
        [at for turn in wanted for at in of_turn[turn]][:MOST_EVIDENCE] for wanted in evidence
    ]
    used = [number for number, found in enumerate(places) if found]
    return Lesson(
        encoder.entered(texts),
        encoder.entered([questions[at].text for at in used]),
        [places[at] for at in used],
    )


def _some_states(
    encoder: TurnEncoder, lessons: Mapping[str, Sequence[Lesson]]
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    some = [passage for part in lessons.values() for lesson in part for passage in lesson.passages][
        ::SAMPLED
    ]
    with torch.no_grad():
        parts = [Padded.of(some[start : start + 64]) for start in range(0, len(some), 64)]
        return np.concatenate([encoder.states(part)[part.words > 0].numpy() for part in parts])


def _drawn(lessons: Mapping[str, Sequence[Lesson]], generator: np.random.Generator) -> Lesson:
    counts = {name: sum(len(lesson.evidence) for lesson in part) for name, part in lessons.items()}
    shares = np.sqrt(list(counts.values()))
    name = list(counts)[generator.choice(len(counts), p=shares / shares.sum())]
    sizes = np.array([len(lesson.evidence) for lesson in lessons[name]])
    return lessons[name][generator.choice(len(sizes), p=sizes / sizes.sum())]
