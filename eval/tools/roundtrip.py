"""Whether a memory that is exported and taken in by an empty one answers as before, block by block.

Each conversation is remembered and understood, exported to a file, imported into a new memory, and
both are asked the same questions at the same time. A block is the same if its text is, and its
items with their relevance, confidence and sources.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from eval.datasets import Conversation, Question
from eval.run import SESSION, Models, ingested
from hotmem import Memory
from hotmem.tools.exports import ExportArguments, export_memories
from hotmem.tools.imports import ImportArguments, import_memories
from hotmem.types import ContextBlock

CLOSE: Final = 1e-6
"""Difference of two probabilities that is none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that is answered otherwise: by which conversation and question, and in what."""

    conversation: str
    question: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Answers before and after.

    Attributes:
        questions: Questions asked of both.
        same: Those with the same block.
        lines: Lines exported, by their type.
        differences: The others.
    """

    questions: int
    same: int
    lines: Mapping[str, int]
    differences: tuple[Difference, ...]


async def measure(
    conversations: Sequence[Conversation], questions: int, models: Models, console: Console
) -> RoundTrip:
    """Exports, imports and asks.

    Args:
        conversations: What is remembered.
        questions: Questions asked in all, spread evenly over the conversations.
        models: The models, behind the run's cache.
        console: Where the progress bar goes.
    """
    lines: Counter[str] = Counter()
    asked = 0
    differences: list[Difference] = []
    share = -(-questions // len(conversations))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("questions", total=questions)
        for conversation in conversations:
            chosen = spread(conversation.questions, min(share, questions - asked))
            async with ingested(conversation, models) as memory:
                with tempfile.TemporaryDirectory(prefix="hotmem-roundtrip-") as folder:
                    file = Path(folder) / "export.jsonl"
                    lines += Counter(
                        (
                            await export_memories(
                                memory, conversation.user, ExportArguments(file=str(file))
                            )
                        ).lines
                    )
                    async with Memory.open(
                        Path(folder) / "again.db",
                        encoder=models.shelved_encoder,
                        language=models.language,
                    ) as again:
                        await import_memories(
                            again, conversation.user, ImportArguments(file=str(file))
                        )
                        await again.settle()
                    async with Memory.open(
                        Path(folder) / "again.db", encoder=models.encoder, language=models.language
                    ) as again:
                        for question in chosen:
                            parts = differing(
                                *[
                                    await _block(one, conversation, question)
                                    for one in (memory, again)
                                ]
                            )
                            if parts:
                                differences.append(
                                    Difference(conversation.user, question.id, parts)
                                )
                            asked += 1
                            progress.advance(bar)
    return RoundTrip(asked, asked - len(differences), dict(lines), tuple(differences))


def spread(questions: Sequence[Question], count: int) -> list[Question]:
    """So many questions, at even distances."""
    count = min(count, len(questions))
    return [questions[place * len(questions) // count] for place in range(count)]


def differing(before: ContextBlock, after: ContextBlock) -> tuple[str, ...]:
    """What two blocks differ in: "text", "items", "relevance", "confidence", "mark"."""
    found = [] if before.text == after.text else ["text"]
    if [(item.text, item.turn_ids, item.memory_id, item.layers) for item in before.items] != [
        (item.text, item.turn_ids, item.memory_id, item.layers) for item in after.items
    ]:
        return (*found, "items")
    for name in ("relevance", "confidence"):
        if any(
            abs(getattr(one, name) - getattr(other, name)) > CLOSE
            for one, other in zip(before.items, after.items, strict=True)
        ):
            found.append(name)
    if [item.mark for item in before.items] != [item.mark for item in after.items]:
        found.append("mark")
    return tuple(found)


def show(trip: RoundTrip, console: Console) -> None:
    """Prints how many answers are the same, and in what the others differ."""
    told = ", ".join(
        f"{count:,} {kind}" for kind, count in trip.lines.items() if kind not in ("export", "end")
    )
    console.print(f"exported: {told}", highlight=False)
    console.print(
        f"{trip.same} of {trip.questions} blocks are the same after export and import",
        highlight=False,
    )
    if trip.differences:
        table = Table("conversation", "question", "differs in")
        for one in trip.differences:
            table.add_row(one.conversation, one.question, ", ".join(one.parts))
        console.print(table)


def figures(trip: RoundTrip) -> dict[str, Any]:
    """The same as plain values."""
    return asdict(trip)


async def _block(memory: Memory, conversation: Conversation, question: Question) -> ContextBlock:
    return await memory.recall(
        question.text, user_id=conversation.user, session_id=SESSION, at=question.asked_at
    )
