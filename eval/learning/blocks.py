"""Which items of a whole block a reply used: 150 exchanges by a writer who had not seen the code.

`eval/data/trial/usage.jsonl`; every second exchange is for development, the others decide.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from eval.learning.usage import Triple
from eval.statistics import RESAMPLES, SEED, Estimate
from hotmem.feedback import usage
from hotmem.feedback.usage import ALONE, COMPARED, block_features, detect_usage
from hotmem.feedback.usage_features import ReplyContext, item_features
from hotmem.models import Encoder
from hotmem.types import UsageKind

EXCHANGES: Final = Path(__file__).parents[1] / "data" / "trial" / "usage.jsonl"

HALVES: Final = ("dev", "held")

COEFFICIENTS: Final = Path(usage.__file__).with_name("credit.json")

STRENGTH: Final = 0.5
"""Inverse of the L2 penalty; chosen by cross-validation on the development half."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, the items of the block, and the reply.

    Attributes:
        question: The user's utterance.
        items: Texts of the items.
        reply: What the bot said.
        used: Places of the items that the reply used.
        sort: What makes it easy or hard.
        half: One of `HALVES`.
    """

    question: str
    items: tuple[str, ...]
    reply: str
    used: frozenset[int]
    sort: str
    half: str


@dataclass(frozen=True, slots=True)
class Credit:
    """How the model does on the exchanges of a half.

    Attributes:
        exchanges: Number of exchanges.
        macro_f1: Mean F1 of used and unused items.
        right: Share of exchanges with every item right.
        by_sort: The same by sort.
    """

    exchanges: int
    macro_f1: Estimate
    right: float
    by_sort: Mapping[str, float]


def exchanges(path: Path = EXCHANGES) -> list[Exchange]:
    """All exchanges of a file."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Exchange(
            row["question"],
            tuple(row["items"]),
            row["reply"],
            frozenset(row["used"]),
            row["type"],
            row["half"],
        )
        for row in rows
    ]


def fit(encoder: Encoder) -> None:
    """Fits the model to the development half and writes it where the package reads it."""
    asked = [one for one in exchanges() if one.half == HALVES[0]]
    seen = np.concatenate([block_features(_features(encoder, one)) for one in asked])
    used = [place in one.used for one in asked for place in range(len(one.items))]
    scaler = StandardScaler().fit(seen)
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(scaler.transform(seen), used)
    found = {
        "features": [*ALONE, *COMPARED],
        "mean": scaler.mean_.round(4).tolist(),
        "deviation": scaler.scale_.round(4).tolist(),
        "weights": model.coef_[0].round(4).tolist(),
        "intercept": round(float(model.intercept_[0]), 4),
    }
    COEFFICIENTS.write_text(json.dumps(found) + "\n", "utf-8")


def _features(encoder: Encoder, asked: Exchange) -> NDArray[np.float64]:
    return item_features(
        encoder,
        ReplyContext.of(encoder, asked.question, asked.reply),
        asked.items,
        encoder.encode(asked.items),
        [None] * len(asked.items),
    )


def found_by_model(encoder: Encoder, asked: Exchange) -> list[bool]:
    """Which items the shipped model takes for used."""
    items = [_triple(asked, text).as_item for text in asked.items]
    uses = detect_usage(encoder, items, asked.question, asked.reply)
    return [use.kind is not UsageKind.UNUSED for use in uses]


def measure(encoder: Encoder, half: str) -> Credit:
    """The shipped model on the exchanges of a half."""
    asked = [one for one in exchanges() if one.half == half]
    return credit(asked, [found_by_model(encoder, one) for one in asked])


def credit(asked: Sequence[Exchange], found: Sequence[Sequence[bool]]) -> Credit:
    """Score what was found in some exchanges."""
    truth = [[place in one.used for place in range(len(one.items))] for one in asked]
    right = [list(said) == held for said, held in zip(found, truth, strict=True)]
    sorts = defaultdict(list)
    for one, is_right in zip(asked, right, strict=True):
        sorts[one.sort].append(is_right)
    random = np.random.default_rng(SEED)
    scores = [
        _macro(truth, found, random.integers(0, len(asked), len(asked)))
        for _ in range(RESAMPLES // 10)
    ]
    low, high = np.percentile(scores, [2.5, 97.5])
    return Credit(
        len(asked),
        Estimate(_macro(truth, found, range(len(asked))), float(low), float(high)),
        float(np.mean(right)),
        {sort: float(np.mean(values)) for sort, values in sorted(sorts.items())},
    )


def _macro(
    truth: Sequence[Sequence[bool]], found: Sequence[Sequence[bool]], chosen: Iterable[int]
) -> float:
    rows = list(chosen)
    return float(
        f1_score(
            [held for row in rows for held in truth[row]],
            [said for row in rows for said in found[row]],
            labels=[True, False],
            average="macro",
            zero_division=0.0,
        )
    )


def _triple(asked: Exchange, text: str) -> Triple:
    return Triple(text, asked.question, asked.reply, UsageKind.UNUSED, asked.sort)
