"""The contexts that are compared: HotMem's block, the nearest turns, and the whole history."""

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from eval.baselines import Baseline, Index, fill_block
from eval.datasets import Conversation, Question
from eval.run import SESSION, Models, ingested, models


class System(StrEnum):
    """What the answering model is given, by its name in reports."""

    HOTMEM = "HotMem"
    COSINE = "cosine"
    FULL = "full context"


@dataclass(frozen=True, slots=True)
class ContextTask:
    """One conversation for one process.

    Attributes:
        conversation: The conversation.
        wanted: Question ids by system.
        budget: Maximum tokens of a block.
        full_tokens: Maximum tokens of the whole history; the oldest turns are left out.
        cache: Folder of the disk cache.
    """

    conversation: Conversation
    wanted: Mapping[System, Collection[str]]
    budget: int
    full_tokens: int
    cache: Path


@dataclass(frozen=True, slots=True)
class Context:
    """What one system gives for one question.

    Attributes:
        user: The conversation's user.
        question: The question.
        system: The system.
        text: The text.
        tokens: Its tokens, by HotMem's own count.
        ms: Milliseconds until it was there.
        cut: Whether the history was longer.
    """

    user: str
    question: Question
    system: System
    text: str
    tokens: int
    ms: float
    cut: bool = False


def make_contexts(task: ContextTask) -> list[Context]:
    """The contexts of one conversation, in the order of its questions; runs in a process."""
    loaded = models(task.cache)
    made: list[Context] = []
    if task.wanted.get(System.HOTMEM):
        made += asyncio.run(_blocks(task, loaded))
    if task.wanted.get(System.COSINE):
        made += _nearest(task, loaded)
    if task.wanted.get(System.FULL):
        made += _whole(task, loaded)
    places = {question.id: place for place, question in enumerate(task.conversation.questions)}
    return sorted(made, key=lambda one: places[one.question.id])


def _questions(task: ContextTask, system: System) -> list[Question]:
    wanted = task.wanted[system]
    return [question for question in task.conversation.questions if question.id in wanted]


async def _blocks(task: ContextTask, models: Models) -> list[Context]:
    user, made = task.conversation.user, []
    async with ingested(task.conversation, models) as memory:
        for question in _questions(task, System.HOTMEM):
            started = time.perf_counter()
            block = await memory.recall(
                question.text,
                user_id=user,
                session_id=SESSION,
                at=question.asked_at,
                max_tokens=task.budget,
            )
            ms = 1000 * (time.perf_counter() - started)
            made.append(Context(user, question, System.HOTMEM, block.text, block.tokens, ms))
    return made


def _nearest(task: ContextTask, models: Models) -> list[Context]:
    """The turns with the largest cosine to the question, as many as fit."""
    turns, made = task.conversation.turns, []
    index = Index(turns, models.baseline_encoder)
    for question in _questions(task, System.COSINE):
        started = time.perf_counter()
        scores = index.scores(Baseline.MINILM, question.text)
        block = fill_block(turns, scores, task.budget, models.tokens.count)
        ms = 1000 * (time.perf_counter() - started)
        made.append(
            Context(task.conversation.user, question, System.COSINE, block.text, block.tokens, ms)
        )
    index.close()
    return made


def _whole(task: ContextTask, models: Models) -> list[Context]:
    """All turns in order, or the latest ones that fit."""
    turns = task.conversation.turns
    latest_first = np.arange(len(turns), dtype=np.float64)
    block = fill_block(turns, latest_first, task.full_tokens, models.tokens.count)
    shown = {name for line in block.lines for name in line.turn_ids}
    kept = [turn for turn in turns if turn.id in shown]
    text = fill_block(
        kept, -np.arange(len(kept), dtype=np.float64), task.full_tokens, models.tokens.count
    ).text
    return [
        Context(
            task.conversation.user,
            question,
            System.FULL,
            text,
            block.tokens,
            0.0,
            cut=len(kept) < len(turns),
        )
        for question in _questions(task, System.FULL)
    ]
