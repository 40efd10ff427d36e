"""How a reply used an item.

Fitted on every second line of `usage.tsv`, which we wrote, measured on the others.

`usage_taught.tsv` is for fitting alone. We wrote it when cross-validation of the fitting half
showed what was confused.
"""

import csv
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from eval.statistics import RESAMPLES, SEED, Estimate
from hotmem.feedback import usage
from hotmem.feedback.usage import KINDS, detect_usage
from hotmem.feedback.usage_features import FEATURES, ReplyContext, item_features
from hotmem.models import Encoder
from hotmem.types import EvidenceKind, Item, Layer, Mark, UsageKind

TRIPLES: Final = Path(__file__).with_name("usage.tsv")
TAUGHT: Final = Path(__file__).with_name("usage_taught.tsv")
COEFFICIENTS: Final = Path(usage.__file__).with_name("usage.json")

STRENGTH: Final = 10.0
"""Inverse of the L2 penalty; chosen with `WIDTH` by cross-validation on the fitting half."""

WIDTH: Final = 1.0
"""Gamma of the kernel, times the number of features."""

STRANGER: Final = 0.1
"""What an item that has nothing to do with the exchange counts in the fit, beside 1 for a
triple. Without any, 6 in 10 of them are taken for used."""

SAME_MATTER: Final = 0.7
"""Cosine from which two items are on the same matter, so that the one is no stranger to replies
that used the other."""

SAID_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Triple:
    """An item, the user's query, the reply as heard, and the labelled usage of the item.

    Attributes:
        item: As a block shows it, with the speaker's name before it where it is known.
        question: The user's utterance.
        reply: What was heard.
        kind: The use.
        sort: What makes it easy or hard, such as "paraphrase" or "refusal".
    """

    item: str
    question: str
    reply: str
    kind: UsageKind
    sort: str

    @property
    def as_item(self) -> Item:
        """The item as a block holds it."""
        speaker, colon, text = self.item.partition(": ")
        named = bool(colon) and speaker.isalpha()
        return Item(
            text=text if named else self.item,
            kind=EvidenceKind.PASSAGE,
            layer=Layer.SEMANTIC,
            layers=(Layer.SEMANTIC,),
            relevance=0.5,
            confidence=0.9,
            mark=Mark.MEDIUM,
            turn_ids=("1",),
            memory_id=None,
            session_id="s",
            speaker=speaker if named else None,
            said_at=SAID_AT,
        )


@dataclass(frozen=True, slots=True)
class Detection:
    """How the shipped model does on the triples held back.

    Attributes:
        triples: Number of triples.
        macro_f1: Mean F1 of the four kinds.
        used_f1: F1 of used against unused.
        f1: F1 of each kind.
        confusion: Triples by our kind and by the one found.
        by_sort: Share right of each sort of triple.
    """

    triples: int
    macro_f1: Estimate
    used_f1: Estimate
    f1: Mapping[str, float]
    confusion: Mapping[str, Mapping[str, int]]
    by_sort: Mapping[str, float]


