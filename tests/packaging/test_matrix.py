"""What is said of tested versions agrees with what `make matrix` runs."""

import re
import tomllib
from collections.abc import Iterable
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.packaging.source import ROOT

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def rows() -> list[str]:
    """The rows of `make matrix`, such as `3.11-lowest`."""
    found = re.search(r"^ROWS := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert found
    return found[1].split()


def table() -> dict[str, dict[str, str]]:
    """The table of tested versions in `CONTRIBUTING.md`: cells by row and column."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    found = re.search(
        r"^(\| Python \| dependencies .+)\n\|[-|]+\n((?:\|.+\n)+)", text, re.MULTILINE
    )
    assert found
    head, *lines = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (found[1], *found[2].splitlines())
    )
    cells = [dict(zip(head, line, strict=True)) for line in lines]
    return {f"{minor(row['Python'])}-{row['dependencies']}": row for row in cells}


def minor(version: str) -> str:
    """The first two parts of a version."""
    return ".".join(version.split(".")[:2])


def passed() -> dict[str, dict[str, str]]:
    """The rows of the table in which every test passed."""
    return {name: row for name, row in table().items() if " passed" in row["fast tests"]}


def enumerated(versions: Iterable[str]) -> str:
    """Versions in words: 3.11, 3.12 and 3.13."""
    *others, last = sorted(set(versions), key=Version)
    return f"{', '.join(others)} and {last}" if others else last


def test_the_table_has_the_rows_of_the_makefile() -> None:
    assert list(table()) == rows()
    other = {row["fast tests"] for name, row in table().items() if name not in passed()}
    assert other <= {"not run"}


def test_the_classifiers_name_the_versions_of_python_that_passed() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == sorted({name.partition("-")[0] for name in passed()}, key=Version)


@pytest.mark.parametrize("package", ["pipecat-ai", "numpy", "onnxruntime", "spacy", "pydantic"])
def test_the_lower_bounds_are_the_versions_that_passed(package: str) -> None:
    requirements = map(
        Requirement, [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pipecat"]]
    )
    (bound,) = (
        Version(part.version)
        for requirement in requirements
        if canonicalize_name(requirement.name) == package
        for part in requirement.specifier
        if part.operator == ">="
    )
    (lowest,) = (row for name, row in passed().items() if name.endswith("-lowest"))
    assert Version(lowest[package]) == bound


def test_the_readme_names_the_versions_that_passed() -> None:
    pipecat = enumerated(minor(row["pipecat-ai"]) for row in passed().values())
    python = enumerated(name.partition("-")[0] for name in passed())
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"Tested with pipecat {pipecat} on Python {python}." in readme
