"""memory_quality and usage_patterns: how useful the memory was to the bot."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final, Self

from pydantic import AwareDatetime, Field

from hotmem.core.validation import validate_order
from hotmem.memory import Memory
from hotmem.operations.requests import Request, zone
from hotmem.storage import queries
from hotmem.tools.maintenance import find_user
from hotmem.types import AnsweredRecall, Layer, Tally, UseCount, UsedMemory
from hotmem.understanding.query.entities import word_ngrams

UNKNOWN_INTENT: Final = "not read in time"
"""Label of the intent of queries that were not analysed before the deadline."""


@dataclass(frozen=True, slots=True)
class QualityArguments(Request):
    """Arguments of `memory_quality`: number of days, including today."""

    days: Annotated[int, Field(ge=1, le=36_500)] = 30


@dataclass(frozen=True, slots=True)
class QualityFigures:
    """Quality figures of a number of turns; see `hotmem.types.Tally`.

    Shares are 0 to 1, or None if the denominator is zero.

    Attributes:
        turns: Turns with a recall and a reply.
        given: Items in context blocks.
        used: Items that replies used.
        precision: used / given.
        tokens: Tokens of context blocks.
        wasted: Tokens of items that replies did not use.
        coverage: Share of turns in which the reply used at least one item.
        nothing_known: Share of turns in which nothing, or nothing certain, was known.
        late: Turns in which a layer missed its deadline or failed.
        p50_ms: Median latency.
        p95_ms: 95th percentile of the latency.
    """

    turns: int
    given: int
    used: int
    precision: float | None
    tokens: int
    wasted: int
    coverage: float | None
    nothing_known: float | None
    late: int
    p50_ms: float | None
    p95_ms: float | None

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """Return the figures of a tally, rounded."""
        figures: dict[str, Any] = {one.name: getattr(tally, one.name) for one in fields(cls)}
        for name, value in figures.items():
            if isinstance(value, float):
                figures[name] = round(value, 1 if name.endswith("_ms") else 3)
        return cls(**figures)


@dataclass(frozen=True, slots=True)
class QualityReport:
    """Result of `memory_quality`.

    Attributes:
        since: First day, UTC.
        total: Figures of all turns.
        by_layer: Figures by layer.
        by_intent: Figures by intent of the query.
        by_day: Figures by day; days without turns are left out.
    """

    since: date
    total: QualityFigures
    by_layer: Mapping[Layer, QualityFigures]
    by_intent: Mapping[str, QualityFigures]
    by_day: Mapping[date, QualityFigures]


async def memory_quality(
    memory: Memory, user_id: str, arguments: QualityArguments
) -> QualityReport:
    """Show how much of the context blocks the replies used, by layer, intent and day.

    Also their tokens, and how often nothing was known.
    """
    since = datetime.now(UTC).date() - timedelta(days=arguments.days - 1)
    found = await memory.learning.quality(user_id, since=since)
    return QualityReport(
        since,
        QualityFigures.of(found.total()),
        {layer: QualityFigures.of(tally) for layer, tally in found.by_layer().items()},
        {
            intent or UNKNOWN_INTENT: QualityFigures.of(tally)
            for intent, tally in found.by_intent().items()
        },
        {day: QualityFigures.of(tally) for day, tally in found.by_day().items()},
    )


MAX_RECALLS: Final = 20_000
"""Maximum recalls evaluated, latest first."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class UsageArguments(Request):
    """Arguments of `usage_patterns`.

    Attributes:
        after: Earliest recall, inclusive.
        before: Latest recall, exclusive.
        timezone: Time zone of hours and weekdays, such as "Europe/Lisbon".
        limit: Maximum tags, names, memories and sessions, 1 to 100.
    """

    after: AwareDatetime | None = None
    before: AwareDatetime | None = None
    timezone: Annotated[str, Field(description="Time zone of hours and weekdays.")] = "UTC"
    limit: Annotated[
        int, Field(ge=1, le=100, description="Maximum tags, names, memories and sessions.")
    ] = 10

    def __post_init__(self) -> None:
        validate_order(self.after, self.before)


