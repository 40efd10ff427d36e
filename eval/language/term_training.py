"""Logistic regressions on the terms of texts, and ordinary texts for them to tell apart."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from eval.understanding import data
from hotmem.understanding.term_model import TermIds

ORDINARY: Final = data.TRAINING + data.CALIBRATION
EVERYDAY: Final = tuple(data.FOLDER.parent.glob("everyday/batch_[1-5].json"))
NOT_LABELLED: Final = "none-command"
"""Requests to the bot among the ordinary turns, some of which are to its memory."""

MIN_TEXTS: Final = 3
"""Texts that a term must be in."""

PENALTY: Final = 1 / 3
SCALE: Final = 3.0
"""Length of the vector of a text's terms."""


def ordinary_turns() -> Iterator[data.LabelledTurn]:
    """Yield the turns of the reader's training batches that are no requests to the bot."""
    return (turn for turn in data.turns(ORDINARY) if turn.reason != NOT_LABELLED)


def everyday(part: str) -> list[dict[str, Any]]:
    """Return a part of everyday talk: "questions" or "statements"."""
    return [one for file in EVERYDAY for one in json.loads(file.read_text("utf-8"))[part]]


def common_terms(ids: Sequence[TermIds], least: int = MIN_TEXTS) -> TermIds:
    """The terms that at least so many texts have."""
    counts = Counter(int(one) for own in ids for one in own)
    return np.array(sorted(one for one, n in counts.items() if n >= least), np.uint32)


def regression(
    rows: NDArray[np.float32] | csr_array,
    labels: Sequence[bool],
    weights: Sequence[float] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and bias of a logistic regression with an L2 penalty."""
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    model = LogisticRegression(C=1 / PENALTY, max_iter=3000)
    model.fit(rows, labels, sample_weight=weights)
    return model.coef_[0].astype(np.float32), model.intercept_.astype(np.float32)


def term_rows(ids: Sequence[TermIds], terms: TermIds) -> csr_array:
    """Which terms each text has; rows of length 1."""
    known = [np.flatnonzero(np.isin(terms, own, assume_unique=True)) for own in ids]
    values = [np.full(len(row), max(len(row), 1) ** -0.5, np.float32) for row in known]
    starts = np.cumsum([0, *map(len, known)])
    parts = (np.concatenate(values), np.concatenate(known), starts)
    return csr_array(parts, shape=(len(ids), len(terms)))


def fit_terms(
    ids: Sequence[TermIds],
    labels: Sequence[bool],
    weights: Sequence[float] | None = None,
    *,
    least: int = MIN_TEXTS,
) -> tuple[TermIds, NDArray[np.float32], NDArray[np.float32]]:
    """Fit a logistic regression on the terms of texts: terms, weights and bias."""
    terms = common_terms(ids, least)
    fitted, bias = regression(SCALE * term_rows(ids, terms), labels, weights)
    return terms, SCALE * fitted, bias


def named(
    name: str, fitted: tuple[TermIds, NDArray[np.float32], NDArray[np.float32]]
) -> dict[str, NDArray[np.generic]]:
    """What `fit_terms` returned, as the tensors of a file."""
    terms, weights, bias = fitted
    return {f"{name}_terms": terms, f"{name}_weights": weights.astype("f2"), f"{name}_bias": bias}
