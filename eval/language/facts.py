"""Facts against what a listener noted.

Multi-Session Chat, whose annotators wrote down what each utterance told of its speaker.

A fact and a sentence of the note of the same utterance match if the cosine of their embeddings is
at least `ALIKE`, the fact retold in the first person. Recall counts sentences of notes that have a
matching fact; precision counts facts that have a matching sentence, where there is a note. Facts of
utterances that were not worth a note are counted apart.

`ALIKE` is where the rule agrees best with 200 pairs judged by hand. `verdicts.tsv` holds each
pair's place, a checksum of the fact, and whether the fact tells what the sentence notes, or part of
it. Notes often say what an utterance only implies, so no threshold agrees with much more.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.datasets.base import found, lines
from eval.statistics import Estimate, estimated
from hotmem.models import Encoder, Language, Vectors, load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.types import Role
from hotmem.understanding.facts import extract_facts

ALIKE: Final = 0.5

SAID_AT: Final = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)
"""The data has no dates."""

AT_ONCE: Final = 64
"""Utterances parsed at once."""

VERDICTS: Final = Path(__file__).with_name("verdicts.tsv")

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance and what was noted of it.

    Attributes:
        place: File, line and turn, from 0, as "session_1:0:3".
        text: What was said.
        notes: The sentences of the note; none where it was not worth one.
    """

    place: str
    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """One utterance: the best cosine of each sentence noted, and of each fact.

    Attributes:
        noted: One for each sentence; 0 without facts.
        told: One for each fact; 0 without notes.
    """

    noted: tuple[float, ...]
    told: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured.

    Attributes:
        recall: Of sentences noted; the interval is over utterances.
        noted: Sentences noted.
        precision: Of facts, where there is a note.
        told: Facts, where there is a note.
        beside: Facts of utterances without a note.
        unnoted: Utterances without a note.
        agreement: Share of the pairs judged by hand, of those that are still read so, that the rule
            decides alike.
        judged: Such pairs.
    """

    recall: Estimate
    noted: int
    precision: Estimate
    told: int
    beside: int
    unnoted: int
    agreement: float
    judged: int


def load(path: Path) -> Iterator[Utterance]:
    """The utterances of the publisher's JSON Lines files."""
    for file in found(path, "session_*.jsonl"):
        for number, line in enumerate(filter(None, lines(file))):
            for turn, said in enumerate(json.loads(line)["dialog"]):
                notes = tuple(
                    note
                    for note in _SENTENCE_END.split((said.get("persona_text") or "").strip())
                    if note
                )
                yield Utterance(f"{file.stem}:{number}:{turn}", said["text"].strip(), notes)


def told(
    utterances: Sequence[Utterance], language: Language, console: Console
) -> list[tuple[str, ...]]:
    """The facts of each utterance, in the first person."""
    facts: list[tuple[str, ...]] = []
    for start in track(range(0, len(utterances), AT_ONCE), "reading", console=console):
        docs = language.parse([one.text for one in utterances[start : start + AT_ONCE]])
        understood = [
            extract_facts(doc, lambda text: language.parse([text])[0], None, Role.USER, SAID_AT)
            for doc in docs
        ]
        facts += [tuple(_first_person(fact.text) for fact in one.statements) for one in understood]
    return facts


def _first_person(text: str) -> str:
    return re.sub(r"\b[Tt]he user\b", "I", re.sub(r"\b[Tt]he user's", "my", text))


def matched(
    utterances: Sequence[Utterance], facts: Sequence[Sequence[str]], encoder: Encoder
) -> list[Matched]:
    """The best cosines within each utterance."""
    texts = sorted(
        {text for one, said in zip(utterances, facts, strict=True) for text in (*one.notes, *said)}
    )
    row = {text: place for place, text in enumerate(texts)}
    vectors = encoder.encode(texts)
    return [
        _matched(vectors[[row[note] for note in one.notes]], vectors[[row[fact] for fact in said]])
        for one, said in zip(utterances, facts, strict=True)
    ]


