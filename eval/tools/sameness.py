"""Which memories say the same: fitted on every second pair of `pairs.tsv`, measured on the others."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from hotmem.consolidation import sameness
from hotmem.consolidation.sameness import SIGNS, Sayings, signs
from hotmem.models import Encoder, read

PAIRS: Final = Path(__file__).with_name("pairs.tsv")
COEFFICIENTS: Final = Path(sameness.__file__).with_name("sameness.json")

STRENGTH: Final = 0.3
"""Inverse of the L2 penalty on standardised signs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, and whether keeping one loses nothing."""

    one: str
    other: str
    verdict: str

    @property
    def same(self) -> bool:
        """Whether both say the same."""
        return self.verdict == "same"


@dataclass(frozen=True, slots=True)
class Sameness:
    """How duplicates are found among the pairs held back.

    Attributes:
        pairs: Pairs held back.
        found: Share of those that say the same that are merged or suggested.
        merged: Share of those that say the same that are merged without asking.
        false_merges: Share of the merges that are wrong.
        false_suggestions: Share of the suggestions that are wrong.
    """

    pairs: int
    found: float
    merged: float
    false_merges: float
    false_suggestions: float


def pairs() -> list[Pair]:
    """All pairs, in the file's order."""
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        return [Pair(**row) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]


def table(encoder: Encoder, asked: Sequence[Pair]) -> NDArray[np.float64]:
    """The signs of the pairs, float64 (pairs, len(SIGNS))."""
    one, other = (read(encoder, [getattr(pair, side) for pair in asked]) for side in ("one", "other"))
    return np.array([signs(Sayings(pair.one, pair.other, *readings)) for pair, *readings in zip(asked, one, other, strict=True)])


def fit(encoder: Encoder) -> dict[str, float]:
    """Coefficients over the signs as they are, fitted on every second pair, and written where the package reads them."""
    taught = pairs()[::2]
    seen = table(encoder, taught)
    scaler = StandardScaler().fit(seen)
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(scaler.transform(seen), [pair.same for pair in taught])
    coefficients = model.coef_[0] / scaler.scale_
    intercept = float(model.intercept_[0] - coefficients @ scaler.mean_)
    fitted = {"intercept": intercept} | dict(zip(SIGNS, coefficients.tolist(), strict=True))
    fitted = {name: round(value, 6) for name, value in fitted.items()}
    COEFFICIENTS.write_text(json.dumps(fitted, indent=1) + "\n", "utf-8")
    return fitted


def measure(encoder: Encoder) -> Sameness:
    """The shipped coefficients on the pairs held back from fitting."""
    held = pairs()[1::2]
    fitted = json.loads(COEFFICIENTS.read_text("utf-8"))
    logits = fitted["intercept"] + table(encoder, held) @ np.array([fitted[name] for name in SIGNS])
    probability = 1 / (1 + np.exp(-logits))
    alike = np.array([pair.same for pair in held])
    merged, suggested = probability >= sameness.MERGES_FROM, probability >= sameness.SUGGESTED_FROM
    return Sameness(
        pairs=len(held),
        found=float(suggested[alike].mean()),
        merged=float(merged[alike].mean()),
        false_merges=float((~alike[merged]).mean()) if merged.any() else 0.0,
        false_suggestions=float((~alike[suggested]).mean()),
    )
