"""Tables with a floor fail below it, and say what does not hold above it."""

import pytest

pytest_plugins = ["pytester"]

TABLES = """
import pytest
from tests.scored import scored

@pytest.fixture
def limit():
    return 9

@scored("number", range(10), floor=0.9)
def test_above(number, limit):
    assert number < limit

@scored(("number", "square"), [(1, 1), (2, 4), (3, 10)], floor=0.9)
def test_below(number, square):
    assert number * number == square

@scored("number", range(10), floor=0.9)
async def test_awaited(limit, number):
    assert number < limit

@scored("number", range(100))
def test_an_error_is_no_score(number):
    assert 1 / number
"""


def test_a_table_holds_from_its_floor_on(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TABLES)
    ran = pytester.runpytest_subprocess("-p", "tests.reporting", "-o", "asyncio_mode=auto")
    ran.assert_outcomes(passed=2, failed=2)
    failed = ["*2 of 3 hold, at least 90% must", "*3, 10: *", "*ZeroDivisionError*"]
    ran.stdout.fnmatch_lines([*failed, "*::test_above: 9 of 10 hold, at least 90% must", "*9: *"])
