"""Runs the fast tests with several versions of Python and of the dependencies.

Run by `make matrix` with the extras to install and the rows to run. A row such as `3.11-lowest`
names a version of Python and which versions of the dependencies to install. Prints the table of
`CONTRIBUTING.md`.
"""

import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

FOLDER: Final = Path(".matrix")
UV: Final = str(FOLDER / "uv" / "bin" / "uv")

INSTALLED: Final = {
    "pinned": ("--constraint", "constraints.txt"),
    "lowest": ("--resolution", "lowest-direct"),
    "newest": (),
}
"""Options of `uv pip install`. "lowest" installs the lowest versions that `pyproject.toml` allows,
and the newest versions of what they require in turn."""

WARNINGS: Final = {"lowest": ("-W", "default::DeprecationWarning")}
"""Options of pytest. Old packages call what newer packages deprecate; that fails no test."""

SHOWN: Final = ("pipecat-ai", "numpy", "onnxruntime", "spacy", "pydantic")
"""Packages whose versions the table shows."""

VERSIONS: Final = (
    "import platform, sys; from importlib.metadata import version; "
    "print(platform.python_version(), *map(version, sys.argv[1:]))"
)


@dataclass(frozen=True)
class Outcome:
    """What became of a row.

    Attributes:
        words: The result as the table shows it.
        failed: Whether a test failed or was skipped, or the tests could not be run. A version of
            Python that is not installed is no failure.
        versions: The exact versions of Python and of `SHOWN`; empty if no test was run.
    """

    words: str
    failed: bool
    versions: tuple[str, ...] = ()


def run(row: str, extras: str) -> Outcome:
    """Create the environment of a row and run the tests in it."""
    wanted, _, dependencies = row.partition("-")
    folder = FOLDER / row
    python = str(folder / "bin" / "python")
    find = [UV, "python", "find", "--system", wanted]
    found = subprocess.run(find, capture_output=True, text=True)
    if found.returncode:
        return Outcome("Python not installed", failed=False)
    create = [UV, "venv", "--quiet", "--clear", "--python", found.stdout.strip(), str(folder)]
    install = [UV, "pip", "install", "--quiet", "--python", python, *INSTALLED[dependencies]]
    install += ["--editable", f".[{extras}]"]
    if subprocess.run(create).returncode or subprocess.run(install).returncode:
        return Outcome("could not be installed", failed=True)
    versions = subprocess.check_output([python, "-c", VERSIONS, *SHOWN], text=True).split()
    words, passed = run_tests(folder, *WARNINGS.get(dependencies, ()))
    return Outcome(words, not passed, tuple(versions))


def run_tests(folder: Path, *options: str) -> tuple[str, bool]:
    """Run the tests, and those that fail a second time: some measure speed.

    Returns:
        The result in words, and whether all tests passed.
    """
    report = folder / "tests.xml"
    tests = [str(folder / "bin" / "python"), "-m", "pytest", "--quiet", "-m", "not slow", *options]
    tests += ["-o", f"cache_dir={folder / 'cache'}"]
    first = subprocess.run([*tests, f"--junitxml={report}"]).returncode
    if not report.exists():
        return "tests could not be run", False
    counts = next(ElementTree.parse(report).iter("testsuite")).attrib
    total, skipped = int(counts["tests"]), int(counts["skipped"])
    failed = int(counts["failures"]) + int(counts["errors"])
    if skipped or first not in (0, 1):
        return f"of {total:,}, {failed:,} failed and {skipped:,} were skipped", False
    if not failed:
        return f"{total:,} passed", True
    if subprocess.run([*tests, "--last-failed"]).returncode:
        return f"of {total:,}, {failed:,} failed, and some when run again", False
    return f"{total:,} passed, {failed:,} of them when run again", True


def main(extras: str, *rows: str) -> int:
    """Run the rows and print the table.

    Returns:
        1 if a row failed or none could be run, else 0.
    """
    outcomes = {}
    for row in rows:
        print(f"\n{row}", flush=True)
        outcomes[row] = run(row, extras)
    print(f"\nRun on {datetime.now(UTC):%Y-%m-%d}.\n")
    print("| Python | dependencies |", " | ".join(SHOWN), "| fast tests |")
    print("|---" * (len(SHOWN) + 3) + "|")
    for row, outcome in outcomes.items():
        wanted, _, dependencies = row.partition("-")
        python, *versions = outcome.versions or (wanted, *"–" * len(SHOWN))
        print(f"| {' | '.join((python, dependencies, *versions, outcome.words))} |")
    failed = any(outcome.failed for outcome in outcomes.values())
    return int(failed or not any(outcome.versions for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
