"""`python -m eval train-commands`: train the model of voice commands, and cross-validate it.

The batches of `eval/data/understanding/commands/` are trained on, with the turns of the reader's
training batches and of everyday talk as ordinary utterances; `unseen/commands.tsv` never is. A fold
holds out batches of commands and of ordinary turns, each by a writer of its own.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray

from eval.arguments import AsJson, Most, Out
from eval.arrays import save_arrays
from eval.files import tsv_rows
from eval.language.commands import CASES, NAMES, NONE, Heard, heard, show
from eval.language.term_training import EVERYDAY, NOT_LABELLED, ORDINARY, common_terms
from eval.output import print_json
from eval.understanding import data
from hotmem.models import Encoder, encode_tokens, load_encoder
from hotmem.options import ModelOptions
from hotmem.text.validation import normalize
from hotmem.types import Vector
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.command_rules import find_command
from hotmem.understanding.query.commands import (
    CLASSES,
    CommandKind,
    CommandModel,
    features,
    term_ids,
)

FOLDER: Final = data.FOLDER / "commands"
TALKS: Final = tuple(sorted(data.FOLDER.parent.glob("talks/*.txt")))
MIN_UTTERANCES: Final = 3
"""Utterances of the command batches that a term must be in."""

FOLDS: Final = 6

EFFECTIVE: Final = 2.0
"""Weight of an utterance of the command batches; 1 of an ordinary turn."""


@dataclass(frozen=True, slots=True)
class Example:
    """An utterance to train on.

    Attributes:
        batch: Its batch; those of commands and of ordinary turns are numbered alike.
        ordinary: Whether it is of the ordinary turns.
        style: `clean` or `recognised`.
        text: The utterance.
        meant: The command that is meant, with its topic; `NONE` for none.
        vector: The encoder's vector of it.
        ruled: The kind of command that the rules find.
    """

    batch: int
    ordinary: bool
    style: str
    text: str
    meant: str
    vector: Vector
    ruled: CommandKind | None

    @property
    def label(self) -> int:
        """The index of its class."""
        if self.meant == NONE:
            return 0
        kinds = NAMES[self.meant.partition(" ")[0]]
        return next(place for place, kind in enumerate(CLASSES) if kind and kind in kinds)


def examples(encoder: Encoder, limit: int | None = None) -> list[Example]:
    """Return the utterances to train on, encoded; without those that `CASES` has too.

    Args:
        encoder: The encoder.
        limit: Maximum number of utterances of a batch; None for all.
    """
    unseen = {normalize(text) for _, text, _ in tsv_rows(CASES)}
    found: list[Example] = []

    def add(batch: int, ordinary: bool, style: str, text: str, meant: str) -> None:
        if normalize(text) not in unseen:
            command, vector = find_command(text), encode_tokens(encoder, [text])[0].vector
            kind = None if command is None else command.kind
            found.append(Example(batch, ordinary, style, text, meant, vector, kind))

    for number, file in enumerate(sorted(FOLDER.glob("*.tsv"))):
        for style, text, meant in tsv_rows(file)[:limit]:
            add(number, False, style, text, meant)
    batches: tuple[str | Path, ...] = (*ORDINARY, *EVERYDAY)
    for _, text, _ in tsv_rows(data.FOLDER / "wishes" / "a.tsv")[:limit]:
        add(0, True, "", text, NONE)
    for number, batch in enumerate((*batches, *TALKS)):
        for text in list(dict.fromkeys(_ordinary(batch)))[:limit]:
            add(number, True, "", text, NONE)
    return found


def _ordinary(batch: str | Path) -> Iterator[str]:
    """The ordinary turns of a batch of the reader's, or turns and questions of everyday talk."""
    if isinstance(batch, str):
        return (turn.text for turn in data.turns((batch,)) if turn.reason != NOT_LABELLED)
    if batch in TALKS:
        lines = (line.partition(": ")[2] for line in batch.read_text("utf-8").splitlines())
        return (line for line in lines if line and find_command(line) is None)
    talk = json.loads(batch.read_text("utf-8"))
    turns = (turn for session in talk["sessions"] for turn in session["turns"])
    said = (turn["text"] for turn in turns if turn["role"] == "user")
    return chain(said, (question["text"] for question in talk["questions"]))


def trained(chosen: Sequence[Example], penalty: float) -> dict[str, NDArray[np.generic]]:
    """Fit a multinomial logistic regression with an L2 penalty; the tensors of `CommandModel`."""
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    ids = [term_ids(one.text) for one in chosen]
    own = [row for row, one in zip(ids, chosen, strict=True) if not one.ordinary]
    terms = common_terms(own, MIN_UTTERANCES)
    rows = [
        features(row, terms, one.vector, one.ruled) for row, one in zip(ids, chosen, strict=True)
    ]
    model = LogisticRegression(C=1 / penalty, max_iter=3000, tol=1e-3)
    model.fit(
        np.stack(rows),
        [one.label for one in chosen],
        sample_weight=[1.0 if one.ordinary else EFFECTIVE for one in chosen],
    )
    weights = np.zeros((len(CLASSES), model.coef_.shape[1]), np.float16)
    bias = np.full(len(CLASSES), -np.inf, np.float32)
    weights[model.classes_], bias[model.classes_] = model.coef_, model.intercept_
    return {"terms": terms, "weights": weights, "bias": bias}


def cross_validated(
    all_of: Sequence[Example], encoder: Encoder, penalty: float
) -> list[tuple[Example, Heard]]:
    """Return what is found in each utterance by a model that was not trained on its batch."""
    results = []
    for fold in range(FOLDS):
        others = [one for one in all_of if one.batch % FOLDS != fold]
        find = _finder(encoder, CommandModel(trained(others, penalty)))
        results += [
            (one, heard(0, one.style, one.text, one.meant, find))
            for one in all_of
            if one.batch % FOLDS == fold
        ]
    return results


def _finder(encoder: Encoder, model: CommandModel) -> CommandFinder:
    return CommandFinder(lambda: encoder, lambda: model)


def train_commands(
    out: Out,
    penalty: Annotated[float, typer.Option(help="L2 penalty.", min=1e-6)] = 1 / 3,
    limit: Most = None,
    failures: Annotated[bool, typer.Option(help="Print the utterances that fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cross-validate and train the model of voice commands, in five minutes."""
    encoder = load_encoder(ModelOptions())
    all_of = examples(encoder, limit)
    table = {
        "rules": [(one, heard(0, one.style, one.text, one.meant)) for one in all_of],
        "with the model": cross_validated(all_of, encoder, penalty),
    }
    for name, results in table.items():
        ordinary = [found for one, found in results if one.ordinary]
        show([found for one, found in results if not one.ordinary], name)
        wrong = sum(not one.right for one in ordinary)
        print(f"{wrong} of {len(ordinary)} ordinary turns heard")
    for _, one in table["with the model"]:
        if failures and not one.right:
            print(f"{one.text} -> {one.found}, not {one.meant}")
    save_arrays(out, trained(all_of, penalty))
    print_json(
        {name: float(np.mean([one.right for _, one in rows])) for name, rows in table.items()},
        as_json,
    )
