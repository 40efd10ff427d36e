"""Tests whose cases are a table with a floor: how rules that read English are judged.

A rule that reads one wording better may read another worse. `scored` takes the place of
`pytest.mark.parametrize`: all cases are one test, which fails if a smaller share than the floor
holds. Cases that do not hold are listed at the end of every run. What must never go wrong has the
floor 1.0.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Final

import pytest

PROPERTY: Final = "scored"
"""The property of a test's report that lists what did not hold."""

FLOOR: Final = 0.95

Test = Callable[..., Any]
Record = Callable[[str, object], None]


def scored(
    names: str | Sequence[str], cases: Iterable[Any], *, floor: float = FLOOR
) -> Callable[[Test], Test]:
    """Make one test of all cases.

    Fixtures are shared by the cases. An error other than a failed assertion ends the test.

    Args:
        names: The parameters that a case fills, as for `pytest.mark.parametrize`.
        cases: A value for one name, a tuple of values for several.
        floor: The share of the cases that must hold, from 0 to 1.
    """
    filled = names.split(",") if isinstance(names, str) else list(names)
    rows = [dict(zip(filled, (c,) if len(filled) == 1 else c, strict=True)) for c in cases]

    def decorate(test: Test) -> Test:
        asked = inspect.signature(test)
        assert set(filled) <= set(asked.parameters), f"{test.__name__} takes no {filled}"
        others = [part for name, part in asked.parameters.items() if name not in filled]
        record = inspect.Parameter("record_property", inspect.Parameter.KEYWORD_ONLY)

        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def scoring(*, record_property: Record, **rest: Any) -> None:  # noqa: ANN401
                failed = [await _failure(test(**rest, **row), row) for row in rows]
                _judge(failed, floor, record_property)
        else:

            @wraps(test)
            def scoring(*, record_property: Record, **rest: Any) -> None:  # noqa: ANN401
                failed = [_failure_now(test, rest, row) for row in rows]
                _judge(failed, floor, record_property)

        keyword = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in others]
        scoring.__signature__ = asked.replace(parameters=[*keyword, record])  # type: ignore[attr-defined]
        return scoring

    return decorate


def _failure_now(test: Test, rest: dict[str, Any], row: dict[str, Any]) -> str | None:
    try:
        test(**rest, **row)
    except (AssertionError, pytest.fail.Exception) as error:
        return _told(row, error)
    return None


async def _failure(running: Awaitable[None], row: dict[str, Any]) -> str | None:
    try:
        await running
    except (AssertionError, pytest.fail.Exception) as error:
        return _told(row, error)
    return None


def _told(row: dict[str, Any], error: BaseException) -> str:
    first = str(error).partition("\n")[0][:200]
    return f"{', '.join(map(repr, row.values()))}: {first}"


def _judge(failures: list[str | None], floor: float, record: Record) -> None:
    failed = [failure for failure in failures if failure is not None]
    total = len(failures)
    score = f"{total - len(failed)} of {total} hold, at least {floor:.0%} must"
    if failed:
        listed = "\n  ".join([score, *failed])
        record(PROPERTY, listed)
        assert len(failed) <= (1 - floor) * total + 1e-9, listed
