"""`python -m eval train-commands`: train the model of voice commands, and cross-validate it.

The batches of `eval/data/understanding/commands/` are trained on, with the turns of the reader's
training batches and of everyday talk as ordinary utterances; `unseen/commands.tsv` never is. A fold
holds out batches of commands and of ordinary turns, each by a writer of its own.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from eval.arguments import AsJson, Most, Out, print_json
from eval.arrays import save_arrays
from eval.language.commands import CASES, NAMES, NONE, Heard, heard, shares
from eval.understanding import data
from hotmem.models import Encoder, encode_tokens, load_encoder
from hotmem.options import ModelOptions
from hotmem.text.validation import normalize
from hotmem.types import Vector
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.commands import (
    CLASSES,
    CommandKind,
    CommandModel,
    features,
    term_ids,
)
from hotmem.understanding.query.voice_commands import find_command
from hotmem.understanding.term_model import TermIds

FOLDER: Final = data.FOLDER / "commands"
ORDINARY: Final = data.TRAINING + data.CALIBRATION
EVERYDAY: Final = tuple(data.FOLDER.parent.glob("everyday/batch_[1-5].json"))
TALKS: Final = tuple(sorted(data.FOLDER.parent.glob("talks/*.txt")))
NOT_LABELLED: Final = "none-command"
"""Requests to the bot among the ordinary turns, some of which are to its memory."""

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
    unseen = {normalize(line.split("\t")[1]) for line in CASES.read_text("utf-8").splitlines()}
    found: list[Example] = []

    def add(batch: int, ordinary: bool, style: str, text: str, meant: str) -> None:
        if normalize(text) not in unseen:
            command, vector = find_command(text), encode_tokens(encoder, [text])[0].vector
            kind = None if command is None else command.kind
            found.append(Example(batch, ordinary, style, text, meant, vector, kind))

    for number, file in enumerate(sorted(FOLDER.glob("*.tsv"))):
        for line in file.read_text("utf-8").splitlines()[:limit]:
            style, text, meant = line.split("\t")
            add(number, False, style, text, meant)
    batches: tuple[str | Path, ...] = (*ORDINARY, *EVERYDAY)
    wishes = (data.FOLDER / "wishes" / "a.tsv").read_text("utf-8").splitlines()
    for line in wishes[:limit]:
        add(0, True, "", line.split("\t")[1], NONE)
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
    terms = _terms(chosen, ids)
    model = LogisticRegression(C=1 / penalty, max_iter=3000, tol=1e-3)
    model.fit(
        np.stack(
            [
                features(own, terms, one.vector, one.ruled)
                for own, one in zip(ids, chosen, strict=True)
            ]
        ),
        [one.label for one in chosen],
        sample_weight=[1.0 if one.ordinary else EFFECTIVE for one in chosen],
    )
    weights = np.zeros((len(CLASSES), model.coef_.shape[1]), np.float16)
    bias = np.full(len(CLASSES), -np.inf, np.float32)
    weights[model.classes_], bias[model.classes_] = model.coef_, model.intercept_
    return {"terms": terms, "weights": weights, "bias": bias}


def _terms(chosen: Sequence[Example], ids: Sequence[TermIds]) -> TermIds:
    counts = Counter(
        int(one)
        for own, example in zip(ids, chosen, strict=True)
        if not example.ordinary
        for one in own
    )
    return np.array(
        sorted(one for one, count in counts.items() if count >= MIN_UTTERANCES), np.uint32
    )


def cross_validated(
    all_of: Sequence[Example], encoder: Encoder, penalty: float
) -> list[tuple[Example, Heard]]:
    """Return what is found in each utterance by a model that was not trained on its batch."""
    results = []
    for fold in range(FOLDS):
        others = [one for one in all_of if one.batch % FOLDS != fold]
        find = _finder(encoder, trained(others, penalty))
        results += [
            (one, heard(0, one.style, one.text, one.meant, find))
            for one in all_of
            if one.batch % FOLDS == fold
        ]
    return results


def _finder(encoder: Encoder, tensors: dict[str, NDArray[np.generic]]) -> CommandFinder:
    model = CommandModel(tensors)
    return CommandFinder(lambda: encoder, lambda: model)


def train_commands(
    out: Out,
    penalty: Annotated[float, typer.Option(help="L2 penalty.", min=1e-6)] = 1 / 3,
    limit: Most = None,
    failures: Annotated[bool, typer.Option(help="Print the utterances that fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cross-validate and train the model of voice commands, in five minutes."""
    console = Console(stderr=True)
    encoder = load_encoder(ModelOptions())
    all_of = examples(encoder, limit)
    table = {
        "rules": [(one, heard(0, one.style, one.text, one.meant)) for one in all_of],
        "with the model": cross_validated(all_of, encoder, penalty),
    }
    for name, results in table.items():
        ordinary = [found for one, found in results if one.ordinary]
        console.print(
            shares([found for one, found in results if not one.ordinary], name),
            f"{sum(not one.right for one in ordinary)} of {len(ordinary)} ordinary turns heard",
        )
    for _, one in table["with the model"]:
        if failures and not one.right:
            console.print(f"{one.text} -> {one.found}, not {one.meant}", markup=False)
    save_arrays(out, trained(all_of, penalty))
    print_json(
        {name: float(np.mean([one.right for _, one in rows])) for name, rows in table.items()},
        as_json,
    )
