"""What the tools are asked for.

Every field has a default that needs no decision; a wrong one is named with what it may be.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from hotmem.core.validation import validate_order
from hotmem.errors import InvalidInput
from hotmem.types import Category, Kind

T = TypeVar("T")

CLOSED: Final = ConfigDict(extra="forbid")
"""A name that is not a field's is an error and not ignored."""

MAX_RESULTS: Final = 100

Share = Annotated[float, Field(ge=0, le=1)]
Importance = Annotated[int, Field(ge=1, le=5)]
Tag = Annotated[str, Field(min_length=1, max_length=60)]
Ranking = Literal["learned", "design"]
ContentType = Literal[
    "fact", "preference", "skill", "rule", "context", "reminder", "turn", "summary"
]


@dataclass(frozen=True, slots=True)
class TimeRange:
    """When it was said: at or after `start`, before `end`; None is open."""

    start: AwareDatetime | None = None
    end: AwareDatetime | None = None

    def __post_init__(self) -> None:
        validate_order(self.start, self.end)

    def holds(self, moment: datetime) -> bool:
        """Whether a time lies in it."""
        return (self.start is None or self.start <= moment) and (
            self.end is None or moment < self.end
        )


@dataclass(frozen=True, slots=True)
class StoreContext:
    """What is known of a memory besides its words; what is left out is decided by the memory.

    Attributes:
        category: One of the seven, instead of the one found.
        kind: What sort of statement it is, instead of the one found.
        importance: 1 (passing) to 5 (must not be forgotten), instead of the one found.
        expires_at: When it stops being true, with time zone.
        tags: Words it is filed under, besides those found.
        source: Where it comes from: a program, a document, a person.
        note: A remark of the user's about it.
    """

    __pydantic_config__ = CLOSED

    category: Category | None = None
    kind: Kind | None = None
    importance: Importance | None = None
    expires_at: AwareDatetime | None = None
    tags: tuple[Tag, ...] = ()
    source: Annotated[str, Field(max_length=500)] | None = None
    note: Annotated[str, Field(max_length=2000)] | None = None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a search goes.

    Attributes:
        limit: Results at most, 1 to 100.
        min_relevance: Least relevance of a result, 0 to 1; None takes the ranking's own.
        time_range: When it was said.
        min_importance: Least importance, 1 to 5. Above 1 it leaves out what has none: turns and
            summaries.
        content_type: Only memories of this kind, only turns, or only summaries.
        include_expired: Also what no longer holds.
        include_conversation: Search what was said.
        include_stored: Search memories and summaries.
        session: The live session: what it leaves unsaid is looked for there, and the question
            itself is not found.
        conversation_weight: How much what was said counts beside memories, 0 to 1; at 0.5 both
            count as they are.
        return_debug: Whether the result tells how it came about.
        progressive: Go from digests to memories, summaries and turns, and stop when enough is
            found; None takes the memory's own setting.
        ranking: "learned" is the fitted relevance; "design" is 0.4 meaning + 0.3 words + 0.1
            importance + 0.1 recency + 0.1 use.
    """

    __pydantic_config__ = CLOSED

    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10
    min_relevance: Share | None = None
    time_range: TimeRange | None = None
    min_importance: Importance = 1
    content_type: ContentType | None = None
    include_expired: bool = False
    include_conversation: bool = True
    include_stored: bool = True
    session: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    conversation_weight: Share = 0.5
    return_debug: bool = False
    progressive: bool | None = None
    ranking: Ranking = "learned"

    def __post_init__(self) -> None:
        if not (self.include_conversation or self.include_stored):
            raise InvalidInput(
                "include_conversation and include_stored (--no-conversation, --no-stored) are both off, so nothing is searched. Leave one on."
            )


def checked(
    kind: type[T], given: T | Mapping[str, Any] | None, called: Callable[[str], str] = str
) -> T:
    """A request whose fields are all right.

    Args:
        kind: The request's class.
        given: The request, or its fields by name as they come from outside; None is all defaults.
        called: What an error calls a field, for doors that have names of their own.

    Raises:
        InvalidInput: If a field is unknown or wrong, naming it and what it may be.
    """
    if given is None:
        return kind()
    values = (
        given
        if isinstance(given, Mapping)
        else {field.name: getattr(given, field.name) for field in fields(given)}  # type: ignore[arg-type]
    )
    try:
        found: T = _adapter(kind).validate_python(values)  # type: ignore[arg-type]  # mypy: a class is hashable
    except ValidationError as error:
        raise InvalidInput(" ".join(_told(one, kind, called) for one in error.errors())) from error
    return found


def zone(name: str) -> ZoneInfo:
    """The time zone of a name, as "Europe/Lisbon".

    Raises:
        InvalidInput: If there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"timezone is {name!r}. Use a name of the time zone database (--timezone), such as Europe/Lisbon."
        ) from error


def schema(kind: type[Any]) -> dict[str, Any]:
    """The JSON schema of a request, for those who ask from outside."""
    return _adapter(kind).json_schema()  # type: ignore[arg-type]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a class
    return TypeAdapter(kind)


def _told(error: Any, kind: type[Any], called: Callable[[str], str]) -> str:  # noqa: ANN401 - pydantic's own dictionary
    if error["type"] == "value_error":  # raised by a check of our own, which says all
        return str(error["ctx"]["error"])
    name = called(".".join(str(part) for part in error["loc"])) or kind.__name__
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{name} is not known here. Known are: {', '.join(field.name for field in fields(kind))}."
    shown = repr(error["input"])
    return f"{name} is {shown if len(shown) <= 60 else shown[:57] + '...'}. {error['msg']}."
