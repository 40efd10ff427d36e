"""Export and import: does the imported memory return the same blocks?

Each conversation is remembered, exported to a file and imported into a new memory; both are asked
the same questions at the same time. Blocks are equal if their texts are, and their items with
relevance, confidence and sources.
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
from hotmem.tools.files import ExportArguments, ImportArguments, export_memories, import_memories
from hotmem.types import ContextBlock

CLOSE: Final = 1e-6
"""Maximum difference of two probabilities that count as equal."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A question with different blocks, and the parts that differ."""

    conversation: str
    question: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Results of the comparison.

    Attributes:
        questions: Number of questions.
        same: Number of questions with equal blocks.
        lines: Number of exported lines by type.
        differences: The other questions.
    """

    questions: int
    same: int
    lines: Mapping[str, int]
    differences: tuple[Difference, ...]


async def measure(
    conversations: Sequence[Conversation], questions: int, models: Models, console: Console
) -> RoundTrip:
    """Export, import and ask.

    Args:
        conversations: The conversations.
        questions: Total number of questions, spread evenly over the conversations.
        models: The models.
        console: Console for the progress bar.
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
                        encoder=models.cached_encoder,
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
    """Return a number of questions, evenly spaced."""
    count = min(count, len(questions))
    return [questions[place * len(questions) // count] for place in range(count)]


def differing(before: ContextBlock, after: ContextBlock) -> tuple[str, ...]:
    """Return the parts that differ: "text", "items", "relevance", "confidence", "mark"."""
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
    """Print the number of equal blocks, and the parts that differ in the others."""
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
    """Return the results as plain values."""
    return asdict(trip)


async def _block(memory: Memory, conversation: Conversation, question: Question) -> ContextBlock:
    return await memory.recall(
        question.text, user_id=conversation.user, session_id=SESSION, at=question.asked_at
    )