def _matched(notes: Vectors, facts: Vectors) -> Matched:
    cosines = notes @ facts.T
    if not cosines.size:
        return Matched((0.0,) * len(notes), (0.0,) * len(facts))
    return Matched(tuple(cosines.max(axis=1).tolist()), tuple(cosines.max(axis=0).tolist()))


def checksum(fact: str) -> str:
    """What `verdicts.tsv` knows a fact by."""
    return hashlib.sha256(fact.encode()).hexdigest()[:12]


def agreement(
    utterances: Sequence[Utterance], facts: Sequence[Sequence[str]], encoder: Encoder
) -> tuple[float, int]:
    """How often the rule and the verdicts agree, and on how many pairs that are still read as they were judged."""
    read = {
        (one.place, number, checksum(fact)): (note, fact)
        for one, said in zip(utterances, facts, strict=True)
        for number, note in enumerate(one.notes)
        for fact in said
    }
    judged = [
        (row[0], int(row[1]), row[2], row[3] == "yes")
        for row in (line.split("\t") for line in lines(VERDICTS)[1:] if line)
    ]
    pairs = [
        (*read[place, number, fact], verdict)
        for place, number, fact, verdict in judged
        if (place, number, fact) in read
    ]
    if not pairs:
        return 0.0, 0
    cosines = np.vecdot(
        encoder.encode([note for note, _, _ in pairs]),
        encoder.encode([fact for _, fact, _ in pairs]),
    )
    return float(
        np.mean((cosines >= ALIKE) == np.array([verdict for _, _, verdict in pairs]))
    ), len(pairs)


def measure(utterances: Sequence[Utterance], console: Console) -> Facts:
    """Reads all utterances and compares what was read with what was noted."""
    encoder = load_encoder(ModelOptions())
    facts = told(utterances, load_language(), console)
    both = [
        one
        for one, utterance in zip(matched(utterances, facts, encoder), utterances, strict=True)
        if utterance.notes
    ]
    agreed, judged = agreement(utterances, facts, encoder)
    beside = [
        said for said, utterance in zip(facts, utterances, strict=True) if not utterance.notes
    ]
    noted, read = [one.noted for one in both], [one.told for one in both]
    return Facts(
        _alike(noted),
        sum(map(len, noted)),
        _alike(read),
        sum(map(len, read)),
        sum(map(len, beside)),
        len(beside),
        agreed,
        judged,
    )


def _alike(cosines: Sequence[Sequence[float]]) -> Estimate:
    """The share that match, resampled by utterance."""
    return estimated(
        [sum(cosine >= ALIKE for cosine in one) for one in cosines], [len(one) for one in cosines]
    )


def show(facts: Facts, console: Console) -> None:
    """A table of the figures."""
    table = Table(
        "",
        "share",
        "95 % interval",
        "of",
        title="facts against what a listener noted",
        title_justify="left",
    )
    for name, rate, of in (
        ("precision", facts.precision, facts.told),
        ("recall", facts.recall, facts.noted),
    ):
        table.add_row(name, f"{rate.mean:.3f}", f"{rate.low:.3f} to {rate.high:.3f}", f"{of:,}")
    console.print(table)
    console.print(f"{facts.beside:,} facts of {facts.unnoted:,} utterances without a note")
    console.print(f"the rule agrees with {facts.agreement:.0%} of {facts.judged} verdicts")


def facts(
    path: Annotated[
        Path,
        typer.Argument(
            help="A file of Multi-Session Chat, or the folder of its sessions.", exists=True
        ),
    ],
    limit: Annotated[int | None, typer.Option(help="Utterances at most.", min=1)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Counts facts read from utterances that a listener noted too, and notes that were read."""
    utterances = list(load(path))[:limit]
    if not any(one.notes for one in utterances):
        raise typer.BadParameter("it holds no notes", param_hint="PATH")
    result = measure(utterances, Console(stderr=True))
    show(result, Console())
    if as_json:
        print(json.dumps(figures(result)))


def figures(facts: Facts) -> Mapping[str, Any]:
    """The figures as plain values."""
    return asdict(facts)
