"""Ask every question at every budget, with HotMem and the baselines."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from rich.console import Console

from eval.baselines import Baseline, Index, fill_block
from eval.content_words import content_words
from eval.datasets import Conversation, Question
from eval.evidence import BlockItem, is_delivered, turns_delivered
from eval.retrieval import numbered, spread
from eval.rows import HOTMEM
from eval.run import SESSION, Models, Task, ingested, models
from hotmem import Item, Mark, Memory
from hotmem.types import Turn

DEFAULT: Final = 0
"""Stands for the default budget."""

BUDGETS: Final = (50, 100, 200, 300, 500, 1000, DEFAULT)
"""Maximum tokens of a block. At the default, a baseline gets the tokens that HotMem used."""

SAME: Final = 0.8
"""Share of a line's content words in another line from which it says the same again."""


@dataclass(frozen=True, slots=True)
class Row:
    """Result of one system for one question at one budget.

    Attributes:
        dataset: Name of the dataset.
        question: The question's id.
        category: Its category.
        answerable: Whether the conversation answers it.
        system: "HotMem", or a baseline.
        budget: Maximum tokens of the block, or `DEFAULT`.
        tokens: Tokens of the block.
        delivered: Share of the evidence delivered, 0 to 1; None if unanswerable.
        lines: Number of lines.
        right: How many hold evidence.
        repeated: How many say what another line of the block says.
        marked: Number of lines marked high or medium, and how many of these hold evidence.
        unknown: Whether the block says that nothing is known, and has no lines.
    """

    dataset: str
    question: str
    category: str
    answerable: bool
    system: str
    budget: int
    tokens: int
    delivered: float | None
    lines: int
    right: int
    repeated: int
    marked: Mapping[str, tuple[int, int]]
    unknown: bool


def measured(
    datasets: Mapping[str, Sequence[Conversation]],
    jobs: int,
    folder: Path,
    console: Console,
    *,
    fitted_too: bool,
) -> list[Row]:
    """The rows of all questions of all datasets, in order."""
    rows = []
    for name, conversations in datasets.items():
        tasks = numbered(conversations, folder, fitted_too=fitted_too)
        for found in spread(_rows, [(name, task) for task in tasks], jobs, console, name):
            rows += found
    return rows


def _rows(given: tuple[str, Task]) -> list[Row]:
    """The rows of a conversation; runs in a process."""
    name, task = given
    loaded = models(task.cache)
    own = asyncio.run(_hotmem(name, task.conversation, loaded))
    return own + _baselines(name, task.conversation, loaded, own)


async def _hotmem(name: str, conversation: Conversation, loaded: Models) -> list[Row]:
    async with ingested(conversation, loaded) as memory:
        return [
            await _asked(name, memory, conversation, question, budget)
            for question in conversation.questions
            for budget in BUDGETS
        ]


async def _asked(
    name: str, memory: Memory, conversation: Conversation, question: Question, budget: int
) -> Row:
    block = await memory.recall(
        question.text,
        user_id=conversation.user,
        session_id=SESSION,
        at=question.asked_at,
        max_tokens=budget or None,
    )
    unknown = bool(block.text) and not block.items
    return _row(name, conversation, question, HOTMEM, budget, block.tokens, block.items, unknown)


def _baselines(
    name: str, conversation: Conversation, loaded: Models, own: Sequence[Row]
) -> list[Row]:
    index, rows = Index(conversation.turns, loaded.baseline_encoder), []
    used = {(one.question, one.budget): one.budget or one.tokens for one in own}
    for question in conversation.questions:
        for baseline in Baseline if question.evidence else ():
            scores = index.scores(baseline, question.text)
            for budget in BUDGETS:
                tokens = used[question.id, budget]
                block = fill_block(conversation.turns, scores, tokens, loaded.tokens.count)
                system, lines = baseline.value, block.lines
                rows.append(
                    _row(name, conversation, question, system, budget, block.tokens, lines, False)
                )
    index.close()
    return rows


def _row(
    name: str,
    conversation: Conversation,
    question: Question,
    system: str,
    budget: int,
    tokens: int,
    items: Sequence[BlockItem],
    unknown: bool,
) -> Row:
    evidence = {turn.id: turn for turn in conversation.turns if turn.id in question.evidence}
    right = [_holds(item, evidence) for item in items]
    delivered = turns_delivered(question, conversation, items)
    marks = [item.mark if isinstance(item, Item) else Mark.LOW for item in items]
    return Row(
        name,
        question.id,
        question.category,
        bool(evidence),
        system,
        budget,
        tokens,
        fmean(delivered.values()) if delivered else None,
        len(items),
        sum(right),
        repeated([item.text for item in items]),
        {
            level.value: (
                marks.count(level),
                sum(one and mark is level for one, mark in zip(right, marks, strict=True)),
            )
            for level in (Mark.HIGH, Mark.MEDIUM)
        },
        unknown,
    )


def repeated(lines: Sequence[str]) -> int:
    """The number of lines whose content words another line has, nearly all of them."""
    words = [content_words(line) for line in lines]
    return sum(
        any(
            len(own & other) >= SAME * len(own) and (len(own), place) < (len(other), at)
            for at, other in enumerate(words)
            if at != place
        )
        for place, own in enumerate(words)
        if own
    )


def _holds(item: BlockItem, evidence: Mapping[str, Turn]) -> bool:
    """Whether an item is evidence: it has the words of a wanted turn."""
    return any(is_delivered(turn, said.text, [item]) for turn, said in evidence.items())
