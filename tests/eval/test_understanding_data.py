"""The hand-written data on what is worth remembering has the format that its README states."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from eval.language.commands import NAMES, NONE
from hotmem.models.reader import DOUBTS, EFFECTS, KINDS

DATA: Final = Path(__file__).parents[2] / "eval" / "data" / "understanding"
LANGUAGES: Final = ("languages/de", "languages/es", "languages/fr")
BATCHES: Final = tuple("abcdefghijklmnopqr")
TURNS: Final = (*BATCHES, "z", "gg", "hh")
PAIRS: Final = (*BATCHES, *"stuvwxy", "aa", "bb", "cc", "dd", "ee", "ff")
STYLES: Final = {"clean", "recognised", "disfluent"}
KEPT: Final = {*KINDS, "habit", "correction"}
NOTHING: Final = {
    *("none-chat", "none-question", "none-command", "none-hypothetical", "none-quote"),
    *("none-fragment", "none-passing", "none-bot"),
}
CERTAINTIES: Final = {*DOUBTS, "denied"}


def lines(file: Path) -> Iterator[list[str]]:
    for line in file.read_text("utf-8").splitlines():
        yield line.split("\t")


@pytest.mark.parametrize("name", [*(f"{one}/utterances" for one in TURNS), *LANGUAGES])
def test_utterances(name: str) -> None:
    for style, before, text, keep, part, statement, about, doubt, when, *relation in lines(
        DATA / f"{name}.tsv"
    ):
        assert style in STYLES
        assert keep in KEPT | NOTHING
        assert before and text and about and when
        if keep in KEPT:
            assert part in text
            assert statement != "-"
            assert doubt in CERTAINTIES
            assert relation in ([], ["-"]) or relation[0].replace("-", "").isalpha()
        else:
            assert part == statement == "-"


@pytest.mark.parametrize("batch", PAIRS)
def test_pairs(batch: str) -> None:
    found = [tuple(fields) for fields in lines(DATA / batch / "pairs.tsv")]
    assert len(set(found)) == len(found)
    for label, known, days, new, style, result, *how in found:
        assert how in ([], ["plain"], ["consequence"])
        assert label in EFFECTS
        assert known and new and int(days) >= 0
        assert style in STYLES
        assert (result == "-") == (label == "unrelated")


def test_commands() -> None:
    files = sorted((DATA / "commands").glob("*.tsv"))
    assert [file.stem for file in files] == ["a", "aa", *"bcdefghijklmnopqrstuvwxyz"]
    for file in files:
        for style, _, meant in lines(file):
            assert style in STYLES and meant.partition(" ")[0] in {NONE, *NAMES}


@pytest.mark.parametrize(
    ("name", "fields"), [("commands", 3), ("names", 6), ("changes", 5), ("kinds", 5)]
)
def test_unseen_cases(name: str, fields: int) -> None:
    assert {len(line) for line in lines(DATA / "unseen" / f"{name}.tsv")} == {fields}


@pytest.mark.parametrize(("name", "fields"), [("changes", 5), ("kinds", 5), ("bad", 4)])
def test_cases_written_afterwards(name: str, fields: int) -> None:
    assert {len(line) for line in lines(DATA / "afterwards" / f"{name}.tsv")} == {fields}
