"""Which tests `make test-fast` leaves out: those that took a tenth of a second or more.

`python -m tests.slow test-results/tests.xml` writes the list anew from what a run has measured, and
keeps what it says of tests that did not run.
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

LIST: Final = Path(__file__).with_name("slow.txt")

SLOW_S: Final = 0.1
"""Seconds that all cases of a test take together."""


def slow_tests() -> frozenset[str]:
    """Files and names of slow tests, as pytest writes them, without their parameters."""
    return frozenset(LIST.read_text("utf-8").split())


def measured(report: Path) -> dict[str, float]:
    """Seconds that each test of a JUnit report took with all its cases."""
    took: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.attrib["name"].partition("[")[0]
        file = case.attrib["classname"].replace(".", "/")
        took[f"{file}.py::{name}"] += float(case.attrib["time"])
    return took


def main(report: Path) -> None:
    """Write the list."""
    took = measured(report)
    kept = slow_tests() - took.keys() if LIST.exists() else frozenset()
    slow = kept | {name for name, seconds in took.items() if seconds >= SLOW_S}
    LIST.write_text("".join(f"{name}\n" for name in sorted(slow)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
