"""Quality records of a reply."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from importlib.resources import files
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.feedback.usage_features import FEATURES
from hotmem.ranking.relevance import Answerability
from hotmem.types import (
    ContextBlock,
    ItemUse,
    Latencies,
    LayerOutcome,
    QualityRecord,
    Tally,
    UsageKind,
)


def quality_records(
    block: ContextBlock, uses: Sequence[ItemUse], count: Callable[[str], int]
) -> list[QualityRecord]:
    """Create a record of the whole block and one of each queried layer.

    No records are created if no memory was needed.

    Args:
        block: The block given to the language model.
        uses: How the reply used each item; some of the reply was heard.
        count: Counts the tokens of a text.
    """
    trace = block.trace
    needed = trace.late if trace.analysis is None else trace.analysis.needs_memory
    if not needed and not uses:
        return []
    day, intent = (
        block.at.astimezone(UTC).date(),
        None if trace.analysis is None else trace.analysis.intent,
    )
    sized = [(use, count(use.item.text)) for use in uses]
    unknown = not sized if trace.known is None else trace.known != Answerability.SOMETHING
    records = [
        QualityRecord(
            day,
            intent,
            None,
            _tally(sized, block.tokens, sum(trace.stages.values()), empty=unknown, late=trace.late),
        )
    ]
    for report in trace.layers:
        if report.outcome is not LayerOutcome.NOT_ASKED:
            found = [(use, tokens) for use, tokens in sized if report.layer in use.item.layers]
            tally = _tally(
                found,
                sum(tokens for _, tokens in found),
                report.ms,
                empty=not found,
                late=report.outcome is not LayerOutcome.ANSWERED,
            )
            records.append(QualityRecord(day, intent, report.layer, tally))
    return records


def _tally(
    sized: Sequence[tuple[ItemUse, int]], tokens: int, ms: float, *, empty: bool, late: bool
) -> Tally:
    """The tally of one turn, from each item's use and token count."""
    unused = [size for use, size in sized if use.kind is UsageKind.UNUSED]
    used = len(sized) - len(unused)
    return Tally(
        1,
        len(sized),
        used,
        tokens,
        sum(unused),
        int(used > 0),
        int(empty),
        int(late),
        Latencies.of(ms),
    )


COMPARED: Final = (
    *("near_reply", "near_clause", "reply_nearer", "clause_nearer"),
    *("content_shared", "run_new_words", "number"),
)
"""Features that are compared with those of the other items."""

ALONE: Final = (
    *COMPARED,
    *("near_more_than_question", "reply_length", "asks", "reply_courtesy", "reply_ignorance"),
)
"""Features that count by themselves."""


def block_features(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the regression's features of the items of a block.

    Args:
        rows: Features of usage detection, float64 (items, len(FEATURES)), two items or more.

    Returns:
        `ALONE`, then `COMPARED` less the largest of the other items, float64
        (items, len(ALONE) + len(COMPARED)).
    """
    compared = rows[:, [FEATURES.index(name) for name in COMPARED]]
    first, second = np.sort(compared, axis=0)[::-1][:2]
    others = np.where(compared == first, second, first)
    ties = (compared == first).sum(axis=0) > 1
    others = np.where(ties, first, others)
    return np.hstack([rows[:, [FEATURES.index(name) for name in ALONE]], compared - others])


@dataclass(frozen=True, slots=True)
class CreditModel:
    """The fitted model.

    Attributes:
        mean: Mean of each feature, float64 (features,).
        deviation: Standard deviation of each feature, float64 (features,).
        weights: float64 (features,).
        intercept: The constant.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create a model from its JSON form.

        Raises:
            ValueError: If its features differ from this version's.
        """
        if data["features"] != [*ALONE, *COMPARED]:
            raise ValueError(
                "The credit model has other features. Fit it again: python -m eval usage --fit"
            )
        mean, deviation, weights = (
            np.array(data[name], dtype=np.float64) for name in ("mean", "deviation", "weights")
        )
        return cls(mean, deviation, weights, float(data["intercept"]))

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that each item was used, float64 (items,), 0 to 1.

        Args:
            rows: Features of usage detection, float64 (items, len(FEATURES)), two items or more.
        """
        standardised = (block_features(rows) - self.mean) / self.deviation
        return np.asarray(
            1 / (1 + np.exp(-(matmul(standardised, self.weights[:, None])[:, 0] + self.intercept)))
        )


@cache
def credit_model() -> CreditModel:
    """The model shipped with the package."""
    return CreditModel.from_dict(
        json.loads(files("hotmem.feedback").joinpath("credit.json").read_text("utf-8"))
    )
