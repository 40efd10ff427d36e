"""Precision and recall of extracted facts against the notes of human annotators.

On Multi-Session Chat, whose annotators noted what each utterance says of its speaker.

A fact and a sentence of a note of the same utterance match if the cosine of their embeddings is at
least `MATCH_COSINE`, the fact put into the first person. Recall counts sentences of notes with a
matching fact; precision counts facts with a matching sentence, where there is a note. Facts of
utterances without a note are counted separately.

`MATCH_COSINE` is where the rule agreed best with 200 pairs judged by hand. Notes often say what an
utterance only implies, so no threshold agrees much better.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson
from eval.datasets.base import find_files, read_lines
from eval.output import print_figures, print_json, tracked
from eval.statistics import Estimate, bootstrap
from hotmem.core.threads import ForegroundPriority
from hotmem.models import Encoder, Vectors, load_encoder, load_language, load_reader
from hotmem.options import ModelOptions
from hotmem.types import Profile, Role, Turn, TurnContext
from hotmem.understanding.turn_reader import TurnReader

MATCH_COSINE: Final = 0.5

SAID_AT: Final = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)
"""When every utterance is said; the data has no dates."""

BATCH: Final = 64
"""Utterances parsed together."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Utterance:
    """An utterance and its note.

    Attributes:
        text: The words.
        notes: The sentences of the note; empty if the utterance has none.
        before: What the other had said before it; "" at the beginning.
    """

    text: str
    notes: tuple[str, ...]
    before: str = ""


@dataclass(frozen=True, slots=True)
class BestCosines:
    """The best cosine of each note and of each fact of one utterance.

    Attributes:
        notes: One for each sentence; 0 without facts.
        facts: One for each fact; 0 without notes.
    """

    notes: tuple[float, ...]
    facts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The measurement.

    Attributes:
        recall: Recall; the interval is over utterances.
        notes: Sentences of notes.
        precision: Precision, where there is a note.
        facts: Facts, where there is a note.
        facts_without_note: Facts of utterances without a note.
        utterances_without_note: Utterances without a note.
    """

    recall: Estimate
    notes: int
    precision: Estimate
    facts: int
    facts_without_note: int
    utterances_without_note: int


def load(path: Path) -> Iterator[Utterance]:
    """Yield the utterances of the published JSON Lines files."""
    for file in find_files(path, "session_*.jsonl"):
        for line in filter(None, read_lines(file)):
            before = ""
            for said in json.loads(line)["dialog"]:
                notes = tuple(
                    note
                    for note in _SENTENCE_END.split((said.get("persona_text") or "").strip())
                    if note
                )
                text = said["text"].strip()
                yield Utterance(text, notes, before)
                before = text


def extract(utterances: Sequence[Utterance], reader: TurnReader) -> list[tuple[str, ...]]:
    """Return the facts of each utterance, in the first person."""
    facts: list[tuple[str, ...]] = []
    for start in tracked(range(0, len(utterances), BATCH), "extracting"):
        batch = utterances[start : start + BATCH]
        turns = [Turn("speaker", "session", Role.USER, one.text or ".", SAID_AT) for one in batch]
        contexts = [TurnContext(question=one.before) for one in batch]
        read = reader.read(turns, [Profile()] * len(batch), [None] * len(batch), contexts)
        facts += [tuple(_first_person(fact.text) for fact in one.statements) for one in read]
    return facts


def _first_person(text: str) -> str:
    return re.sub(r"\b[Tt]he user\b", "I", re.sub(r"\b[Tt]he user's", "my", text))


def best_cosines(
    utterances: Sequence[Utterance], facts: Sequence[Sequence[str]], encoder: Encoder
) -> list[BestCosines]:
    """Return the best cosines within each utterance."""
    texts = sorted(
        {text for one, said in zip(utterances, facts, strict=True) for text in (*one.notes, *said)}
    )
    row = {text: place for place, text in enumerate(texts)}
    vectors = encoder.encode(texts)
    return [
        _best_cosines(
            vectors[[row[note] for note in one.notes]], vectors[[row[fact] for fact in said]]
        )
        for one, said in zip(utterances, facts, strict=True)
    ]


def _best_cosines(notes: Vectors, facts: Vectors) -> BestCosines:
    cosines = notes @ facts.T
    if not cosines.size:
        return BestCosines((0.0,) * len(notes), (0.0,) * len(facts))
    return BestCosines(tuple(cosines.max(axis=1).tolist()), tuple(cosines.max(axis=0).tolist()))


def measure(utterances: Sequence[Utterance], *, learnt: bool = True) -> Result:
    """Extract facts from all utterances and compare them with the notes.

    Args:
        utterances: The utterances.
        learnt: Whether the reader adds what no relation fits.
    """
    encoder = load_encoder(ModelOptions())
    model = load_reader() if learnt else None
    reader = TurnReader(encoder, load_language(), ForegroundPriority(), model)
    facts = extract(utterances, reader)
    both = [
        one
        for one, utterance in zip(best_cosines(utterances, facts, encoder), utterances, strict=True)
        if utterance.notes
    ]
    without_note = [
        said for said, utterance in zip(facts, utterances, strict=True) if not utterance.notes
    ]
    noted, read = [one.notes for one in both], [one.facts for one in both]
    return Result(
        _matching(noted),
        sum(map(len, noted)),
        _matching(read),
        sum(map(len, read)),
        sum(map(len, without_note)),
        len(without_note),
    )


def _matching(cosines: Sequence[Sequence[float]]) -> Estimate:
    """The share that matches, resampled by utterance."""
    return bootstrap(
        [sum(cosine >= MATCH_COSINE for cosine in one) for one in cosines],
        [len(one) for one in cosines],
    )


def facts(
    path: Annotated[
        Path,
        typer.Argument(
            help="A file of Multi-Session Chat, or the folder of its sessions.", exists=True
        ),
    ],
    limit: Annotated[int | None, typer.Option(help="Maximum number of utterances.", min=1)] = None,
    rules_alone: Annotated[
        bool, typer.Option("--rules-alone", help="Without the reader's sentences.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure precision and recall of extracted facts against notes of human annotators."""
    utterances = list(load(path))[:limit]
    if not any(one.notes for one in utterances):
        raise typer.BadParameter("contains no notes", param_hint="PATH")
    result = measure(utterances, learnt=not rules_alone)
    print_figures("facts against notes of annotators", asdict(result))
    print_json(result, as_json)
