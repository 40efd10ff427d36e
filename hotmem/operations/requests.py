"""Requests: the arguments of the operations, validated.

Every field has a default. An error names the invalid field and its valid values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from hotmem.core.validation import validate_order
from hotmem.errors import InvalidInput
from hotmem.text.validation import MAX_ID_CHARACTERS
from hotmem.types import Category, Kind

T = TypeVar("T")

MAX_RESULTS: Final = 100

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Importance = Annotated[int, Field(ge=1, le=5)]
Tag = Annotated[str, Field(min_length=1, max_length=60)]
Id = Annotated[str, Field(max_length=MAX_ID_CHARACTERS)]
Expected = Annotated[
    str, Field(min_length=1, max_length=2000, description="A memory's id, a turn's id, or words.")
]
Ranking = Literal["learned", "design"]
ContentType = Literal[
    "fact", "preference", "skill", "rule", "context", "reminder", "turn", "summary"
]


class Request:
    """Base of the classes of arguments: an unknown field is an error."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A range of time: at or after `start`, before `end`; None leaves it open."""

    start: AwareDatetime | None = None
    end: AwareDatetime | None = None

    def __post_init__(self) -> None:
        validate_order(self.start, self.end)

    def holds(self, moment: datetime) -> bool:
        """Whether a time is within the range."""
        return (self.start is None or self.start <= moment) and (
            self.end is None or moment < self.end
        )


@dataclass(frozen=True, slots=True)
class StoreContext(Request):
    """Metadata of a memory to be stored; what is not given is determined automatically.

    Attributes:
        category: One of the seven categories.
        kind: The kind of statement.
        importance: 1 (passing) to 5 (essential).
        expires_at: Time from which it no longer holds, with time zone.
        tags: Tags, in addition to those found.
        source: Where it comes from: a program, a document, a person.
        note: The user's note on it.
    """

    category: Category | None = None
    kind: Kind | None = None
    importance: Importance | None = None
    expires_at: AwareDatetime | None = None
    tags: tuple[Tag, ...] = ()
    source: Annotated[str, Field(max_length=500)] | None = None
    note: Annotated[str, Field(max_length=2000)] | None = None


@dataclass(frozen=True, slots=True)
class ScoreWeights(Request):
    """Weights of the "design" ranking, 0 or more. Only their proportions matter.

    Attributes:
        meaning: Of the cosine of query and statement.
        words: Of the share of the query's words in the statement.
        importance: Of the importance of a memory.
        recency: Of the age of the statement; the latest counts most.
        use: Of the number of times that a search returned the memory.
    """

    meaning: Weight = 0.4
    words: Weight = 0.3
    importance: Weight = 0.1
    recency: Weight = 0.1
    use: Weight = 0.1

    def __post_init__(self) -> None:
        if not any((self.meaning, self.words, self.importance, self.recency, self.use)):
            raise InvalidInput("weights are all 0. Give at least one of them a value above 0.")


@dataclass(frozen=True, slots=True)
class SearchOptions(Request):
    """Options of a search.

    Attributes:
        limit: Limit of results, 1 to 100.
        min_relevance: Minimum relevance of a result, 0 to 1; None uses the ranking's own.
        time_range: Time of the statement.
        min_importance: Minimum importance, 1 to 5. Above 1 it excludes turns and summaries, which
            have none.
        content_type: Only memories of this kind, only turns, or only summaries.
        include_expired: Whether to include statements that no longer hold.
        include_conversation: Whether to search turns.
        include_stored: Whether to search memories and summaries.
        session: The live session: references in the query are resolved from it, and the query
            itself is not found.
        conversation_weight: Weight of turns against memories, 0 to 1; 0.5 leaves both unchanged.
        return_debug: Whether to report how the result came about.
        ranking: "learned" is the fitted relevance; "design" is a weighted sum of cosine, words,
            importance, recency and use.
        weights: Weights of the "design" ranking; None uses 0.4, 0.3, 0.1, 0.1 and 0.1.
    """

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
    ranking: Ranking = "learned"
    weights: ScoreWeights | None = None

    def __post_init__(self) -> None:
        if not (self.include_conversation or self.include_stored):
            raise InvalidInput(
                "include_conversation and include_stored (--no-conversation, --no-stored) are both"
                " off, so nothing is searched. Leave one on."
            )
        if self.weights is not None and self.ranking != "design":
            raise InvalidInput(
                'weights (--weight) are those of the "design" ranking, but ranking is'
                f' "{self.ranking}". Use ranking "design" (--ranking design), or no weights.'
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions(SearchOptions):
    """Options of a search to explain.

    Attributes:
        expected: What should have been found: the id of a memory or turn, or words in it.
    """

    expected: Expected | None = None


def checked(
    kind: type[T], given: T | Mapping[str, Any] | None, called: Callable[[str], str] = str
) -> T:
    """Validate a request.

    Args:
        kind: The class of the request.
        given: The request, or its fields by name; None is all defaults.
        called: Maps a field to its name in error messages, for interfaces with other names.

    Raises:
        InvalidInput: If a field is unknown or invalid. The message names it and its valid values.
    """
    if given is None:
        return kind()
    if not isinstance(given, Mapping) and not is_dataclass(given):
        raise InvalidInput(
            f"The fields of {kind.__name__} are {type(given).__name__}. Pass {kind.__name__}(...),"
            f" or a dict with some of its fields: {_field_names(kind)}."
        )
    # of a subclass, only the fields of the class itself
    base: type[Any] = kind if isinstance(given, kind) else type(given)
    values = (
        given
        if isinstance(given, Mapping)
        else {field.name: getattr(given, field.name) for field in fields(base)}
    )
    try:
        found: T = _adapter(kind).validate_python(values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise InvalidInput(
            " ".join(_describe(one, kind, called) for one in error.errors())
        ) from error
    return found


def zone(name: str) -> ZoneInfo:
    """The time zone of a name such as "Europe/Lisbon".

    Raises:
        InvalidInput: If it is unknown.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"timezone is {name!r}."
            " Use a name of the time zone database (--timezone), such as Europe/Lisbon."
        ) from error


def schema(kind: type[Any]) -> dict[str, Any]:
    """The JSON schema of a request."""
    return _adapter(kind).json_schema()  # type: ignore[arg-type]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a class
    return TypeAdapter(kind)


def _describe(error: ErrorDetails, kind: type[Any], called: Callable[[str], str]) -> str:
    if error["type"] == "value_error":  # raised by a check of this package, whose message is whole
        return str(error["ctx"]["error"])
    name = called(".".join(str(part) for part in error["loc"])) or kind.__name__
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{name} is unknown. Known fields: {_field_names(kind)}."
    value = repr(error["input"])
    fix = "Pass a list" if error["type"] == "tuple_type" else error["msg"]
    return f"{name} is {value if len(value) <= 60 else value[:57] + '...'}. {fix}."


def _field_names(kind: type[Any]) -> str:
    return ", ".join(field.name for field in fields(kind))