@dataclass(frozen=True, slots=True)
class SessionUse:
    """Recalls of a session.

    Attributes:
        session_id: Session ID; "" if none was given.
        began: Time of the first recall, UTC.
        questions: Number of recalls.
        given: Items in context blocks.
        used: Items that replies used.
        precision: used / given, 0 to 1; 0 without items.
    """

    session_id: str
    began: datetime
    questions: int
    given: int
    used: int
    precision: float


@dataclass(frozen=True, slots=True)
class UsagePatterns:
    """Result of `usage_patterns`.

    Attributes:
        questions: Recalls followed by a reply.
        answered: Recalls with at least one item.
        given: Items in context blocks.
        used: Items that replies used.
        precision: used / given, 0 to 1.
        by_hour: Recalls by hour of the day, "00" to "23"; hours without recalls are left out.
        by_weekday: Recalls by day of the week; days without recalls are left out.
        asked_about: Known names in queries, most frequent first.
        by_category: Memories given and used, by category.
        by_kind: Memories given and used, by kind.
        by_tag: Memories given and used, by tag, most used first.
        by_entity: Items given and used from turns that mention a name, by name, most used first.
        most_used: The memories used most.
        never_used: Number of valid memories that were never used.
        unused: The most important memories that were never used.
        sessions: The latest sessions, in chronological order.
        trend: Mean precision of the second half of these sessions minus that of the first half,
            -1 to 1; None with fewer than two sessions.
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


async def usage_patterns(memory: Memory, user_id: str, arguments: UsageArguments) -> UsagePatterns:
    """Show when the memory is queried, which memories replies use, and which are never used.

    Args:
        memory: An open memory.
        user_id: User ID.
        arguments: Time range and limits.

    Raises:
        InvalidInput: If the time zone is unknown.
        StoreError: If the file cannot be read.
    """
    clock = zone(arguments.timezone)
    database, user = await find_user(memory, user_id)
    recalls = await database.read(
        queries.quality.asked, user, arguments.after, arguments.before, MAX_RECALLS
    )
    ngrams = await asyncio.to_thread(_count_ngrams, recalls)
    names = await database.read(queries.quality.known_names, user, ngrams)
    shares = await database.read(
        queries.quality.shares, user, arguments.after, arguments.before, arguments.limit
    )
    most_used, unused, never_used = await database.read(
        queries.quality.memories, user, arguments.limit
    )
    hours = Counter(f"{one.at.astimezone(clock):%H}" for one in recalls)
    days = Counter(one.at.astimezone(clock).weekday() for one in recalls)
    sessions = group_by_session(recalls)[-arguments.limit :]
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
            Counter({names[key]: ngrams[key] for key in names}).most_common(arguments.limit)
        ),
        by_category=shares["category"],
        by_kind=shares["kind"],
        by_tag=shares["tag"],
        by_entity=shares["entity"],
        most_used=tuple(most_used),
        never_used=never_used,
        unused=tuple(unused),
        sessions=tuple(sessions),
        trend=precision_trend(sessions),
    )


def group_by_session(recalls: Sequence[AnsweredRecall]) -> list[SessionUse]:
    """Aggregate recalls by session, in the order of their first recalls."""
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


def precision_trend(sessions: Sequence[SessionUse]) -> float | None:
    """Return the mean precision of the second half minus that of the first half.

    With an odd number of sessions, the middle one belongs to the second half.
    """
    half = len(sessions) // 2
    if not half:
        return None
    earlier, later = sessions[:half], sessions[half:]
    return sum(one.precision for one in later) / len(later) - sum(
        one.precision for one in earlier
    ) / len(earlier)


def _count_ngrams(recalls: Sequence[AnsweredRecall]) -> Counter[str]:
    """Count the queries that contain each n-gram of one to three words, in lower case."""
    return Counter(
        ngram for one in recalls for ngram in {ngram.casefold() for ngram in word_ngrams(one.query)}
    )
