"""Retrieved candidates of every question, as used by training and the studies.

Each conversation is ingested once. Candidates are kept before ranking, so that any number of models
can rank and pack them without another recall.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.datasets import Conversation, Question
from eval.histories import training_groups
from eval.run import (
    SESSION,
    Models,
    Task,
    held_out,
    ingested,
    models,
    numbered,
    spread,
    stored_ids,
)
from hotmem.core.timing import StageTimer
from hotmem.recall import retrieve
from hotmem.retrieval.context import RecallRequest, Retrieved
from hotmem.types import Evidence, EvidenceKind


@dataclass(frozen=True, slots=True)
class RetrievedQuestion:
    """A question and its candidates.

    Attributes:
        conversation: Its conversation.
        question: The question.
        held_out: Whether the conversation is excluded from fitting; every second one is.
        found: Its candidates, before ranking.
    """

    conversation: Conversation
    question: Question
    held_out: bool
    found: Retrieved


def retrieved(
    conversations: Sequence[Conversation],
    jobs: int,
    folder: Path,
    name: str,
    *,
    fitted_too: bool = True,
) -> list[RetrievedQuestion]:
    """Retrieve candidates for every question of a dataset, in its order.

    Args:
        conversations: The conversations.
        jobs: Number of processes.
        folder: Folder of the disk cache.
        name: Name of the dataset in the progress bar.
        fitted_too: Whether to include conversations that are used for fitting.
    """
    tasks = numbered(conversations, folder, fitted_too=fitted_too)
    answers = spread(_retrieved, tasks, jobs, name)
    return [
        RetrievedQuestion(task.conversation, question, held_out(task.number), found)
        for task, answer in zip(tasks, answers, strict=True)
        for question, found in zip(task.conversation.questions, answer, strict=True)
    ]


def retrieved_histories(
    datasets: Mapping[str, Sequence[Conversation]], jobs: int, folder: Path
) -> dict[str, list[RetrievedQuestion]]:
    """Retrieve candidates for every history used in training, by group; see `training_groups`.

    The arguments are those of `retrieved`.
    """
    asked: dict[str, list[RetrievedQuestion]] = {}
    for name, conversations in datasets.items():
        for group, part in training_groups(name, conversations):
            asked.setdefault(group, []).extend(retrieved(part, jobs, folder, group))
    return asked


def request(conversation: Conversation, question: Question) -> RecallRequest:
    """Return the recall request of a question."""
    return RecallRequest(question.text, conversation.user, SESSION, question.asked_at, 0)


def _retrieved(task: Task) -> list[Retrieved]:
    """Retrieve candidates for each question of a conversation; runs in a process."""
    return asyncio.run(_ingested_and_asked(task, models(task.cache)))


async def _ingested_and_asked(task: Task, loaded: Models) -> list[Retrieved]:
    known: dict[tuple[EvidenceKind, int, bool], Evidence] = {}
    async with ingested(task.conversation, loaded) as memory:
        ids = await stored_ids(memory, task.conversation.user) if task.conversation.stored else {}
        return [
            _shared(
                await retrieve(
                    memory.runtime.recall, request(task.conversation, question), StageTimer()
                ),
                known,
                ids,
            )
            for question in task.conversation.questions
        ]


def _shared(
    found: Retrieved, known: dict[tuple[EvidenceKind, int, bool], Evidence], ids: Mapping[str, str]
) -> Retrieved:
    """Return the same with each piece of evidence shared between the questions of a conversation.

    Stored statements get the dataset's ids.
    """
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