def triples(path: Path = TRIPLES) -> list[Triple]:
    """All triples of a file, in its order."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Triple(row["item"], row["question"], row["reply"], UsageKind(row["kind"]), row["sort"])
            for row in rows
        ]


def halves() -> tuple[list[Triple], list[Triple]]:
    """The triples that are fitted on, and those held back."""
    found = triples()
    return found[::2], found[1::2]


def table(encoder: Encoder, asked: Sequence[Triple]) -> NDArray[np.float64]:
    """The features of the triples, float64 (triples, len(FEATURES))."""
    items = [one.as_item for one in asked]
    rows = encoder.encode([item.text for item in items])
    return np.concatenate(
        [
            item_features(
                encoder,
                ReplyContext.of(encoder, one.question, one.reply),
                [item.text],
                row[None],
                [item.speaker],
            )
            for one, item, row in zip(asked, items, rows, strict=True)
        ]
    )


def fit(encoder: Encoder) -> None:
    """Fits the model and writes it where the package reads it."""
    half, _ = halves()
    parts = half, triples(TAUGHT), strangers(encoder, half)
    kinds = [np.array([KINDS.index(one.kind) for one in part]) for part in parts]
    counts = np.repeat([1.0, 1.0, STRANGER], [len(part) for part in parts])
    model = fitted(
        np.concatenate([table(encoder, part) for part in parts]),
        np.concatenate(kinds),
        counts,
        np.bincount(kinds[0]) / len(half),
    )
    COEFFICIENTS.write_text(json.dumps(model) + "\n", "utf-8")


def strangers(encoder: Encoder, asked: Sequence[Triple]) -> list[Triple]:
    """Pair each exchange with the nearest item of another that the reply did not use."""
    questions, items = (
        encoder.encode([one.question for one in asked]),
        encoder.encode([one.as_item.text for one in asked]),
    )
    near = np.where(items @ items.T < SAME_MATTER, questions @ items.T, -1.0)
    return [
        replace(one, item=asked[place].item, kind=UsageKind.UNUSED)
        for one, place in zip(asked, near.argmax(axis=1), strict=True)
    ]


def fitted(
    seen: NDArray[np.float64],
    kinds: NDArray[np.intp],
    counts: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> dict[str, Any]:
    """The model as `usage.json` keeps it.

    An L2-penalised logistic regression in the space of a Gaussian kernel.

    Args:
        seen: Features, float64 (n, len(FEATURES)).
        kinds: Places in `KINDS`, (n,).
        counts: What each counts in the fit, (n,).
        shares: How frequent each kind is to be taken for, (kinds,).
    """
    scaler, gamma = StandardScaler().fit(seen), WIDTH / len(FEATURES)
    space = Nystroem(gamma=gamma, n_components=len(seen), random_state=0).fit(
        scaler.transform(seen)
    )
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(
        space.transform(scaler.transform(seen)), kinds, counts
    )
    fitted_shares = np.bincount(kinds, counts) / counts.sum()
    return {
        "features": list(FEATURES),
        "kinds": [kind.value for kind in KINDS],
        "gamma": gamma,
        "mean": scaler.mean_.round(4).tolist(),
        "deviation": scaler.scale_.round(4).tolist(),
        "intercepts": (model.intercept_ + np.log(shares / fitted_shares)).round(4).tolist(),
        "weights": (space.normalization_.T @ model.coef_.T).round(2).tolist(),
        "examples": space.components_.round(2).tolist(),
    }


def measure(encoder: Encoder, held: Sequence[Triple]) -> Detection:
    """The shipped model on triples that were held back from fitting."""
    truth = [one.kind for one in held]
    found = [detect_usage(encoder, [one.as_item], one.question, one.reply)[0].kind for one in held]
    pairs = Counter(zip(truth, found, strict=True))
    right = Counter(one.sort for one, kind in zip(held, found, strict=True) if one.kind is kind)
    sorts = Counter(one.sort for one in held)
    scores = f1_score(truth, found, labels=list(KINDS), average=None, zero_division=0.0)
    return Detection(
        triples=len(held),
        macro_f1=_resampled(
            lambda chosen: _macro([truth[row] for row in chosen], [found[row] for row in chosen]),
            len(held),
        ),
        used_f1=_resampled(
            lambda chosen: _used([truth[row] for row in chosen], [found[row] for row in chosen]),
            len(held),
        ),
        f1={kind: float(score) for kind, score in zip(KINDS, scores, strict=True)},
        confusion={kind: {other: pairs[kind, other] for other in KINDS} for kind in KINDS},
        by_sort={sort: right[sort] / count for sort, count in sorted(sorts.items())},
    )


def _macro(truth: Sequence[UsageKind], found: Sequence[UsageKind]) -> float:
    return float(f1_score(truth, found, labels=list(KINDS), average="macro", zero_division=0.0))


def _used(truth: Sequence[UsageKind], found: Sequence[UsageKind]) -> float:
    unused = UsageKind.UNUSED
    return float(
        f1_score(
            [kind is not unused for kind in truth],
            [kind is not unused for kind in found],
            zero_division=0.0,
        )
    )


def _resampled(score: Callable[[NDArray[np.intp]], float], size: int) -> Estimate:
    """Return a score of all rows with its bootstrap interval, from a quarter of the samples."""
    random = np.random.default_rng(SEED)
    scores = [score(random.integers(0, size, size)) for _ in range(RESAMPLES // 4)]
    low, high = np.percentile(scores, [2.5, 97.5])
    return Estimate(score(np.arange(size)), float(low), float(high))
