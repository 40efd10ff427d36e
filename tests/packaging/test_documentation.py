"""The documentation names files, links, commands and variables that exist.

`make docs` checks more: it builds the site without warnings and follows every link in it.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
import typer

from eval.__main__ import app as evaluation
from hotmem.cli.app import app as command_line
from hotmem.settings import VARIABLES
from tests.packaging.source import ROOT
from website.reference import PAGES

DOCUMENTS: Final = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "eval/RESULTS.md")),
        *(ROOT / "docs").rglob("*.md"),
    ]
)

LINK: Final = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
URLS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
PATH: Final = re.compile(r"`((?:hotmem|tests|eval|docs|pipelines|examples|deploy)/[\w/.-]+)`")
VARIABLE: Final = re.compile(r"HOTMEM_([A-Z_]+[A-Z])")


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


def anchors(path: Path) -> set[str]:
    """What links can lead to on a page: its headings, as Python-Markdown names them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", heading) for heading in words}


def test_links_lead_to_files_and_headings(document: Path) -> None:
    wrong = []
    for target, anchor in LINK.findall(document.read_text("utf-8")):
        if target.startswith(("http:", "https:")):
            continue
        path = document.parent / target if target else document
        if not path.exists() or (anchor and anchor not in anchors(path)):
            wrong.append(f"{target}#{anchor}")
    assert wrong == []


def test_links_of_the_readme_are_absolute_and_lead_somewhere() -> None:
    """The package index shows the README too, where a relative link leads nowhere."""
    wrong = []
    for target, _ in LINK.findall((ROOT / "README.md").read_text("utf-8")):
        if target.startswith(URLS["Documentation"]):
            page = target.removeprefix(URLS["Documentation"]).rstrip("/")
            made = {"changelog": "CHANGELOG.md", "measurements": "eval/RESULTS.md"}
            file = made.get(page, f"docs/{page}" if "." in page else f"docs/{page}.md")
        elif target.startswith(URLS["Repository"]):
            file = target.removeprefix(f"{URLS['Repository']}/blob/main/")
        else:
            assert target.startswith("https:"), target
            continue
        if not (ROOT / file).is_file():
            wrong.append(target)
    assert wrong == []


def test_the_site_and_the_package_name_the_same_addresses() -> None:
    site = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert f"site_url: {URLS['Documentation']}\n" in site
    assert f"repository: {URLS['Repository']} " in site


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    """If not, run `python -m website.reference`."""
    assert (ROOT / name).read_text("utf-8") == PAGES[name]()


def test_every_page_is_in_the_navigation() -> None:
    site = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert [page for page in sorted(pages) if f": {page}\n" not in site] == []


def test_paths_exist(document: Path) -> None:
    paths = PATH.findall(document.read_text("utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_variables_are_settings(document: Path) -> None:
    named = set(VARIABLE.findall(document.read_text("utf-8")))
    assert named - set(VARIABLES) == set()


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
