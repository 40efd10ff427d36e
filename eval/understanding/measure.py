"""Figures of the reader on labelled turns and pairs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from eval.statistics import Estimate, bootstrap
from eval.understanding.data import (
    HOLDS,
    QUOTED,
    LabelledPair,
    LabelledTurn,
    Part,
)
from hotmem.models import Encoder, Language
from hotmem.models.reader import (
    OUTDATING,
    Effects,
    Reader,
    TurnPart,
    TurnReading,
)
from hotmem.revision.supersession import is_near
from hotmem.types.understanding import Doc
from hotmem.understanding.named_subjects import (
    confirmed_effects,
    is_absent,
    named_subjects,
    names_another,
    subject_of,
)

MOSTLY = 0.5
"""Share of the shorter part's characters that two parts share if they are the same."""


UNRELATED: Final = Effects(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

HOLDING: Final = ("unrelated", "same", "adds")
"""Effects after which the known statement still holds."""

STILL: Final = (*HOLDING, HOLDS)
"""Labels of pairs whose statement still holds."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A share with its interval.

    Attributes:
        name: What is measured.
        style: "clean" or "recognised".
        count: Number of cases.
        share: The share.
    """

    name: str
    style: str
    count: int
    share: Estimate


def read_all(reader: Reader, turns: Iterable[LabelledTurn]) -> list[TurnReading]:
    """Return the readings of some turns."""
    return [reader.read(turn.before, turn.text) for turn in turns]


def compare_all(
    reader: Reader, pairs: Sequence[LabelledPair], language: Language, encoder: Encoder
) -> list[Effects]:
    """Return the effects of some pairs; none on statements about others by name, or far ones."""
    known, new = [pair.known for pair in pairs], [pair.new for pair in pairs]
    parses = zip(language.parse(known), language.parse(new), strict=True)
    vectors = zip(encoder.encode(known), encoder.encode(new), strict=True)
    return [
        _effects(reader, pair, *parsed) if is_near(*near) else UNRELATED
        for pair, near, parsed in zip(pairs, vectors, parses, strict=True)
    ]


def _effects(reader: Reader, pair: LabelledPair, known: Doc, new: Doc) -> Effects:
    about = subject_of(known[:])
    subject = "the user" if about is None else about.text
    if names_another(subject, named_subjects(new), known.text) or is_absent(
        subject, None, known.text, new.text
    ):
        return UNRELATED
    return confirmed_effects(reader, pair.known, subject, pair.new, lambda: new)


def turn_figures(turns: Sequence[LabelledTurn], readings: Sequence[TurnReading]) -> list[Figure]:
    """Return how well parts worth remembering are found, by style."""
    found: list[Figure] = []
    for style, clean in (("clean", True), ("recognised", False)):
        rows = [
            (turn, reading)
            for turn, reading in zip(turns, readings, strict=True)
            if turn.clean is clean
        ]
        wanted = [
            any(_same(part, one) for one in reading.parts)
            for turn, reading in rows
            for part in turn.parts
        ]
        right = [
            any(_same(part, one) for part in turn.parts)
            for turn, reading in rows
            for one in reading.parts
        ]
        kinds = [
            part.kind == one.kind
            for turn, reading in rows
            for part in turn.parts
            for one in reading.parts
            if _same(part, one)
        ]
        doubts = [
            (part.doubt == "sure") == (one.doubt == "sure")
            for turn, reading in rows
            for part in turn.parts
            for one in reading.parts
            if _same(part, one)
        ]
        alone = [not reading.parts for turn, reading in rows if not turn.parts]
        unmeant = [not reading.parts for turn, reading in rows if turn.reason == QUOTED]
        for name, values in (
            ("parts found (recall)", wanted),
            ("parts right (precision)", right),
            ("turns without one left alone", alone),
            ("turns that are not meant left alone", unmeant),
            ("kind right", kinds),
            ("sure or not right", doubts),
        ):
            found.append(Figure(name, style, len(values), bootstrap(values)))
    return found


def pair_figures(
    pairs: Sequence[LabelledPair], effects: Sequence[Effects], outdated: float, doubted: float
) -> list[Figure]:
    """Return how well effects are found, by style.

    Args:
        pairs: The pairs.
        effects: Their effects.
        outdated: Probability from which a statement ends.
        doubted: Probability from which it is possibly outdated.
    """
    found: list[Figure] = []
    for style, clean in (("clean", True), ("recognised", False)):
        rows = [
            (pair, effect)
            for pair, effect in zip(pairs, effects, strict=True)
            if pair.clean is clean
        ]

        def share(
            name: str,
            chosen: Callable[[LabelledPair], bool],
            holds: Callable[[Effects], bool],
            rows: Sequence[tuple[LabelledPair, Effects]] = rows,
            style: str = style,
        ) -> None:
            values = [holds(effect) for pair, effect in rows if chosen(pair)]
            if values:
                found.append(Figure(name, style, len(values), bootstrap(values)))

        def ends(effect: Effects) -> bool:
            return effect.outdated >= outdated

        def marked(effect: Effects) -> bool:
            return effect.doubted >= doubted

        for label in OUTDATING:
            share(f"{label}: ended", partial(_has_effect, label), ends)
        share("any of them: ended", lambda pair: pair.effect in OUTDATING, ends)
        share("any of them: ended or marked", lambda pair: pair.effect in OUTDATING, marked)
        share(
            "only implied: ended or marked",
            lambda pair: pair.implied and pair.effect in OUTDATING,
            marked,
        )
        share("contradicts: marked", lambda pair: pair.effect == "contradicts", marked)
        share("still holds: falsely ended", lambda pair: pair.effect in STILL, ends)
        share("still holds: falsely marked", lambda pair: pair.effect in STILL, marked)
        right = [
            max(zip(effect, effect._fields, strict=True))[1] == pair.effect
            for pair, effect in rows
            if pair.effect != HOLDS
        ]
        if right:
            found.append(Figure("effect right of seven", style, len(right), bootstrap(right)))
    return found


def _has_effect(effect: str, pair: LabelledPair) -> bool:
    return pair.effect == effect


def _same(part: Part, one: TurnPart) -> bool:
    """Whether two parts share most of the shorter one's characters."""
    shared = min(part.stop, one.stop) - max(part.start, one.start)
    return shared >= MOSTLY * min(part.stop - part.start, one.stop - one.start) and shared > 0
