"""The hand-written batches of turns, and of pairs of a known statement and a later turn."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "data" / "understanding"

TRAINING: Final = ("a", "c", "d", "e", "g", "h", "j", "m", "n", "o", "p")
CALIBRATION: Final = ("l",)
HELD_OUT: Final = ("b", "f", "i", "k")
"""Batches, each by a writer of its own, by what they are used for. From `m` on people talk at work,
of what is not family; `q` and `r` are held out too, and measured when they are named."""

QUOTED: Final = "none-quote"
"""Label of turns that are not meant: dictated, quoted, played, dreamt, a joke."""

KIND_OF: Final = {"habit": "fact", "correction": "fact"}
"""Kinds that are told apart in the data alone."""

DOUBT_OF: Final = {"denied": "sure"}
"""Certainties likewise."""

HOLDS: Final = "holds"
"""Effect of natural pairs after which the statement still holds, whichever of the others it is."""

NOTHING: Final = "none-"
"""Prefix of the labels of turns that hold nothing to keep."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a turn that is worth remembering.

    Attributes:
        start: Its first character.
        stop: One past its last character.
        kind: One of `hotmem.models.reader.KINDS`.
        doubt: One of `hotmem.models.reader.DOUBTS`.
        statement: The same in the third person.
        when: The words that say when; "" for none.
    """

    start: int
    stop: int
    kind: str
    doubt: str
    statement: str
    when: str


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A turn with its parts.

    Attributes:
        clean: Whether it is as written, not as a recogniser gives it.
        before: What the bot had said before it; "" for nothing.
        text: The turn.
        parts: Its parts in the order of their words; none if nothing is worth remembering.
        reason: Why nothing is kept, such as "none-chat"; "" if something is.
    """

    clean: bool
    before: str
    text: str
    parts: tuple[Part, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A known statement and a later turn.

    Attributes:
        effect: One of `hotmem.models.reader.EFFECTS`, or `HOLDS`.
        known: The statement.
        new: The turn.
        clean: Whether the turn is as written.
        result: What is true afterwards, in the third person; "" if the turn leaves it alone.
        implied: Whether what changes only follows from the turn: "the new owners have the keys".
    """

    effect: str
    known: str
    new: str
    clean: bool
    result: str = ""
    implied: bool = False


def turns(batches: Iterable[str], folder: Path = FOLDER) -> list[LabelledTurn]:
    """Return the turns of some batches; lines of the same turn are one."""
    found: list[LabelledTurn] = []
    for batch in batches:
        rows = [
            line.split("\t")
            for line in (folder / batch / "utterances.tsv").read_text("utf-8").splitlines()
        ]
        for (style, before, text), lines in groupby(rows, key=lambda row: tuple(row[:3])):
            kept = [row[3:9] for row in lines]
            parts = sorted(
                (
                    Part(
                        text.index(words),
                        text.index(words) + len(words),
                        KIND_OF.get(kind, kind),
                        DOUBT_OF.get(doubt, doubt),
                        statement,
                        _given(when),
                    )
                    for kind, words, statement, _, doubt, when in kept
                    if not kind.startswith(NOTHING)
                ),
                key=lambda part: part.start,
            )
            reason = "" if parts else kept[0][0]
            found.append(LabelledTurn(style == "clean", _given(before), text, tuple(parts), reason))
    return found


def pairs(batches: Iterable[str], folder: Path = FOLDER) -> list[LabelledPair]:
    """Return the pairs of some batches."""
    return [pair for batch in batches for pair in _pairs(folder / batch / "pairs.tsv")]


def natural_pairs(part: str, folder: Path = FOLDER) -> list[LabelledPair]:
    """Return pairs from natural talks: what HotMem kept, and turns it compared with that.

    Args:
        part: "training", "calibration" or "held_out".
        folder: The data.
    """
    return _pairs(folder / "natural" / f"{part}.tsv")


def _pairs(file: Path) -> list[LabelledPair]:
    return [
        LabelledPair(effect, known, new, style == "clean", _given(result), told == ["consequence"])
        for line in file.read_text("utf-8").splitlines()
        for effect, known, _, new, style, result, *told in [line.split("\t")]
    ]


def _given(field: str) -> str:
    return "" if field == "-" else field
