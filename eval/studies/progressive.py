"""Progressive against full search: evidence in the first ten results, tiers searched, CPU time.

Each question is searched through all tiers once, and the results after each tier are kept, so that
any threshold can be evaluated. The threshold is chosen on conversations used for fitting; results
are of the others.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from rich.console import Console

from eval.datasets import Conversation, Question
from eval.evidence import score
from eval.report import interval, share, table
from eval.retrieval import held_out, numbered, spread
from eval.run import SESSION, Models, Task, ingested, models
from eval.statistics import Estimate, paired_difference
from hotmem import Options
from hotmem.core.stage_timer import StageTimer
from hotmem.models import Encoder, load_encoder
from hotmem.operations.progressive_search import relevant_tiers, search_tiers
from hotmem.operations.requests import SearchOptions
from hotmem.operations.scoring import score_candidates
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext, retrieve
from hotmem.retrieval.context import RecallRequest
from hotmem.retrieval.query import build_query

DESIGN: Final = 0.8
"""Threshold of the original design."""

GRID: Final = tuple(round(0.1 + 0.05 * step, 2) for step in range(18))
"""Thresholds to choose from."""

MOST_LOST: Final = 0.01
"""Maximum share of evidence that may be lost."""

ROUNDS: Final = 2
"""Number of times each question is asked; the fastest is used."""

SHIPPED: Final = Options().searching


@dataclass(frozen=True, slots=True)
class Result:
    """A search result as the metric sees it."""

    text: str
    turn_ids: tuple[str, ...]
    session_id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Reached:
    """State after a tier: CPU milliseconds, mean relevance of the best, and evidence share."""

    ms: float
    mean: float
    evidence: float


@dataclass(frozen=True, slots=True)
class Searched:
    """One question.

    Attributes:
        held_out: Whether its conversation is excluded from fitting.
        whole: A full search.
        steps: States after each tier, with cumulative time.
    """

    held_out: bool
    whole: Reached
    steps: tuple[Reached, ...]

    def at(self, good: float) -> tuple[int, Reached]:
        """Return the number of tiers searched with a threshold, and the state then."""
        place = next(
            (place for place, step in enumerate(self.steps) if step.mean >= good),
            len(self.steps) - 1,
        )
        return place + 1, self.steps[place]


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of one threshold on one dataset's held-out conversations.

    Attributes:
        dataset: The dataset.
        threshold: Mean relevance of the best results at which the search stops.
        questions: Number of questions with known evidence.
        tiers: Mean number of tiers searched.
        early: Share of questions that stopped early.
        evidence: Mean share of the evidence.
        whole: The same for a full search.
        difference: The first less the second.
        time: CPU time relative to a full search.
    """

    dataset: str
    threshold: float
    questions: int
    tiers: float
    early: float
    evidence: float
    whole: float
    difference: Estimate
    time: float


def measure(
    datasets: Mapping[str, Sequence[Conversation]], jobs: int, folder: Path, console: Console
) -> tuple[float, list[Figures]]:
    """Return the threshold chosen on the fitting conversations, and the results of the others.

    Args:
        datasets: Conversations by dataset.
        jobs: Number of processes.
        folder: Folder of the disk cache.
        console: Console for the progress bar.
    """
    found: dict[str, list[Searched]] = {}
    for name, conversations in datasets.items():
        answers = spread(
            _measured, numbered(conversations, folder, fitted_too=True), jobs, console, name
        )
        found[name] = [one for answer in answers for one in answer]
    best = chosen([[one for one in part if not one.held_out] for part in found.values()])
    held = {name: [one for one in part if one.held_out] for name, part in found.items()}
    thresholds = sorted({DESIGN, SHIPPED.good, best})
    return best, [
        _figures(name, threshold, part)
        for name, part in held.items()
        if part
        for threshold in thresholds
    ]


def chosen(fitted: Sequence[Sequence[Searched]]) -> float:
    """Return the lowest threshold that loses at most `MOST_LOST` of the evidence of any dataset."""

    def lost(part: Sequence[Searched], good: float) -> float:
        return fmean(one.whole.evidence - one.at(good)[1].evidence for one in part)

    return next(
        (good for good in GRID if all(lost(part, good) <= MOST_LOST for part in fitted if part)),
        GRID[-1],
    )


