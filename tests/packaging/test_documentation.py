"""The documentation names files, links, commands and variables that exist."""

import re
from pathlib import Path
from typing import Final

import pytest
import typer

from eval.__main__ import app as evaluation
from hotmem.cli.app import app as command_line
from hotmem.settings import Settings
from tests.packaging.source import ROOT

DOCUMENTS: Final = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "eval/RESULTS.md")),
        *(ROOT / "docs").rglob("*.md"),
    ]
)

LINK: Final = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH: Final = re.compile(r"`((?:hotmem|tests|eval|docs|pipelines|deploy)/[\w/.-]+)`")
VARIABLE: Final = re.compile(r"HOTMEM_([A-Z_]+[A-Z])")

READ_ELSEWHERE: Final = {"LLM_BASE_URL", "LLM_MODEL", "MCP_TOKEN"}
"""Variables of the bots in `pipelines` and of the MCP server."""


@pytest.fixture(params=DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def document(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


def commands(app: typer.Typer) -> set[str]:
    """Every command of an application, with its group before it."""
    found = set()

    def walk(command: object, before: str) -> None:
        found.add(before)
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{before} {name}".strip())

    walk(typer.main.get_command(app), "")
    return found


def test_links_lead_to_files(document: Path) -> None:
    targets = [
        target
        for target in LINK.findall(document.read_text("utf-8"))
        if not target.startswith(("http:", "https:"))
    ]
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_paths_exist(document: Path) -> None:
    paths = PATH.findall(document.read_text("utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_variables_are_settings(document: Path) -> None:
    named = set(VARIABLE.findall(document.read_text("utf-8")))
    known = {name.upper() for name in Settings.model_fields} | READ_ELSEWHERE
    assert named - known == set()


def test_make_targets_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = re.findall(
        r"`make ([a-z-]+)`|^make ([a-z-]+)", document.read_text("utf-8"), re.MULTILINE
    )
    assert {first or second for first, second in named} <= targets


@pytest.mark.parametrize(
    ("program", "app"), [("hotmem", command_line), ("python -m eval", evaluation)]
)
def test_commands_exist(document: Path, program: str, app: typer.Typer) -> None:
    known = commands(app)
    groups = {name.partition(" ")[0] for name in known if " " in name}
    named = re.findall(
        rf"(?:`|^ *){program} ([a-z][a-z|-]*)(?: ([a-z][a-z|-]*))?",
        document.read_text("utf-8"),
        re.MULTILINE,
    )
    spelt = {
        f"{first} {second}" if first in groups and second else first
        for firsts, seconds in named
        for first in firsts.split("|")
        for second in seconds.split("|")
    }
    assert spelt - known == set()
