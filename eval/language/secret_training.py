"""`python -m eval train-secrets`: train the models of secrets, and cross-validate them.

`eval/data/secrets` has statements and scenes of six writers: what a user told, and later questions
with the secret that each asks for. A fold holds out a writer.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eval.arguments import AsJson, Most, Out
from eval.arrays import save_arrays
from eval.files import tsv_rows
from eval.language.term_training import fit_terms, named, ordinary_turns, regression, term_rows
from eval.memories import temporary_memory
from eval.output import print_figures, print_json, tracked
from eval.understanding import data
from hotmem import Role, Turn, recall
from hotmem.block import packing
from hotmem.ranking.features import cosines
from hotmem.understanding.private_statements import (
    MIN_ASKED,
    MIN_SECRET,
    SecretModel,
    pair_features,
    statement_ids,
)
from hotmem.understanding.query.commands import FloatArray, term_ids
from hotmem.understanding.term_model import TermIds, TermModel, logistic

FOLDER: Final = Path(__file__).parents[1] / "data/secrets"
START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
NATURAL: Final = data.FOLDER / "natural" / "training.tsv"
"""Everyday memories and turns, whose secrets nobody labelled; those with digits are left out."""

_DIGIT: Final = re.compile(r"\d")

SURELY: Final = 0.6
"""Probability from which a first model is sure that an unlabelled text holds a secret."""

KEPT: Final = (((1, 1), (1, 1)), ((1, 1), (0, 0)))
"""What the models train with of the relevance and cosine of a secret and its rival: all, and those
of the secret alone, as in a memory without another answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and a secret that it might ask for.

    Attributes:
        writer: Who wrote it.
        text: The question.
        number: Its number among all.
        question: Whether it is a question.
        near: As `SecretModel.asks_for` takes it.
        asks: Whether it asks for this secret.
        any: Whether it asks for a secret.
    """

    writer: str
    text: str
    number: int
    question: bool
    near: FloatArray
    asks: bool
    any: bool


def statements(limit: int | None = None) -> list[tuple[str, str, bool, float]]:
    """Writer, text, whether it holds a secret, and weight of each statement."""
    found = [
        (file.stem, text, label == "secret", 1.0)
        for file in sorted(FOLDER.glob("*.tsv"))
        for _, text, label in tsv_rows(file)[: limit and 10 * limit]
    ]
    for writer, scene in scenes(limit):
        asked = {one["asks"] for one in scene["questions"]}
        found += [(writer, text, place in asked, 1.0) for place, text in enumerate(scene["told"])]
    ordinary = [
        turn.text for turn in ordinary_turns() if all(part.kind != "code" for part in turn.parts)
    ]
    texts = (text for row in tsv_rows(NATURAL) for text in row[1::2][:2])
    ordinary += [text for text in texts if not _DIGIT.search(text)]
    return found + [
        ("", text, False, 0.7) for text in list(dict.fromkeys(ordinary))[: limit and 10 * limit]
    ]


def scenes(limit: int | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Each scene with its writer."""
    files = sorted(FOLDER.glob("*.json"))
    return [
        (file.stem, scene)
        for file in files
        for scene in json.loads(file.read_text("utf-8"))[:limit]
    ]


