"""Ask every question of every history at every budget, with HotMem and the baselines."""

import asyncio
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Final

from rich.console import Console
from rich.progress import track

from eval.baselines import Baseline, BlockLine, Index, fill_block
from eval.datasets import Conversation, Question
from eval.datasets.everyday import PLAIN, UNANSWERABLE
from eval.datasets.recognised import as_recognised
from eval.evidence import BlockItem, is_delivered, turns_delivered
from eval.histories import NOT_YET_KNOWN, History, histories
from eval.retrieval import held_out
from eval.rows import HOTMEM
from eval.run import SESSION, Models, ingested, models, stored_ids
from hotmem import Item, Mark, Memory
from hotmem.types import Turn

LENGTHS: Final = (1, 3, 8, 0)
"""Numbers of sessions of the histories; 0 is the whole conversation."""

BUDGETS: Final = (250, 500, 1000)
"""Maximum tokens of a block."""

ECHO: Final = "echo"
RECOGNISED: Final = "recognised"
WORDINGS: Final = (ECHO, "paraphrase", "implication", RECOGNISED)
"""Wordings of answerable questions; those of datasets without wordings count as echo."""

FIRST: Final = 3
"""Number of first results."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One regime, except for the budget.

    Attributes:
        dataset: Name of the dataset.
        source: Source of the memory's knowledge.
        sessions: Number of sessions, 0 for all.
        wording: One of `WORDINGS`, or the category of an unanswerable question.
    """

    dataset: str
    source: str
    sessions: int
    wording: str


