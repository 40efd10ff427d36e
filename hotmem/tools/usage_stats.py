"""usage_patterns: what is asked of a memory, when, and what replies make of it.

It counts recalls of which the reply was heard (`Memory.feedback`), that is those of bots; a search
by a tool counts as an access of what it gave.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import AwareDatetime, Field

from hotmem.core.validation import validate_order
from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED, zone
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.types import AnsweredRecall, UseCount, UsedMemory
from hotmem.understanding.query.ngrams import word_ngrams

MOST_RECALLS: Final = 20_000
"""Recalls looked at, the latest."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Which stretch, and how much of it.

    Attributes:
        after: Asked at or after.
        before: Asked before.
        timezone: Of hours and weekdays, as "Europe/Lisbon".
        limit: Tags, names, memories and sessions told at most, 1 to 100.
    """

    __pydantic_config__ = CLOSED

    after: AwareDatetime | None = None
    before: AwareDatetime | None = None
    timezone: Annotated[str, Field(description="Of hours and weekdays, as Europe/Lisbon.")] = "UTC"
    limit: Annotated[
        int, Field(ge=1, le=100, description="Tags, names, memories and sessions told at most.")
    ] = 10

    def __post_init__(self) -> None:
        validate_order(self.after, self.before)


@dataclass(frozen=True, slots=True)
class SessionUse:
    """A session's recalls.

    Attributes:
        session_id: The session; "" where none was named.
        began: When it was first asked, UTC.
        questions: How often it was asked.
        given: Items given.
        used: Items that replies used.
        precision: used / given, 0 to 1; 0 where nothing was given.
    """

    session_id: str
    began: datetime
    questions: int
    given: int
    used: int
    precision: float


@dataclass(frozen=True, slots=True)
class UsagePatterns:
    """What a memory is used for.

    Attributes:
        questions: Recalls that a reply followed.
        answered: Those that were given anything.
        given: Items given.
        used: Items that replies used.
        precision: used / given, 0 to 1.
        by_hour: Questions of each hour of the day that has any, "09" and so on.
        by_weekday: Questions of each day of the week that has any.
        asked_about: Known names in questions, the most frequent first.
        by_category: Memories given and used, by category.
        by_kind: The same by kind.
        by_tag: The same by tag, the most used first.
        by_entity: Items given and used that come from turns with a name, by name, the most used
            first.
        most_used: The memories used most.
        never_used: How many memories that still hold were never used.
        unused: The most important of those.
        sessions: The latest sessions in order.
        trend: Mean precision of the later half of these sessions, less that of the earlier half, -1
            to 1; None of fewer than two.
    """

    questions: int
    answered: int
    given: int
    used: int
    precision: float
    by_hour: Mapping[str, int]
    by_weekday: Mapping[str, int]
    asked_about: Mapping[str, int]
    by_category: Mapping[str, UseCount]
    by_kind: Mapping[str, UseCount]
    by_tag: Mapping[str, UseCount]
    by_entity: Mapping[str, UseCount]
    most_used: tuple[UsedMemory, ...]
    never_used: int
    unused: tuple[UsedMemory, ...]
    sessions: tuple[SessionUse, ...]
    trend: float | None


async def usage_patterns(memory: Memory, user_id: str, asked: Patterns) -> UsagePatterns:
    """What is asked for and used.

    Args:
        memory: An open memory.
        user_id: Whose memory.
        asked: Which stretch.

    Raises:
        InvalidInput: If the time zone is unknown.
        StoreError: If the file cannot be read.
    """
    storage, clock = memory.runtime.storage, zone(asked.timezone)
    user = await storage.database.read(queries.users.find, user_id) or NOBODY
    recalls = await storage.database.read(
        queries.usage_stats.asked, user, asked.after, asked.before, MOST_RECALLS
    )
    runs = await asyncio.to_thread(_runs, recalls)
    names = await storage.database.read(
        queries.usage_stats.known_names, user, json.dumps(list(runs))
    )
    shares = await storage.database.read(
        queries.usage_stats.shares, user, asked.after, asked.before, asked.limit
    )
    most_used, unused, never_used = await storage.database.read(
        queries.usage_stats.memories, user, asked.limit
    )
    hours = Counter(f"{one.at.astimezone(clock):%H}" for one in recalls)
    days = Counter(one.at.astimezone(clock).weekday() for one in recalls)
    sessions = by_session(recalls)[-asked.limit :]
    given, used = sum(one.given for one in recalls), sum(one.used for one in recalls)
    return UsagePatterns(
        questions=len(recalls),
        answered=sum(one.given > 0 for one in recalls),
        given=given,
        used=used,
        precision=used / max(given, 1),
        by_hour=dict(sorted(hours.items())),
        by_weekday={WEEKDAYS[day]: count for day, count in sorted(days.items())},
        asked_about=dict(
            Counter({names[key]: runs[key] for key in names}).most_common(asked.limit)
        ),
        by_category=shares["category"],
        by_kind=shares["kind"],
        by_tag=shares["tag"],
        by_entity=shares["entity"],
        most_used=tuple(most_used),
        never_used=never_used,
        unused=tuple(unused),
        sessions=tuple(sessions),
        trend=trend(sessions),
    )


def by_session(recalls: Sequence[AnsweredRecall]) -> list[SessionUse]:
    """The recalls of each session together, in the order in which the sessions began."""
    held: defaultdict[str, list[AnsweredRecall]] = defaultdict(list)
    for one in recalls:
        held[one.session_id or ""].append(one)
    found = []
    for session, asked in held.items():
        given, used = sum(one.given for one in asked), sum(one.used for one in asked)
        found.append(
            SessionUse(
                session, min(one.at for one in asked), len(asked), given, used, used / max(given, 1)
            )
        )
    return sorted(found, key=lambda one: (one.began, one.session_id))


def trend(sessions: Sequence[SessionUse]) -> float | None:
    """Mean precision of the later half less that of the earlier one.

    A session in the middle counts to the later.
    """
    half = len(sessions) // 2
    if not half:
        return None
    earlier, later = sessions[:half], sessions[half:]
    return sum(one.precision for one in later) / len(later) - sum(
        one.precision for one in earlier
    ) / len(earlier)


def _runs(recalls: Sequence[AnsweredRecall]) -> Counter[str]:
    """How many questions hold each run of one to three words, in lower case."""
    return Counter(
        run for one in recalls for run in {run.casefold() for run in word_ngrams(one.query)}
    )
