"""The query analysis's choice of layers against all four: evidence and latency."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from rich.console import Console

from eval.datasets import Conversation, Question
from eval.evidence import score
from eval.report import interval, share, table
from eval.retrieval import DEFAULT_LAYERS, LayerChoice, numbered, request, spread
from eval.run import Models, Task, ingested, models
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS
from hotmem import Options
from hotmem.core.stage_timer import StageTimer
from hotmem.models import Encoder, load_encoder
from hotmem.recall import RecallContext, compose, retrieve
from hotmem.types import LayerOutcome

FULL: Final = "all four"
POLICIES: Final = {"chosen": DEFAULT_LAYERS, FULL: LayerChoice(by_analysis=False)}
ROUNDS: Final = 4
"""Number of times each question is asked under each policy; the fastest is used."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One question under one policy.

    Attributes:
        layers: Number of layers searched.
        evidence: Share of the evidence in the block of each of `BUDGETS`; empty if unknown.
        stages: Fastest milliseconds of each stage, the block that of the larger budget.
    """

    layers: int
    evidence: tuple[float, ...]
    stages: Mapping[str, float]

    @property
    def ms(self) -> float:
        """Duration of the whole recall."""
        return sum(self.stages.values())


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of one policy on one dataset.

    Attributes:
        dataset: The dataset.
        policy: The policy.
        questions: Number of questions.
        layers: Mean number of layers searched.
        evidence: Mean share of evidence by budget.
        differences: Difference from "all four", by budget.
        p50_ms: Median duration of a recall.
        p95_ms: 95th percentile.
        layers_ms: Mean duration of the stage that searches the layers.
        time: Mean duration relative to "all four", by the sum of the stages.
    """

    dataset: str
    policy: str
    questions: int
    layers: float
    evidence: dict[int, float]
    differences: dict[int, Estimate]
    p50_ms: float
    p95_ms: float
    layers_ms: float
    time: float


def measure(
    datasets: Mapping[str, Sequence[Conversation]], jobs: int, folder: Path, console: Console
) -> list[Figures]:
    """Measure both policies on the held-out conversations of each dataset.

    Args:
        datasets: Conversations by dataset.
        jobs: Number of processes; more than one slow each other down.
        folder: Folder of the disk cache.
        console: Console for the progress bar.
    """
    result = []
    for name, conversations in datasets.items():
        answers = spread(
            _measured, numbered(conversations, folder, fitted_too=False), jobs, console, name
        )
        recalled = [both for answer in answers for both in answer]
        result += [
            _figures(name, policy, recalled)
            for policy in POLICIES
            if any(both[policy].evidence for both in recalled)
        ]
    return result


def show(found: Sequence[Figures], console: Console) -> None:
    """Print a row for each dataset and policy, and the evidence lost by choosing."""
    headings = (
        "policy",
        "layers",
        *(f"at {budget}" for budget in BUDGETS),
        "p50 ms",
        "p95 ms",
        "layers ms",
        "time",
    )
    result = table("layers chosen by the analysis, and all four", "dataset", headings)
    for one in found:
        times = (f"{ms:.1f}" for ms in (one.p50_ms, one.p95_ms, one.layers_ms))
        result.add_row(
            one.dataset,
            one.policy,
            f"{one.layers:.2f}",
            *map(share, one.evidence.values()),
            *times,
            f"{one.time:.0%}",
        )
    console.print(result)
    for one in found:
        if one.policy != FULL:
            lost = ", ".join(
                f"{interval(difference)} at {budget}"
                for budget, difference in one.differences.items()
            )
            console.print(
                f"{one.dataset}, {one.policy} − {FULL}, points with their 95 % interval: {lost}"
            )


def figures(found: Sequence[Figures]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {"policies": [asdict(one) for one in found]}


def _measured(task: Task) -> list[dict[str, Recalled]]:
    """Ask every question of a conversation under each policy; runs in a process."""
    return asyncio.run(_ingested_and_asked(task, models(task.cache, task.encoder)))


async def _ingested_and_asked(task: Task, loaded: Models) -> list[dict[str, Recalled]]:
    async with ingested(task.conversation, loaded) as memory:
        reader = replace(memory.runtime.recall, encoder=_encoder())
        return [
            await _asked(reader, task.conversation, question)
            for question in task.conversation.questions
        ]


async def _asked(
    reader: RecallContext, conversation: Conversation, question: Question
) -> dict[str, Recalled]:
    rounds = [
        {
            name: await _recalled(choice.of(reader), conversation, question)
            for name, choice in POLICIES.items()
        }
        for _ in range(ROUNDS)
    ]
    return {
        name: replace(rounds[0][name], stages=_fastest([each[name].stages for each in rounds]))
        for name in POLICIES
    }


async def _recalled(
    reader: RecallContext, conversation: Conversation, question: Question
) -> Recalled:
    watch = StageTimer()
    found = await retrieve(reader, request(conversation, question), watch)
    blocks = []
    for budget in BUDGETS:
        watch.mark("between")
        blocks.append(compose(reader, request(conversation, question, budget), found).packed)
        watch.mark("context")
    shares = [score(question, conversation, block.text, block.items).delivered for block in blocks]
    asked = sum(report.outcome is not LayerOutcome.NOT_ASKED for report in found.reports)
    stages = {stage: ms for stage, ms in watch.stages.items() if stage != "between"}
    return Recalled(asked, tuple(each for each in shares if each is not None), stages)


def _fastest(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {stage: min(each[stage] for each in rounds) for stage in rounds[0]}


@cache
def _encoder() -> Encoder:
    """Return the encoder without its cache, so that a repeated question is encoded again."""
    return load_encoder(replace(Options().models, embeddings_cached=0))


def _figures(dataset: str, policy: str, recalled: Sequence[Mapping[str, Recalled]]) -> Figures:
    own, full = [both[policy] for both in recalled], [both[FULL] for both in recalled]
    pairs = [
        (one.evidence, other.evidence) for one, other in zip(own, full, strict=True) if one.evidence
    ]
    ms = [one.ms for one in own]
    return Figures(
        dataset,
        policy,
        len(own),
        fmean(one.layers for one in own),
        {budget: fmean(pair[0][place] for pair in pairs) for place, budget in enumerate(BUDGETS)},
        {
            budget: paired_difference(
                [one[place] for one, _ in pairs], [other[place] for _, other in pairs]
            )
            for place, budget in enumerate(BUDGETS)
        },
        float(np.percentile(ms, 50)),
        float(np.percentile(ms, 95)),
        fmean(one.stages["layers"] for one in own),
        fmean(ms) / fmean(one.ms for one in full),
    )
