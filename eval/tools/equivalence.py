"""Equivalence of memories: fitted on every second pair of `pairs.tsv`, tested on the others."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from eval.files import tsv_records
from hotmem.consolidation import equivalence
from hotmem.consolidation.equivalence import (
    FEATURES,
    NEGATIVE_FEATURES,
    POSITIVE_FEATURES,
    StatementPair,
    equivalence_probability,
    pair_features,
)
from hotmem.models import Encoder

PAIRS: Final = Path(__file__).with_name("pairs.tsv")
COEFFICIENTS: Final = Path(equivalence.__file__).with_name("equivalence_model.json")

STRENGTH: Final = 0.3
"""Inverse of the L2 penalty on standardised features, chosen by cross-validation."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, and the verdict whether storing one of them loses nothing."""

    one: str
    other: str
    verdict: str

    @property
    def same(self) -> bool:
        """Whether both are equivalent."""
        return self.verdict == "same"

    @property
    def retold(self) -> bool:
        """Whether exactly one is about "the user"."""
        return ("user" in self.one.lower()) != ("user" in self.other.lower())


def pairs() -> list[Pair]:
    """Return all pairs, in the file's order."""
    return [Pair(**row) for row in tsv_records(PAIRS)]


def statement_pairs(encoder: Encoder, asked: Sequence[Pair]) -> list[StatementPair]:
    """Return the pairs as in use: the first is stored, the second is new."""
    one, other = (
        encoder.encode([getattr(pair, side) for pair in asked]) for side in ("one", "other")
    )
    return [
        StatementPair(pair.one, pair.other, cosine)
        for pair, cosine in zip(asked, np.vecdot(one, other).tolist(), strict=True)
    ]


def table(encoder: Encoder, asked: Sequence[Pair]) -> NDArray[np.float64]:
    """Return the features of the pairs, float64 (pairs, len(FEATURES))."""
    return np.array([pair_features(said) for said in statement_pairs(encoder, asked)])


def fit(encoder: Encoder) -> dict[str, float]:
    """Fit the coefficients on every second pair, and write them to the package's file."""
    taught = pairs()[::2]
    model = bound(table(encoder, taught), np.array([pair.same for pair in taught]), weights(taught))
    fitted = {
        name: round(value, 6)
        for name, value in zip(("intercept", *FEATURES), model.tolist(), strict=True)
    }
    COEFFICIENTS.write_text(json.dumps(fitted, indent=1) + "\n", "utf-8")
    return fitted


def weights(taught: Sequence[Pair]) -> NDArray[np.float64]:
    """Return sample weights that balance the verdicts among pairs with one statement on "the user".

    In the data such pairs are equivalent more often, which must not be learnt.
    """
    alike, told = (
        np.array([pair.same for pair in taught]),
        np.array([pair.retold for pair in taught]),
    )
    found = np.ones(len(taught))
    for says in (True, False):
        for retold in (True, False):
            share = (alike[told == retold] == says).mean()
            found[(alike == says) & (told == retold)] = (alike == says).mean() / share
    return found


def bound(
    seen: NDArray[np.float64], alike: NDArray[np.bool_], weighs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit a logistic model whose coefficients have the given signs.

    The penalty is on standardised features. Returns intercept and coefficients.
    """
    mean, scale = seen.mean(axis=0), np.maximum(seen.std(axis=0), 1e-9)
    standard, side = (seen - mean) / scale, np.where(alike, 1.0, -1.0)

    def loss(model: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = side * (model[0] + standard @ model[1:])
        slope = -STRENGTH * weighs * side / (1 + np.exp(margin))
        value = STRENGTH * (weighs * np.logaddexp(0, -margin)).sum() + (model[1:] ** 2).sum() / 2
        return float(value), np.concatenate(([slope.sum()], standard.T @ slope + model[1:]))

    bounds = [
        (None, None),
        *((0, None) for _ in POSITIVE_FEATURES),
        *((None, 0) for _ in NEGATIVE_FEATURES),
    ]
    found = minimize(
        loss, np.zeros(len(FEATURES) + 1), jac=True, bounds=bounds, method="L-BFGS-B"
    ).x
    coefficients = found[1:] / scale
    return np.concatenate(([found[0] - coefficients @ mean], coefficients))


def measure(encoder: Encoder) -> dict[str, float]:
    """Test the shipped coefficients on the test pairs.

    Returns:
        Number of pairs; shares of equivalent pairs that are merged or suggested, and that are
        merged automatically; shares of merges and of suggestions that are wrong.
    """
    held = pairs()[1::2]
    probability = np.array(
        [equivalence_probability(said) for said in statement_pairs(encoder, held)]
    )
    alike = np.array([pair.same for pair in held])
    merged = probability >= equivalence.MERGE_THRESHOLD
    suggested = probability >= equivalence.SUGGESTION_THRESHOLD
    return {
        "pairs": len(held),
        "found": float(suggested[alike].mean()),
        "merged": float(merged[alike].mean()),
        "false_merges": float((~alike[merged]).mean()) if merged.any() else 0.0,
        "false_suggestions": float((~alike[suggested]).mean()),
    }
