"""Which utterances need memory.

Questions that need it must be asked, and talk that cannot be helped need not be.

The utterances are those of four writers, and the questions of the datasets given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from scipy.sparse import hstack

from eval.arguments import AsJson, Most, Out
from eval.arrays import save_arrays
from eval.datasets.selection import load_datasets
from eval.files import tsv_rows
from eval.language.term_training import SCALE, common_terms, everyday, regression, term_rows
from eval.output import print_json, print_table
from eval.understanding import data
from hotmem.models import load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.commands import term_ids
from hotmem.understanding.term_model import Tensors

*TRAINED, HELD_OUT = sorted((data.FOLDER / "needs").glob("*.tsv"))
"""The utterances of three writers, and of one whose judgement decides."""

VECTOR_SCALE: Final = 2.0
"""Length of the embedding among the features."""

AT: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When everything is said; nothing here hangs on it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One utterance, whether it needs memory, and the names that the memory knows."""

    text: str
    needed: bool
    known: tuple[str, ...] = ()


def own(*files: Path) -> list[Asked]:
    """The utterances of writers."""
    return [Asked(text, label == "memory") for file in files for *_, label, text in tsv_rows(file)]


def misjudged(asked: Sequence[Asked]) -> list[Asked]:
    """For which memory is asked without need, or not asked though needed."""
    language, encoder = load_language(), load_encoder(ModelOptions())
    texts = [one.text for one in asked]
    docs, vectors = language.parse(texts, names=False), encoder.encode(texts)
    found = (
        analyse(doc, AT, one.known, vector=vector)
        for one, doc, vector in zip(asked, docs, vectors, strict=True)
    )
    return [
        one for one, seen in zip(asked, found, strict=True) if seen.needs_memory is not one.needed
    ]


def need(
    datasets: Annotated[
        list[str] | None, typer.Argument(help="DATASET=PATH, any number.", show_default=False)
    ] = None,
    held: Annotated[bool, typer.Option("--held", help="The writer held out.")] = False,
    failures: Annotated[bool, typer.Option(help="Show what is misjudged.")] = False,
    as_json: AsJson = False,
) -> None:
    """Says of how many questions memory would not be asked, and of how much other talk it would."""
    shares = {}
    for name, asked in _groups(datasets or [], held=held).items():
        wrong = misjudged(asked)
        shares[name] = {"wrong": len(wrong), "of": len(asked)}
        for one in wrong if failures else ():
            print(one.text)
    print_table(
        "need for memory",
        ("", "misjudged", "of", "share"),
        [(name, *one.values(), one["wrong"] / max(one["of"], 1)) for name, one in shares.items()],
    )
    print_json(shares, as_json)


def _groups(datasets: Sequence[str], *, held: bool) -> dict[str, list[Asked]]:
    groups: dict[str, list[Asked]] = {"needing memory": [], "needing none": []}
    for one in own(*([HELD_OUT] if held else TRAINED)):
        groups["needing memory" if one.needed else "needing none"].append(one)
    for name, conversations in load_datasets(datasets, step=1).items():
        groups[name] = [
            Asked(
                question.text,
                needed=True,
                known=tuple({turn.speaker for turn in one.turns if turn.speaker}),
            )
            for one in conversations
            for question in one.questions
        ]
    return groups


def trained(asked: Sequence[Asked]) -> Tensors:
    """Fit the model on the words and the embeddings of utterances."""
    ids = [term_ids(one.text) for one in asked]
    vectors = load_encoder(ModelOptions()).encode([one.text for one in asked])
    terms = common_terms(ids, least=2)
    rows = hstack([SCALE * term_rows(ids, terms), VECTOR_SCALE * vectors]).tocsr()
    fitted, bias = regression(rows, [one.needed for one in asked])
    return {
        "need_terms": terms,
        "need_weights": (SCALE * fitted[: len(terms)]).astype(np.float16),
        "need_vector": (VECTOR_SCALE * fitted[len(terms) :]).astype(np.float16),
        "need_bias": bias,
    }


def train_needs(out: Out, limit: Most = None) -> None:
    """Train the model of what needs memory, on three writers and everyday questions."""
    questions = everyday("questions")
    asked = [one for file in TRAINED for one in own(file)[:limit]]
    asked += [Asked(one["text"], needed=True) for one in questions[:limit]]
    save_arrays(out, trained(asked))
