"""What a package index and pipecat's list of integrations show of a release."""

import re
import tomllib
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from packaging.version import Version

from hotmem import __version__
from tests.packaging.source import ROOT

README: Final = (ROOT / "README.md").read_text("utf-8")
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def tokens() -> list[Token]:
    """The README as CommonMark with tables, which package indexes render."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse(README):
        found += [token, *(token.children or ())]
    return found


def test_the_long_description_renders() -> None:
    """No HTML, which an index removes; tables are tables; code has a language that is known."""
    kinds = [token.type for token in tokens()]
    assert not {"html_block", "html_inline"} & set(kinds)
    assert kinds.count("table_open") == len(re.findall(r"^\|(?:-+\|)+$", README, re.MULTILINE)) > 0
    languages = {token.info for token in tokens() if token.type == "fence"}
    assert languages == {"bash", "diff"}


def test_links_and_pictures_of_the_long_description_are_absolute() -> None:
    targets = [
        str(token.attrs.get("href") or token.attrs.get("src"))
        for token in tokens()
        if token.type in ("link_open", "image")
    ]
    assert targets and [target for target in targets if not target.startswith("https://")] == []


def test_the_summary_is_one_line() -> None:
    assert "\n" not in PROJECT["description"] and len(PROJECT["description"]) <= 512


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## (\S+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$", changelog, re.MULTILINE)
    assert len(released) == len(re.findall("^## ", changelog, re.MULTILINE))
    assert released[0] == __version__
    assert sorted(released, key=Version, reverse=True) == released


def test_the_readme_says_what_pipecat_asks_of_integrations() -> None:
    """Installation, use in a pipeline, how to run the example, tested version of pipecat."""
    for words in (
        "pip install",
        "pipeline = Pipeline(",
        "## Run the example",
        "python examples/browser_bot.py",
        "Tested with pipecat ",
        "BSD-2",
    ):
        assert words in README