def show(best: float, found: Sequence[Figures], console: Console) -> None:
    """Print a row for each dataset and threshold, and the evidence lost."""
    headings = ("from", "asked", "tiers", "early", "found", "by all", "time")
    result = table(
        "progressive search, and a search of everything: evidence among ten results",
        "dataset",
        headings,
    )
    for one in found:
        shares = (f"{one.early:.0%}", share(one.evidence), share(one.whole), f"{one.time:.0%}")
        result.add_row(
            one.dataset, f"{one.threshold:.2f}", str(one.questions), f"{one.tiers:.2f}", *shares
        )
    console.print(result)
    for one in found:
        console.print(
            f"{one.dataset} at {one.threshold:.2f}, points more than by all, 95 % "
            f"interval: {interval(one.difference)}"
        )
    console.print(f"the conversations fitted on choose {best:.2f}, {SHIPPED.good:.2f} ships")


def figures(best: float, found: Sequence[Figures]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {"chosen": best, "shipped": SHIPPED.good, "progressive": [asdict(one) for one in found]}


def _figures(name: str, threshold: float, part: Sequence[Searched]) -> Figures:
    reached = [one.at(threshold) for one in part]
    evidence, whole = [step.evidence for _, step in reached], [one.whole.evidence for one in part]
    return Figures(
        dataset=name,
        threshold=threshold,
        questions=len(part),
        tiers=fmean(count for count, _ in reached),
        early=fmean(count < len(one.steps) for (count, _), one in zip(reached, part, strict=True)),
        evidence=fmean(evidence),
        whole=fmean(whole),
        difference=paired_difference(evidence, whole),
        time=sum(step.ms for _, step in reached) / sum(one.whole.ms for one in part),
    )


def _measured(task: Task) -> list[Searched]:
    """Search for every question with known evidence; runs in a process."""
    return asyncio.run(_ingested_and_asked(task, models(task.cache, task.encoder)))


async def _ingested_and_asked(task: Task, loaded: Models) -> list[Searched]:
    asked = [one for one in task.conversation.questions if one.evidence and not one.abstain]
    async with ingested(task.conversation, loaded) as memory:
        await memory.evolve(task.conversation.user)
        reader = replace(memory.runtime.recall, encoder=_encoder())
        return [await _asked(reader, task, question) for question in asked]


async def _asked(reader: RecallContext, task: Task, question: Question) -> Searched:
    rounds = [
        (
            await _whole(reader, task.conversation, question),
            await _steps(reader, task.conversation, question),
        )
        for _ in range(ROUNDS)
    ]
    whole = min((one for one, _ in rounds), key=lambda one: one.ms)
    steps = tuple(
        min(one, key=lambda step: step.ms)
        for one in zip(*(steps for _, steps in rounds), strict=True)
    )
    return Searched(held_out(task.number), whole, steps)


async def _whole(reader: RecallContext, conversation: Conversation, question: Question) -> Reached:
    started = time.process_time()
    found = await retrieve(reader, _request(conversation, question), StageTimer())
    weighed = await score_candidates(
        reader, found.query, found.profile, SearchOptions(), found.candidates
    )
    return _reached(started, weighed.results, 0.0, conversation, question)


async def _steps(
    reader: RecallContext, conversation: Conversation, question: Question
) -> list[Reached]:
    request, options = _request(conversation, question), SearchOptions()
    started = time.process_time()
    query, profile = await build_query(reader, request)
    reached, scored = [], 0.0
    async for step in search_tiers(
        reader,
        request,
        query,
        relevant_tiers(options),
        partial(score_candidates, reader, query, profile, options),
    ):
        one = _reached(
            started + scored,
            step.scored.results,
            step.mean(SHIPPED.suffices),
            conversation,
            question,
        )
        reached.append(one)
        scored = time.process_time() - started - one.ms / 1000
    return reached


def _reached(
    started: float,
    ranked: Sequence[tuple[float, ScoredCandidate]],
    mean: float,
    conversation: Conversation,
    question: Question,
) -> Reached:
    ms = 1000 * (time.process_time() - started)
    results = [
        Result(one.evidence.text, one.evidence.turn_ids, one.evidence.session_id, relevance)
        for relevance, one in ranked[: SearchOptions().limit]
    ]
    return Reached(ms, mean, score(question, conversation, "", results).delivered or 0.0)


def _request(conversation: Conversation, question: Question) -> RecallRequest:
    """Return the request of `search_memory` for a question."""
    return RecallRequest(
        question.text, conversation.user, SESSION, question.asked_at, 0, explicit=True
    )


@cache
def _encoder() -> Encoder:
    """Return the encoder without its cache, so that a repeated question is encoded again."""
    return load_encoder(replace(Options().models, embeddings_cached=0))
