"""The hand-written batches of turns, and of pairs of a known statement and a later turn."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "data" / "understanding"

TRAINING: Final = ("a", "c", "d", "e", "g", "h", "j", "m", "n", "o", "p", "z", "gg")
CALIBRATION: Final = ("l",)
HELD_OUT: Final = ("b", "f", "i", "k")
"""Batches, each by a writer of its own, by what they are used for. From `m` on people talk at work,
of what is not family; `q`, `r` and some later ones are held out too, and measured when named."""

QUOTED: Final = "none-quote"
"""Label of turns that are not meant: dictated, quoted, played, dreamt, a joke."""

PAIRS_ALONE: Final = ("aa", "bb", "cc", "dd", "ee", "ff", "s", "t", "u", "v", "w", "x", "y")
"""Batches without turns; in `x` and `y` the statements are plans, in `aa` to `ff` what is said is
short and plain. `cc`, `ff`, `w` and `x` are held out."""

TURNS_ALONE: Final = ("gg", "hh", "z")
"""Batches without pairs; in `gg` and `hh` what is said is short and plain. `hh` is held out."""

TRAINING_PAIRS: Final = (
    *(one for one in TRAINING if one not in TURNS_ALONE),
    *("aa", "bb", "dd", "ee", "s", "t", "u", "v", "y"),
)
"""Batches whose pairs are trained on."""

KIND_OF: Final = {"habit": "fact", "correction": "fact"}
"""Kinds that are told apart in the data alone."""

DOUBT_OF: Final = {"denied": "sure"}
"""Certainties likewise."""

RELATION_OF: Final = {
    "allergy": "allergy",
    "condition": "condition",
    "medicine": "medicine",
    "diet": "diet",
    "partner": "partner",
    "relative": "relative",
    "pet": "pet",
    "lives-in": "lives-in",
    "works-as": "works",
    "works-at": "works",
    "studies": "studies",
    "origin": "origin",
    "born": "born",
    "age": "born",
}
"""The relations of the data from `m` on that are told apart; the others are "other"."""

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
    for batch in (one for one in batches if one not in PAIRS_ALONE):
        rows = _rows(folder / batch / "utterances.tsv")
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


def relations(batches: Iterable[str], folder: Path = FOLDER) -> list[tuple[str, str]]:
    """Return the labelled statements of some batches, each with what it tells of a life.

    Batches from `m` on have relations of their own, more than are told apart; the facts,
    preferences and relationships of earlier ones are labelled in `relations.tsv`, and known
    statements of pairs.
    """
    labels = {(batch, text): relation for batch, text, relation in _rows(folder / "relations.tsv")}
    batches = list(batches)
    found = [
        (text, relation)
        for (batch, text), relation in labels.items()
        if batch in batches and batch in PAIRS_ALONE
    ]
    for batch in (one for one in batches if one not in PAIRS_ALONE):
        for *_, words, statement, _, _, _, relation in (
            (*row, "")[:10] for row in _rows(folder / batch / "utterances.tsv")
        ):
            own = RELATION_OF.get(relation, "other") if relation else ""
            told = own or labels.get((batch, statement))
            if words != "-" and told:
                found.append((statement, told))
    return found


def pairs(batches: Iterable[str], folder: Path = FOLDER) -> list[LabelledPair]:
    """Return the pairs of some batches."""
    return [
        pair
        for batch in batches
        if batch not in TURNS_ALONE
        for pair in _pairs(folder / batch / "pairs.tsv")
    ]


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
        for effect, known, _, new, style, result, *told in _rows(file)
    ]


def _rows(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text("utf-8").splitlines()]


def _given(field: str) -> str:
    return "" if field == "-" else field
