"""Ambiguous queries against what people wrote in their place.

TREC CAsT 2019, MuDoCo-QR, and the user statements of TREC iKAT 2023.

A query is ambiguous if its human rewrite adds content words. It is resolved if the expansion holds
at least half of those, and at most as many that neither the query nor the human rewrite holds. A
query that a person left as it was is changed for the worse by any content word added to it. Words
are compared by their Porter stems. Where statements are known, the query is used to find those that
the answer needs, by the cosine of embeddings.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import Stemmer
import typer
from rich.console import Console
from rich.progress import track

from eval.arguments import AsJson, print_json
from eval.content_words import content_words
from eval.language.dialogues import Dialogues, Query, queries
from eval.report import interval, share, table
from eval.statistics import Estimate, bootstrap, paired_difference
from hotmem.errors import InvalidInput
from hotmem.models import Encoder, Language, load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.understanding.query.ambiguity import PRONOUNS, find_ambiguous
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import expand
from hotmem.understanding.query.cues import is_chitchat

TOP: Final = 3
"""Statements found that are looked at."""

_stemmer: Final = Stemmer.Stemmer("porter")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A query and what was made of it.

    Attributes:
        query: The query.
        pointing: Its words that were found to point elsewhere.
        expansion: What was added to it.
        ms: What both took, the parses at hand.
    """

    query: Query
    pointing: tuple[str, ...]
    expansion: tuple[str, ...]
    ms: float

    @property
    def text(self) -> str:
        """The query as it is searched for."""
        return " ".join((self.query.text, *self.expansion))

    @property
    def found(self) -> str:
        """The sort of ambiguity that was found."""
        if not self.pointing:
            return "no pointing word"
        return "pronoun" if PRONOUNS.intersection(self.pointing) else "left open"


@dataclass(frozen=True, slots=True)
class Resolution:
    """How many of some queries came out well.

    Attributes:
        of: Queries.
        right: The share, with its 95 % interval: of ambiguous ones resolved, of clear ones left as
            they were.
        first: The share if the conversation's first turn is appended to every query but the first.
    """

    of: int
    right: Estimate
    first: float


@dataclass(frozen=True, slots=True)
class Statements:
    """How well statements are found.

    Attributes:
        of: Queries whose answer needs a statement.
        raw: Share of the statements needed among the first `TOP`, found by the query as it was
            said.
        expanded: The same by the expanded query.
        human: The same by the human rewrite.
        gain: Of the expansion over the query as it was said.
        human_gain: Of the human rewrite over it.
    """

    of: int
    raw: float
    expanded: float
    human: float
    gain: Estimate
    human_gain: Estimate


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(_stemmer.stemWords([word.replace("'", "") for word in content_words(text)]))


def wanted(query: Query) -> frozenset[str]:
    """The stems that the human rewrite adds; none for a clear query."""
    return stems(query.rewritten) - stems(query.text)


def is_right(query: Query, addition: str) -> bool:
    """Whether an addition resolves an ambiguous query, or leaves a clear one as it is."""
    missing = wanted(query)
    added = stems(addition) - stems(query.text)
    held = len(added & missing)
    return 2 * held >= len(missing) and len(added - missing) <= held


def expanded(asked: Iterable[Query], language: Language, console: Console) -> list[Expanded]:
    """Each query with what its conversation adds to it."""
    return [
        _expanded(query, language) for query in track(list(asked), "rewriting", console=console)
    ]


def _expanded(query: Query, language: Language) -> Expanded:
    doc = language.parse([query.text], names=False)[0]
    before = [
        RecentTurn(turn, by_user)
        for turn, by_user in zip(language.parse(query.before), query.by_user_before, strict=True)
    ]
    started = time.perf_counter()
    pointing = () if is_chitchat(doc) else find_ambiguous(doc)
    expansion = () if is_chitchat(doc) else expand(doc, pointing, before)
    return Expanded(query, pointing, expansion, 1000 * (time.perf_counter() - started))


def resolutions(rows: Sequence[Expanded]) -> dict[str, Resolution]:
    """Return the results by speaker, need for rewriting, and resolution found."""
    parts: dict[str, list[Expanded]] = {}
    for row in rows:
        who = "user's" if row.query.by_user else "assistant's"
        kind = "ambiguous" if wanted(row.query) else "clear"
        parts.setdefault(f"{who}, {kind}", []).append(row)
        if kind == "ambiguous" and row.query.by_user:
            parts.setdefault(f"{who}, {kind}, {row.found}", []).append(row)
    return {name: _resolution(part) for name, part in sorted(parts.items(), reverse=True)}


