"""A question of the user's and what became of it; and which question a reply belongs to."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hotmem.pipecat.context import Question
from hotmem.types import ContextBlock


def now_ms() -> datetime:
    """The wall clock in UTC, cut to milliseconds like the times pipecat puts into its frames."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


@dataclass(slots=True)
class Exchange:
    """A question, the search for its block, and what became of both.

    Attributes:
        question: What the user said.
        recall: The search; it outlives an interruption of the frame that waits for it.
        asked_at: When it was asked, by the wall clock.
        given: The block that was in time for the language model, if any.
        interrupted: Whether the user broke into the reply.
    """

    question: Question
    recall: asyncio.Task[ContextBlock | None]
    asked_at: datetime = field(default_factory=now_ms)
    given: ContextBlock | None = None
    interrupted: bool = False


def answered(exchanges: Sequence[Exchange], timestamp: str) -> Exchange | None:
    """The exchange that a reply answers: the latest one asked before the reply began.

    When the user breaks in, what was heard of the old reply can arrive after the new question.

    Args:
        exchanges: The last exchanges, oldest first.
        timestamp: When the reply began, ISO 8601; without one it answers the latest question.
    """
    try:
        began = datetime.fromisoformat(timestamp)
    except ValueError:
        return exchanges[-1] if exchanges else None
    began = began if began.tzinfo else began.replace(tzinfo=UTC)
    return next((exchange for exchange in reversed(exchanges) if exchange.asked_at <= began), None)
