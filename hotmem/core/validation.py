"""Validation of types, numbers and dates that come from outside."""

from dataclasses import field, fields
from datetime import date
from math import inf, isfinite
from types import UnionType
from typing import Any, ClassVar, Final, TypeVar

from hotmem.errors import InvalidInput

Number = TypeVar("Number", int, float)

BOUNDS: Final = "bounds"
"""Key in the metadata of a `bounded` field: its minimum, its maximum, whether it is whole."""


def validate_type(value: object, kind: type | UnionType, name: str, fix: str) -> None:
    """Check that an argument has the right type.

    Args:
        value: The argument.
        kind: Its type, or a union of types.
        name: Name of the argument, for error messages.
        fix: What to pass, the second sentence of the error.

    Raises:
        InvalidInput: If it has another type.
    """
    if not isinstance(value, kind):
        kinds = kind.__args__ if isinstance(kind, UnionType) else (kind,)
        wanted = " or ".join(one.__name__ for one in kinds)
        raise InvalidInput(f"{name} is {type(value).__name__}, not {wanted}. {fix}")


def validate_number(
    value: Number, name: str, least: Number, most: float = inf, *, whole: bool = False
) -> Number:
    """Return the number unchanged.

    Args:
        value: The number.
        name: Name of the argument, for error messages.
        least: Minimum.
        most: Maximum.
        whole: Whether it must be an integer.

    Raises:
        InvalidInput: If it is not a number, not finite, or out of bounds.
    """
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if fits and isfinite(value) and least <= value <= most:
        return value
    raise InvalidInput(
        f"{name} is {value!r}. Pass a {'whole ' if whole else ''}number {_span(least, most)}."
    )


def validate_order(first: date | None, last: date | None) -> None:
    """Check that a range of times or days is not empty; None is an open end.

    Raises:
        InvalidInput: If `last` is before `first`.
    """
    if first is not None and last is not None and last < first:
        raise InvalidInput(
            f"The time range begins (after) at {first.isoformat()} and ends (before) earlier, "
            f"at {last.isoformat()}. Swap the two."
        )


def bounded(default: Any, least: float, most: float = inf, *, whole: bool = False) -> Any:  # noqa: ANN401 - as `dataclasses.field`
    """Declare a field of a `Bounded` class: a number within these bounds.

    A field whose default is None accepts None.
    """
    return field(default=default, metadata={BOUNDS: (least, most, whole)})


class Bounded:
    """Base of dataclasses whose `bounded` fields are validated on construction.

    Raises:
        InvalidInput: If a number is out of its bounds; the message names the field.
    """

    __slots__ = ()

    # A misspelt name in a file or variable would otherwise have no effect, such as the user_id of a
    # retention rule, which would then apply to all users.
    __pydantic_config__: ClassVar = {"extra": "forbid"}

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value, bounds = getattr(self, one.name), one.metadata.get(BOUNDS)
            if bounds is not None and not (value is None and one.default is None):
                least, most, whole = bounds
                validate_number(value, one.name, least, most, whole=whole)


def _span(least: float, most: float) -> str:
    return f"of at least {least}" if most == inf else f"from {least} to {most}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: "1 turn", "1,200 memories".

    Args:
        count: How many.
        singular: Noun for one, with any words that follow it.
        plural: Noun for any other number; None adds an s to the singular.
    """
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"