async def asked(rows: Sequence[tuple[str, dict[str, Any]]]) -> list[Asked]:
    """Tell each scene to a user of its own, and recall its questions."""
    packed: list[Any] = []
    original = packing.pack

    def spy(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as it is called
        packed.append(arguments[:2])
        return original(*arguments, **named)

    found, places = [], {}
    async with temporary_memory() as memory:
        for user, (_, scene) in enumerate(rows):
            for place, text in enumerate(scene["told"]):
                at = START + timedelta(minutes=place)
                turn = Turn(f"{user}", "told", Role.USER, text, at)
                places[turn.id] = place
                await memory.remember(turn)
        await memory.settle()
        setattr(recall, "pack", spy)  # noqa: B010 - to see the candidates
        numbers = count()
        for user, (writer, scene) in enumerate(tracked(rows, "asking")):
            secret = {one["asks"] for one in scene["questions"]} - {None}
            for one in scene["questions"]:
                number = next(numbers)
                packed.clear()
                at = START + timedelta(days=1)
                await memory.recall(one["text"], user_id=f"{user}", session_id="now", at=at)
                if not packed:
                    continue
                query, candidates = packed[-1]
                near = np.zeros((len(scene["told"]), 2), np.float32)
                values = cosines(query, [one.evidence for one in candidates])
                for candidate, cosine in zip(candidates, values, strict=True):
                    for place in map(places.__getitem__, candidate.evidence.turn_ids):
                        near[place] = np.maximum(near[place], (candidate.relevance, cosine))
                found += [
                    Asked(
                        writer,
                        one["text"],
                        number,
                        query.analysis.question,
                        np.stack([near[place], np.delete(near, place, axis=0).max(axis=0)]),
                        one["asks"] == place,
                        one["asks"] is not None,
                    )
                    for place in secret & {*np.flatnonzero(near[:, 0]).tolist()}
                ]
        setattr(recall, "pack", original)  # noqa: B010 - as above
    return found


def trained(
    told: Sequence[tuple[str, str, bool, float]], pairs: Sequence[Asked]
) -> dict[str, NDArray[np.generic]]:
    """Fit the models of statements, of questions, and of both together."""
    questions = list({one.number: one for one in pairs}.values())
    asking: dict[str, float] = {}
    for writer in {one.writer for one in questions}:  # by a model of the other writers
        others = [one for one in questions if one.writer != writer]
        rest = [one for one in questions if one.writer == writer]
        known, weights, bias = fit_terms(
            [term_ids(o.text) for o in others], [o.any for o in others]
        )
        own = term_rows([term_ids(one.text) for one in rest], known)
        asking.update(zip((one.text for one in rest), (own @ weights + bias).tolist(), strict=True))
    rows = [
        pair_features(asking[one.text], one.near * kept, question=one.question)
        for kept in KEPT
        for one in pairs
    ]
    pair = regression(np.stack(rows), [one.asks for one in pairs] * len(KEPT))
    first = TermModel(*_of_statements([one for one in told if one[0]]))
    sure = [one for one in told if one[0] or logistic(first.logit(statement_ids(one[1]))) < SURELY]
    statement = _of_statements(sure)
    question = fit_terms([term_ids(one.text) for one in questions], [one.any for one in questions])
    tensors: dict[str, NDArray[np.generic]] = {"pair_weights": pair[0], "pair_bias": pair[1]}
    return tensors | named("statement", statement) | named("question", question)


def _of_statements(
    told: Sequence[tuple[str, str, bool, float]],
) -> tuple[TermIds, NDArray[np.float32], NDArray[np.float32]]:
    return fit_terms(
        [statement_ids(text) for _, text, _, _ in told],
        [secret for _, _, secret, _ in told],
        [weight for *_, weight in told],
    )


def train_secrets(out: Out, limit: Most = None, as_json: AsJson = False) -> None:
    """Train the models of secrets, and count errors by writers that they were not trained on."""
    told, pairs = statements(limit), asyncio.run(asked(scenes(limit)))
    counts = Counter[str]()
    for writer in sorted({one.writer for one in pairs}):
        others = [one for one in told if one[0] != writer]
        model = SecretModel(trained(others, [one for one in pairs if one.writer != writer]))
        for _, text, secret, _ in (one for one in told if one[0] == writer):
            kind = "secrets" if secret else "other statements"
            counts[kind] += 1
            counts[f"{kind} taken for the other"] += (model.secrecy(text) >= MIN_SECRET) != secret
        given: dict[int, list[tuple[float, Asked]]] = {}
        for one in (one for one in pairs if one.writer == writer):
            chance = model.asks_for(one.text, one.near, question=one.question)
            given.setdefault(one.number, []).append((chance, one))
        for rows in given.values():
            chance, best = max(rows, key=lambda row: row[0])
            counts["questions for a secret" if best.any else "other questions"] += 1
            if chance >= MIN_ASKED:
                counts["answered" if best.asks else "given unasked"] += 1
    save_arrays(out, trained(told, pairs))
    print_figures("secrets, by writers not trained on", dict(sorted(counts.items())))
    print_json(dict(counts), as_json)
