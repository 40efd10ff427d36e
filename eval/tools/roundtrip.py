"""Export and import: does the imported memory return the same blocks?

Each conversation is remembered, exported to a file and imported into a new memory; both are asked
the same questions at the same time. Blocks are equal if their texts are, and their items with
relevance, confidence and sources.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.datasets import Conversation, Question
from eval.output import tracked
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
    conversations: Sequence[Conversation], questions: int, models: Models
) -> RoundTrip:
    """Export, import and ask.

    Args:
        conversations: The conversations.
        questions: Total number of questions, spread evenly over the conversations.
        models: The models.
    """
    lines: Counter[str] = Counter()
    asked = 0
    differences: list[Difference] = []
    share = -(-questions // len(conversations))
    for conversation in tracked(conversations, "conversations"):
        user = conversation.user
        async with ingested(conversation, models) as memory:
            with tempfile.TemporaryDirectory(prefix="hotmem-roundtrip-") as folder:
                file, copy = str(Path(folder) / "export.jsonl"), Path(folder) / "again.db"
                done = await export_memories(memory, user, ExportArguments(file=file))
                lines += Counter(done.lines)
                async with Memory.open(
                    copy, encoder=models.cached_encoder, language=models.language
                ) as again:
                    await import_memories(again, user, ImportArguments(file=file))
                    await again.settle()
                async with Memory.open(
                    copy, encoder=models.encoder, language=models.language
                ) as again:
                    for question in spread(conversation.questions, min(share, questions - asked)):
                        before, after = [
                            await one.recall(
                                question.text,
                                user_id=user,
                                session_id=SESSION,
                                at=question.asked_at,
                            )
                            for one in (memory, again)
                        ]
                        if parts := differing(before, after):
                            differences.append(Difference(user, question.id, parts))
                        asked += 1
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