@dataclass(frozen=True, slots=True)
class Row:
    """Result of one system for one question at one budget.

    Attributes:
        cell: The regime.
        question: The question's id.
        answerable: Whether the history answers it.
        held_out: Whether its conversation is excluded from fitting.
        system: "HotMem", or a baseline.
        budget: Maximum tokens of the block.
        equal: Whether a baseline got the tokens that HotMem used, instead of the whole budget.
        tokens: Tokens of the block.
        delivered: Share of the evidence delivered, 0 to 1; None if unanswerable.
        first: Whether evidence is among the first `FIRST` items by relevance; None if unanswerable.
        found: Whether evidence is among the first results of `search_memory`; once per question,
            otherwise None.
        marked: Whether an item is marked medium or high; if answerable, whether such an item is
            evidence.
        nothing: Whether the block reports that nothing is known.
        items: Relevance of each item, and whether it is evidence.
    """

    cell: Cell
    question: str
    answerable: bool
    held_out: bool
    system: str
    budget: int
    equal: bool
    tokens: int
    delivered: float | None
    first: bool | None
    found: bool | None
    marked: bool
    nothing: bool
    items: tuple[tuple[float, bool], ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One history for one process."""

    dataset: str
    held_out: bool
    history: History
    recognised: bool
    cache: Path


def tasks(
    datasets: Mapping[str, Sequence[Conversation]], folder: Path, *, held_out_only: bool
) -> list[Task]:
    """Yield a task for each history of each conversation.

    Whole histories also appear as a speech recogniser writes them.
    """
    found = []
    for name, conversations in datasets.items():
        for number, conversation in enumerate(conversations):
            if held_out_only and not held_out(number):
                continue
            for history in histories(conversation, LENGTHS):
                found.append(Task(name, held_out(number), history, False, folder))
                if not history.sessions and history.source == "told":
                    heard = replace(history, conversation=as_recognised(history.conversation))
                    found.append(Task(name, held_out(number), heard, True, folder))
    return found


def measured(work: Sequence[Task], jobs: int, console: Console) -> list[Row]:
    """Return the rows of all tasks, in order."""
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [
            row
            for rows in track(pool.map(_rows, work), "histories", len(work), console=console)
            for row in rows
        ]


def _rows(task: Task) -> list[Row]:
    """Return the rows of a task; runs in a process."""
    loaded = models(task.cache)
    own = asyncio.run(_hotmem(task, loaded))
    return own + _references(task, loaded, {(row.question, row.budget): row.tokens for row in own})


async def _hotmem(task: Task, loaded: Models) -> list[Row]:
    conversation = task.history.conversation
    async with ingested(conversation, loaded) as memory:
        ids = await stored_ids(memory, conversation.user) if conversation.stored else {}
        return [
            await _asked(memory, task, question, budget, ids)
            for question in conversation.questions
            for budget in BUDGETS
        ]


async def _asked(
    memory: Memory, task: Task, question: Question, budget: int, ids: Mapping[str, str]
) -> Row:
    user = task.history.conversation.user
    block = await memory.recall(
        question.text, user_id=user, session_id=SESSION, at=question.asked_at, max_tokens=budget
    )
    items = [_named(item, ids) for item in block.items]
    evidence = {
        turn.id: turn for turn in task.history.conversation.turns if turn.id in question.evidence
    }
    right = [_holds(item, evidence) for item in items]
    found = None
    if evidence and budget == max(BUDGETS):
        results = (
            await memory.search_memory(question.text, user_id=user, at=question.asked_at)
        ).results[:FIRST]
        named = [(one.turn_ids or (ids.get(one.id, one.id),), one.content) for one in results]
        found = any(
            turn in names and is_delivered(turn, said.text, [BlockLine(text, names, "", 0.0)])
            for turn, said in evidence.items()
            for names, text in named
        )
    return Row(
        cell=_cell(task, question),
        question=question.id,
        answerable=bool(evidence),
        held_out=task.held_out,
        system=HOTMEM,
        budget=budget,
        equal=True,
        tokens=block.tokens,
        delivered=_delivered(question, task, items),
        first=any(
            one
            for _, one in sorted(
                zip(items, right, strict=True), key=lambda pair: -pair[0].relevance
            )[:FIRST]
        )
        if evidence
        else None,
        found=found,
        marked=any(
            item.mark is not Mark.LOW and (one or not evidence)
            for item, one in zip(items, right, strict=True)
        ),
        nothing=bool(block.text) and not items,
        items=tuple((item.relevance, one) for item, one in zip(items, right, strict=True)),
    )


def _references(task: Task, loaded: Models, used: Mapping[tuple[str, int], int]) -> list[Row]:
    conversation = task.history.conversation
    index = Index(conversation.turns, loaded.baseline_encoder)
    rows = []
    for question in conversation.questions:
        if not question.evidence:
            continue
        for reference in Baseline:
            scores = index.scores(reference, question.text)
            for budget in BUDGETS:
                for equal, tokens in ((True, used[question.id, budget]), (False, budget)):
                    block = fill_block(conversation.turns, scores, tokens, loaded.tokens.count)
                    share = _delivered(question, task, block.lines)
                    first = any(
                        set(line.turn_ids) & set(question.evidence) for line in block.lines[:FIRST]
                    )
                    rows.append(
                        Row(
                            cell=_cell(task, question),
                            question=question.id,
                            answerable=True,
                            held_out=task.held_out,
                            system=reference.value,
                            budget=budget,
                            equal=equal,
                            tokens=block.tokens,
                            delivered=share,
                            first=first,
                            found=None,
                            marked=False,
                            nothing=False,
                            items=(),
                        )
                    )
    index.close()
    return rows


def _cell(task: Task, question: Question) -> Cell:
    without = question.category in (NOT_YET_KNOWN, UNANSWERABLE, PLAIN)
    wording = (
        question.category
        if without or question.category in WORDINGS
        else UNANSWERABLE
        if question.abstain
        else ECHO
    )
    return Cell(
        task.dataset,
        task.history.source,
        task.history.sessions,
        RECOGNISED if task.recognised and not question.abstain else wording,
    )


def _delivered(question: Question, task: Task, items: Sequence[BlockItem]) -> float | None:
    found = turns_delivered(question, task.history.conversation, items)
    return fmean(found.values()) if found else None


def _named(item: Item, ids: Mapping[str, str]) -> Item:
    """Return the item, with the dataset's id if it was stored as a statement."""
    name = ids.get(item.memory_id or "")
    return replace(item, turn_ids=(name,)) if name else item


def _holds(item: Item, evidence: Mapping[str, Turn]) -> bool:
    """Return whether an item is evidence: it contains a wanted turn, or was extracted from one."""
    return any(
        turn in item.turn_ids
        and (item.memory_id is not None or is_delivered(turn, said.text, [item]))
        for turn, said in evidence.items()
    )
