"""`python -m eval train-wishes`: train the model of standing wishes, and cross-validate it.

`eval/data/understanding/wishes` has a file of each writer. A fold holds out one. Turns of the
reader's training batches and everyday questions are added as ordinary talk; as nobody labelled the
wishes among them, those that name a topic of wishes are left out, and those that a first model is
sure of.
"""

import json
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from rich.console import Console

from eval.arguments import AsJson, print_json
from eval.language.command_training import EVERYDAY, NOT_LABELLED, ORDINARY
from eval.language.secret_training import fit_terms
from eval.understanding import data
from hotmem.models import load_language
from hotmem.understanding.facts.instructions.extraction import MIN_WISH
from hotmem.understanding.facts.instructions.topics import exclusive_topics
from hotmem.understanding.facts.instructions.wish_model import wish_ids
from hotmem.understanding.query.command_model import TermIds
from hotmem.understanding.term_model import Tensors, TermModel, logistic

FOLDER: Final = data.FOLDER / "wishes"
SURELY: Final = 0.95
"""Probability from which the first model is sure of a wish."""

REQUESTS: Final = (
    "Tell me",
    "Tell me everything about",
    "Give me the list:",
    "List all:",
    "Show me",
)
"""How a request to tell something begins, put before the questions."""

Example: TypeAlias = tuple[str, TermIds, bool]
"""Who wrote a text ("" for an ordinary turn), the ids of its terms, and whether it is a wish."""


def examples(limit: int | None = None) -> list[Example]:
    """The labelled texts, and ordinary turns; of each file or batch at most `limit`."""
    rows = []
    for file in sorted(FOLDER.glob("*.tsv")):
        for line in file.read_text("utf-8").splitlines()[:limit]:
            _, text, label = line.split("\t")
            rows.append((file.stem, text, label == "wish"))
    turns = (turn.text for turn in data.turns(ORDINARY) if turn.reason != NOT_LABELLED)
    asked = [one["text"] for file in EVERYDAY for one in json.loads(file.read_text())["questions"]]
    asked += [f"{start} {text}" for start, text in zip(cycle(REQUESTS), asked, strict=False)]
    ordinary = (text for text in dict.fromkeys((*turns, *asked)) if not exclusive_topics(text))
    rows += [("", text, False) for text in islice(ordinary, limit)]
    docs = load_language().parse([text for _, text, _ in rows])
    return [
        (writer, wish_ids(doc[:]), wish) for (writer, _, wish), doc in zip(rows, docs, strict=True)
    ]


def trained(chosen: Sequence[Example]) -> Tensors:
    """Fit the model, without the ordinary turns that a first one takes for wishes."""
    first = TermModel.of(_fitted([one for one in chosen if one[0]]), "wish")
    return _fitted([one for one in chosen if one[0] or logistic(first.logit(one[1])) < SURELY])


def _fitted(chosen: Sequence[Example]) -> Tensors:
    terms, weights, bias = fit_terms([ids for _, ids, _ in chosen], [wish for *_, wish in chosen])
    return {"wish_terms": terms, "wish_weights": weights.astype("float16"), "wish_bias": bias}


def train_wishes(
    out: Annotated[Path, typer.Option(help="File of the trained model (.safetensors).")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Texts of a writer; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train the model of wishes, and count errors by writers that it was not trained on."""
    from safetensors.numpy import save_file

    found, figures = examples(limit), {}
    for writer in sorted({writer for writer, *_ in found} - {""}):
        model = TermModel.of(trained([one for one in found if one[0] != writer]), "wish")
        own = [one for one in found if one[0] == writer]
        heard = [wish for _, ids, wish in own if logistic(model.logit(ids)) >= MIN_WISH]
        wishes = sum(wish for *_, wish in own)
        right = sum(heard)
        figures[writer] = {"wishes": wishes, "found": right, "others": len(own) - wishes}
        figures[writer]["taken for one"] = len(heard) - right
    save_file(dict(trained(found)), out)
    Console(stderr=True).print(figures)
    print_json(figures, as_json)
