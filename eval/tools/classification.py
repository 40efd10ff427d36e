"""Classification of memories by kind, category and importance.

Fitted on every second statement of `statements.tsv` and on all of `statements_taught.tsv`; tested
on the others. `statements_taught.tsv` covers the confusions that cross-validation of the fitting
half showed; it contains no near duplicates of test statements.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix, hstack, lil_matrix
from sklearn.linear_model import LogisticRegression

from eval.files import tsv_records
from eval.statistics import bootstrap
from hotmem.models import Encoder, Language
from hotmem.types import Category, Kind
from hotmem.understanding.facts import classification
from hotmem.understanding.facts.classification import (
    BLOCK_WEIGHTS,
    MIN_CONFIDENCE,
    classify,
    features,
)

STATEMENTS: Final = Path(__file__).with_name("statements.tsv")
TAUGHT: Final = STATEMENTS.with_name("statements_taught.tsv")
COEFFICIENTS: Final = Path(classification.__file__).with_name("classification.json")

STRENGTH: Final = 2.0
"""Inverse of the L2 penalty, chosen by cross-validation."""

SEEN: Final = 1
"""Minimum number of statements with a feature."""

UNSEEN: Final = 0.5
"""Pseudocount of each kind in each category."""

LEAST: Final = 0.05
"""Minimum absolute value of a coefficient that is kept."""


Confusion: TypeAlias = dict[str, Counter[str]]
"""Counts by labelled category, then by the one found."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and its labels."""

    text: str
    kind: str
    category: str
    importance: str


def taught() -> list[Statement]:
    """Return the statements for fitting."""
    return [*_read(STATEMENTS)[::2], *_read(TAUGHT)]


def held_back() -> list[Statement]:
    """Return the test statements."""
    return _read(STATEMENTS)[1::2]


def fit(encoder: Encoder, language: Language, told: Sequence[Statement]) -> dict[str, Any]:
    """Fit the coefficients, in the stored form."""
    texts = [one.text for one in told]
    seen = [features(doc) for doc in language.parse(texts, names=False)]
    counts = Counter(name for one in seen for name in one)
    names = sorted(name for name, count in counts.items() if count >= SEEN)
    place = {name: column for column, name in enumerate(names)}
    table = lil_matrix((len(texts), len(names)), dtype=np.float32)
    for row, one in enumerate(seen):
        for name in one.keys() & place.keys():
            table[row, place[name]] = one[name]
    whole = hstack(
        [csr_matrix(BLOCK_WEIGHTS["meaning"] * encoder.encode(texts)), table.tocsr()]
    ).tocsr()
    fitted = {
        question: _choices(whole, [getattr(one, question) for one in told], names)
        for question in ("category", "kind", "importance")
    }
    return fitted | {"affinity": affinity(told)}


def affinity(told: Sequence[Statement]) -> dict[str, dict[str, float]]:
    """Return the pointwise mutual information of kind and category."""
    counts = {(kind.value, category.value): UNSEEN for kind in Kind for category in Category}
    for one in told:
        counts[one.kind, one.category] += 1
    table = np.array(list(counts.values())).reshape(len(Kind), len(Category)) / sum(counts.values())
    logs = np.log(table / (table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)))
    return {
        kind: {
            category: round(float(value), 3) for category, value in zip(Category, row, strict=True)
        }
        for kind, row in zip(Kind, logs, strict=True)
    }


def write(fitted: dict[str, Any]) -> None:
    """Write the coefficients to the file that the package reads."""
    lines = (
        f'"{question}": {{\n'
        + ",\n".join(
            f'"{name}": {json.dumps(of, ensure_ascii=False)}' for name, of in choices.items()
        )
        + "\n}"
        for question, choices in fitted.items()
    )
    COEFFICIENTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def measure(encoder: Encoder, language: Language) -> tuple[dict[str, Any], Confusion]:
    """Test the shipped coefficients on the test statements.

    Returns:
        Number of statements; shares with the right category and kind; mean absolute error of the
        importance, 0 to 4; share for which the models report certainty, and share of those with the
        right category. Then counts by labelled category and by the one found.
    """
    held = held_back()
    texts = [one.text for one in held]
    parses = zip(language.parse(texts, names=False), encoder.encode(texts), strict=True)
    filed = [(one, classify(*parse)) for one, parse in zip(held, parses, strict=True)]
    right = np.array([one.category == found.category for one, found in filed])
    sure = np.array([found.confidence >= MIN_CONFIDENCE for _, found in filed])
    errors = [abs(int(one.importance) - found.importance) for one, found in filed]
    confusion: Confusion = {}
    for one, found in filed:
        confusion.setdefault(one.category, Counter())[found.category.value] += 1
    return {
        "statements": len(held),
        "category": bootstrap(right),
        "kind": bootstrap([one.kind == found.kind for one, found in filed]),
        "importance": float(np.mean(errors)),
        "sure": float(sure.mean()),
        "category_where_sure": float(right[sure].mean()),
    }, confusion


def _read(path: Path) -> list[Statement]:
    return [Statement(**row) for row in tsv_records(path)]


def _choices(seen: csr_matrix, answers: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    model = LogisticRegression(C=STRENGTH, max_iter=3000).fit(seen, answers)
    meaning = seen.shape[1] - len(names)
    return {
        answer: {
            "intercept": round(float(intercept), 4),
            "meaning": [round(float(value), 3) for value in row[:meaning]],
            "features": {
                name: round(float(value), 2)
                for name, value in zip(names, row[meaning:], strict=True)
                if abs(value) >= LEAST
            },
        }
        for answer, intercept, row in zip(
            model.classes_, model.intercept_, model.coef_, strict=True
        )
    }