def _resolution(rows: Sequence[Expanded]) -> Resolution:
    right = bootstrap([is_right(row.query, " ".join(row.expansion)) for row in rows])
    first = [is_right(row.query, row.query.before[0] if row.query.before else "") for row in rows]
    return Resolution(len(rows), right, float(np.mean(first)))


def statements(rows: Sequence[Expanded], encoder: Encoder) -> Statements | None:
    """How well the statements are found that answers need; None where no answer needs any."""
    needing = [row for row in rows if row.query.applying]
    if not needing:
        return None
    raw, ours, human = (
        [_share_found(row.query, text, encoder) for row, text in zip(needing, texts, strict=True)]
        for texts in (
            [row.query.text for row in needing],
            [row.text for row in needing],
            [row.query.rewritten for row in needing],
        )
    )
    gain, human_gain = paired_difference(ours, raw), paired_difference(human, raw)
    return Statements(
        len(needing),
        float(np.mean(raw)),
        float(np.mean(ours)),
        float(np.mean(human)),
        gain,
        human_gain,
    )


def _share_found(query: Query, text: str, encoder: Encoder) -> float:
    numbers = list(query.statements)
    vectors = encoder.encode([text, *query.statements.values()])
    nearest = np.argsort(-(vectors[1:] @ vectors[0]))[:TOP]
    return len(query.applying.intersection(numbers[place] for place in nearest)) / len(
        query.applying
    )


def show(name: str, rows: Sequence[Expanded], found: Statements | None, console: Console) -> None:
    """A table of the figures of one set."""
    result = table(
        f"{name}: resolved, or left clear",
        "queries",
        ("of", "share", "95 % interval", "first turn appended"),
    )
    for kind, part in resolutions(rows).items():
        right = part.right
        result.add_row(
            kind,
            str(part.of),
            share(right.mean),
            f"{share(right.low)} to {share(right.high)}",
            share(part.first),
        )
    console.print(result)
    if found:
        console.print(
            f"statements among the first {TOP}, {found.of} queries: as said "
            f"{share(found.raw)}, expanded {share(found.expanded)}, "
            f"by a person {share(found.human)}; gained, in points: "
            f"{interval(found.gain)}, by a person {interval(found.human_gain)}"
        )
    median, most = np.percentile([row.ms for row in rows if row.query.before], [50, 95])
    console.print(f"added: {median:.1f} ms, 95th percentile {most:.1f} ms")


def figures(rows: Sequence[Expanded], found: Statements | None) -> dict[str, Any]:
    """The figures of one set as plain values."""
    median, most = np.percentile([row.ms for row in rows if row.query.before], [50, 95])
    parts = {kind: asdict(part) for kind, part in resolutions(rows).items()}
    return {
        "queries": parts,
        "statements": asdict(found) if found else None,
        "p50_ms": float(median),
        "p95_ms": float(most),
    }


def rewriting(
    data: Annotated[
        list[str],
        typer.Argument(
            help=f"DATASET=PATH, one or more of {', '.join(Dialogues)}.", show_default=False
        ),
    ],
    misses: Annotated[
        Path | None,
        typer.Option(help="File for one JSON line per query that came out wrong.", dir_okay=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Expand queries without a language model, and compare them with human rewritings."""
    asked = {name: list(queries(dataset, path)) for name, dataset, path in map(_named, data)}
    language, encoder = load_language(), load_encoder(ModelOptions())
    result, wrong = {}, []
    for name, part in asked.items():
        rows = expanded(part, language, Console(stderr=True))
        found = statements(rows, encoder)
        show(name, rows, found, Console())
        result[name] = figures(rows, found)
        wrong += [row for row in rows if not is_right(row.query, " ".join(row.expansion))]
    if misses:
        misses.write_text("".join(json.dumps(_miss(row)) + "\n" for row in wrong), encoding="utf-8")
    print_json(result, as_json)


def _named(entry: str) -> tuple[str, Dialogues, Path]:
    name, _, path = entry.partition("=")
    if name not in tuple(Dialogues) or not path:
        raise InvalidInput(
            f"{entry!r} names no dataset. Use DATASET=PATH with one of {', '.join(Dialogues)}."
        )
    return name, Dialogues(name), Path(path)


def _miss(row: Expanded) -> dict[str, Any]:
    query = row.query
    return {
        "conversation": query.conversation,
        "query": query.text,
        "rewritten": query.rewritten,
        "pointing": row.pointing,
        "expansion": row.expansion,
        "by_user": query.by_user,
    }
