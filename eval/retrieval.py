"""What training and the studies share.

Each conversation ingested once, and everything that was retrieved for each of its questions.

What was retrieved is kept before it is weighed, so that any number of models can rank and pack it
without asking the memory again.
"""

import asyncio
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import track

from eval.datasets import Conversation, Question
from eval.histories import groups
from eval.run import SESSION, Models, Task, ingested, models, stored_ids
from hotmem.core.stage_timer import StageTimer
from hotmem.recall import RecallContext, retrieve
from hotmem.retrieval.context import RecallRequest, Retrieved
from hotmem.types import Evidence, EvidenceKind, Layer

Given = TypeVar("Given")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which layers there are, and whether the analysis chooses among them.

    Otherwise all are asked.
    """

    layers: tuple[Layer, ...] = tuple(Layer)
    by_analysis: bool = True

    def of(self, reader: RecallContext) -> RecallContext:
        """The reader, bound to this choice."""
        layers = [search for search in reader.layers if search.layer in self.layers]
        return replace(
            reader, layers=layers, options=replace(reader.options, choose_layers=self.by_analysis)
        )


SHIPPED: Final = Choice()
"""How a memory is opened if nothing is said."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what was retrieved for it.

    Attributes:
        conversation: Its conversation.
        question: The question.
        held_out: Whether the conversation is kept from fitting: every second one is.
        found: What was retrieved under each choice of layers, before it is weighed.
    """

    conversation: Conversation
    question: Question
    held_out: bool
    found: Mapping[Choice, Retrieved]


def retrieved(
    conversations: Sequence[Conversation],
    choices: Sequence[Choice],
    jobs: int,
    folder: Path,
    console: Console,
    name: str,
    *,
    fitted_too: bool = True,
    encoder: str = "",
) -> list[Asked]:
    """What is retrieved for every question of a dataset, in its order.

    Args:
        conversations: The dataset's.
        choices: Layers to ask, one after the other.
        jobs: Processes the conversations are spread over.
        folder: Where the run's cache lies.
        console: Where the progress goes.
        name: The dataset's name, beside the progress.
        fitted_too: Whether conversations that are fitted on are asked too.
        encoder: As `HOTMEM_ENCODER` names one; "" is what that says.
    """
    tasks = [
        replace(task, encoder=encoder)
        for task in numbered(conversations, folder, fitted_too=fitted_too)
    ]
    answers = spread(partial(_retrieved, tuple(choices)), tasks, jobs, console, name)
    return [
        Asked(task.conversation, question, held_out(task.number), found)
        for task, answer in zip(tasks, answers, strict=True)
        for question, found in zip(task.conversation.questions, answer, strict=True)
    ]


def retrieved_histories(
    datasets: Mapping[str, Sequence[Conversation]],
    jobs: int,
    folder: Path,
    console: Console,
    encoder: str = "",
) -> dict[str, list[Asked]]:
    """What is retrieved for every history of each dataset that is fitted on, by group.

    Whole by source, and young; arguments as of `retrieved`.
    """
    asked: dict[str, list[Asked]] = {}
    for name, conversations in datasets.items():
        for group, part in groups(name, conversations):
            asked.setdefault(group, []).extend(
                retrieved(part, [SHIPPED], jobs, folder, console, group, encoder=encoder)
            )
    return asked


def held_out(number: int) -> bool:
    """Whether the conversation at this place of its dataset is kept from fitting."""
    return number % 2 == 1


def numbered(
    conversations: Sequence[Conversation], folder: Path, *, fitted_too: bool
) -> list[Task]:
    """The conversations as tasks of processes: all of them, or those held out."""
    return [
        Task(number, one, 0, folder / "shelf.db")
        for number, one in enumerate(conversations)
        if fitted_too or held_out(number)
    ]


def spread(
    work: Callable[[Given], Found], tasks: Sequence[Given], jobs: int, console: Console, name: str
) -> Iterator[Found]:
    """The result of each task, in order, worked out in processes."""
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from track(pool.map(work, tasks), name, len(tasks), console=console)


def request(conversation: Conversation, question: Question, budget: int = 0) -> RecallRequest:
    """The question as it is put to the memory."""
    return RecallRequest(question.text, conversation.user, SESSION, question.asked_at, budget)


def _retrieved(choices: tuple[Choice, ...], task: Task) -> list[dict[Choice, Retrieved]]:
    """What is retrieved for each question of a conversation; the body of a process."""
    return asyncio.run(_ingested_and_asked(task, choices, models(task.shelf, task.encoder)))


async def _ingested_and_asked(
    task: Task, choices: tuple[Choice, ...], loaded: Models
) -> list[dict[Choice, Retrieved]]:
    known: dict[tuple[EvidenceKind, int, bool], Evidence] = {}
    async with ingested(task.conversation, loaded) as memory:
        ids = await stored_ids(memory, task.conversation.user) if task.conversation.stored else {}
        return [
            {
                choice: _shared(
                    await retrieve(
                        choice.of(memory.runtime.recall),
                        request(task.conversation, question),
                        StageTimer(),
                    ),
                    known,
                    ids,
                )
                for choice in choices
            }
            for question in task.conversation.questions
        ]


def _shared(
    found: Retrieved, known: dict[tuple[EvidenceKind, int, bool], Evidence], ids: Mapping[str, str]
) -> Retrieved:
    """The same, with each statement held once for all questions of its conversation, and what was stored outright under the dataset's ids."""
    evidence = [
        one.evidence._replace(turn_ids=(name,))
        if (name := ids.get(one.evidence.memory_id or ""))
        else one.evidence
        for one in found.candidates
    ]
    same = [known.setdefault((one.kind, one.key, one.after_question), one) for one in evidence]
    return replace(
        found,
        candidates=[
            candidate._replace(evidence=one)
            for one, candidate in zip(same, found.candidates, strict=True)
        ],
    )
