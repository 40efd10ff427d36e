"""Numbers that are given from outside.

What they may be, and the one error for those that are something else.
"""

from dataclasses import field, fields
from datetime import date
from math import inf, isfinite
from typing import Any, Final, TypeVar

from hotmem.errors import InvalidInput

Number = TypeVar("Number", int, float)

_BOUNDS: Final = "bounds"


def checked_number(
    value: Number, name: str, least: Number, most: float = inf, *, whole: bool = False
) -> Number:
    """The number, unchanged.

    Args:
        value: The number.
        name: What an error calls it.
        least: The least it may be.
        most: The most it may be.
        whole: Whether it must be an integer.

    Raises:
        InvalidInput: If it is no number, is infinite, or lies out of its bounds.
    """
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if fits and isfinite(value) and least <= value <= most:
        return value
    raise InvalidInput(
        f"{name} is {value!r}. Pass a {'whole ' if whole else ''}number {_span(least, most)}."
    )


def check_order(first: date | None, last: date | None) -> None:
    """Checks that something can lie between two times, or days; None is open.

    Raises:
        InvalidInput: If the last one is before the first.
    """
    if first is not None and last is not None and last < first:
        raise InvalidInput(
            f"The time asked for begins (after) at {first.isoformat()} and ends (before) earlier, at {last.isoformat()}. Swap the two."
        )


def bounded(default: Any, least: float, most: float = inf, *, whole: bool = False) -> Any:  # noqa: ANN401 - as `dataclasses.field`
    """A field of a `Bounded` class, for a number within these bounds.

    One whose default is None may be None.
    """
    return field(default=default, metadata={_BOUNDS: (least, most, whole)})


class Bounded:
    """A dataclass whose numbers are checked when it is made.

    Raises:
        InvalidInput: If a number lies out of its bounds, naming the field.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]  # each class that inherits is a dataclass
            value, bounds = getattr(self, one.name), one.metadata.get(_BOUNDS)
            if bounds is not None and not (value is None and one.default is None):
                least, most, whole = bounds
                checked_number(value, one.name, least, most, whole=whole)


def _span(least: float, most: float) -> str:
    return f"of at least {least}" if most == inf else f"from {least} to {most}"
