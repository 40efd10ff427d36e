"""`python -m eval searches`: searches over the stored notes of two people, by search_memory.

The notes of a person are stored with the kind, category and tags that the person gave, at the time
they were stored. A search is *right* if one of the first three results answers it, and *first* if
the first result does; *of three* is the share of the first three results that answer, of as many
as there are answers. The references rank the texts of the same notes: by the cosine of their
embeddings, and by BM25.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer

from eval.arguments import AsJson, Misses, Most
from eval.baselines import Baseline, Index, rank
from eval.files import tsv_records
from eval.memories import temporary_memory
from eval.output import print_json, print_table
from eval.statistics import bootstrap
from hotmem import Role, Turn
from hotmem.models import Encoder, Language, load_encoder, load_language
from hotmem.operations.requests import StoreContext
from hotmem.operations.store import store_statement
from hotmem.options import ModelOptions
from hotmem.types import Category, Kind

FOLDER: Final = Path(__file__).parents[1] / "data/trial"
ZONE: Final = ZoneInfo("Europe/London")
HOTMEM: Final = "search_memory"
REFERENCES: Final = {Baseline.MINILM: "cosine", Baseline.BM25: "BM25"}
DEPTH: Final = 3
"""Number of first results that count."""


@dataclass(frozen=True, slots=True)
class Note:
    """A stored note of the trial."""

    id: str
    at: datetime
    context: StoreContext
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """A search of the trial, and the notes that answer it."""

    half: str
    at: datetime
    query: str
    answers: frozenset[str]
    what: str


@dataclass(frozen=True, slots=True)
class Found:
    """The first results of a system for a search: ids and texts of notes."""

    search: Search
    notes: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether one of the first results answers."""
        return not self.search.answers.isdisjoint(self.notes)

    @property
    def first(self) -> bool:
        """Whether the first result answers."""
        return bool(self.notes) and self.notes[0] in self.search.answers

    @property
    def of_three(self) -> float:
        """Share of the first results that answer, of as many as there are answers, 0 to 1."""
        most = min(DEPTH, len(self.search.answers))
        return min(len(self.search.answers.intersection(self.notes)), most) / most


def searches(
    held: Annotated[bool, typer.Option(help="Measure the held-out half instead.")] = False,
    misses: Misses = False,
    metadata: Annotated[
        bool, typer.Option(help="Store the notes with the kind, category and tags given.")
    ] = True,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Search the stored notes of a person in natural language: kinds, tags, times, synonyms."""
    encoder, language = load_encoder(ModelOptions()), load_language()
    half = "held" if held else "dev"
    notes, asked = _notes(half, given=metadata), _searches(half)[:limit]
    found = {HOTMEM: asyncio.run(_search(notes, asked, encoder, language))}
    found |= _references(notes, asked, encoder)
    _show(found, half)
    for one in found[HOTMEM]:
        if misses and not held and (not one.first or one.of_three < 1):
            mark = "first" if one.first else "right" if one.right else "MISSED"
            lines = [
                f"{note in one.search.answers:d} {note} {text[:100]}"
                for note, text in zip(one.notes, one.texts, strict=True)
            ]
            print(f"{one.search.what}: {one.search.query} ({mark})")
            print("\n".join(f"    {line}" for line in lines))
    print_json({name: _figures(rows) for name, rows in found.items()} | {"half": half}, as_json)


def _rows(name: str, half: str) -> list[dict[str, str]]:
    """The rows of a table of the trial."""
    return [row for row in tsv_records(FOLDER / name) if row["half"] == half]


def _notes(half: str, *, given: bool) -> list[Note]:
    notes = []
    for row in _rows("notes.tsv", half):
        context = StoreContext(
            category=Category(row["category"]) if row["category"] else None,
            kind=Kind(row["kind"]) if row["kind"] in set(Kind) else None,
            tags=tuple(filter(None, row["tags"].split(","))),
        )
        at = datetime.fromisoformat(row["stored_at"]).replace(tzinfo=ZONE)
        notes.append(Note(row["id"], at, context if given else StoreContext(), row["text"]))
    return notes


def _searches(half: str) -> list[Search]:
    return [
        Search(
            half,
            datetime.fromisoformat(row["asked_at"]).replace(tzinfo=ZONE),
            row["query"],
            frozenset(row["ids"].split(",")),
            row["what"],
        )
        for row in _rows("searches.tsv", half)
    ]


async def _search(
    notes: Sequence[Note], asked: Sequence[Search], encoder: Encoder, language: Language
) -> list[Found]:
    """Store the notes in a new memory, and search it."""
    async with temporary_memory(encoder=encoder, language=language) as memory:
        runtime = memory.runtime
        ids: defaultdict[str, list[str]] = defaultdict(list)
        for note in notes:
            at = note.at.astimezone(UTC)
            stored = await runtime.storing.run(
                store_statement(
                    runtime.recall, runtime.write, "person", note.text, note.context, at
                )
            )
            ids[stored.id].append(note.id)
        await memory.settle()
        found = []
        for search in asked:
            done = await memory.search_memory(
                search.query, user_id="person", options={"limit": DEPTH}, at=search.at
            )
            # A note that confirmed an earlier one is found with it.
            answering = (_answering(ids[one.id], search.answers) for one in done.results)
            texts = tuple(one.content for one in done.results)
            found.append(Found(search, tuple(answering), texts))
        return found


def _answering(notes: Sequence[str], answers: frozenset[str]) -> str:
    """The note of a memory that answers, or else the first."""
    return next((note for note in notes if note in answers), notes[0])


def _references(
    notes: Sequence[Note], asked: Sequence[Search], encoder: Encoder
) -> dict[str, list[Found]]:
    turns = [Turn("person", "notes", Role.USER, note.text, note.at, id=note.id) for note in notes]
    index = Index(turns, encoder)
    found = {
        name: [
            Found(
                search, tuple(turns[row].id for row in best), tuple(turns[row].text for row in best)
            )
            for search in asked
            for best in [rank(index.scores(reference, search.query))[:DEPTH]]
        ]
        for reference, name in REFERENCES.items()
    }
    index.close()
    return found


def _figures(rows: Sequence[Found]) -> dict[str, Any]:
    """Shares of the searches of a system."""
    return {
        "searches": len(rows),
        "right": bootstrap([float(one.right) for one in rows]),
        "first": bootstrap([float(one.first) for one in rows]),
        "of_three": bootstrap([one.of_three for one in rows]),
    }


def _show(found: Mapping[str, Sequence[Found]], half: str) -> None:
    """Print the figures of each system over all searches, and of each kind of search."""
    headings = ("system", "searches", "right", "first", "of three")
    rows = [(name, *_figures(part).values()) for name, part in found.items()]
    print_table(f"searches over stored notes, {half}", headings, rows)
    kinds = []
    for what in dict.fromkeys(one.search.what for one in found[HOTMEM]):
        parts = [[one for one in rows if one.search.what == what] for rows in found.values()]
        kinds.append((what, *(f"{sum(o.right for o in part)} of {len(part)}" for part in parts)))
    print_table("right in the first three", ("what", *found), kinds)
