"""What a reply used of a block, and the quality record."""

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
from hotmem.feedback.usage_features import (
    CLAUSE_CHARACTERS,
    FEATURES,
    ReplyContext,
    item_features,
    words,
)
from hotmem.models import Encoder
from hotmem.ranking.relevance import Answerability
from hotmem.types import (
    ContextBlock,
    Item,
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


KINDS: Final = tuple(UsageKind)
"""The classes, in the order of the model."""

USED_THRESHOLD: Final = 0.5
"""Probability above which an item counts as used."""

TINY: Final = 1e-9
"""Keeps a division finite."""

EXPECTED_USED: Final = 2
"""Number of items of a block that a reply uses on average; scales the prior of long blocks."""


@dataclass(frozen=True, slots=True)
class UsageModel:
    """The fitted model.

    Attributes:
        mean: Mean of each feature, float64 (features,).
        deviation: Standard deviation of each feature, float64 (features,).
        examples: Standardised features of the examples, float64 (examples, features).
        weights: Weight of each example for each kind, float64 (examples, kinds).
        intercepts: float64 (kinds,).
        gamma: Kernel coefficient of the squared distance.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    examples: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    gamma: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create a model from its JSON form.

        Raises:
            ValueError: If its features or kinds differ from this version's.
        """
        if data["features"] != list(FEATURES) or data["kinds"] != [kind.value for kind in KINDS]:
            raise ValueError(
                "The usage model has other features. Fit it again: python -m eval usage --fit"
            )
        mean, deviation, examples, weights, intercepts = (
            np.array(data[name], dtype=np.float64)
            for name in ("mean", "deviation", "examples", "weights", "intercepts")
        )
        return cls(mean, deviation, examples, weights, intercepts, float(data["gamma"]))

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities, float64 (n, kinds), for rows of features, float64 (n, features)."""
        standardised = (rows - self.mean) / self.deviation
        apart = (
            (standardised**2).sum(axis=1)[:, None]
            + (self.examples**2).sum(axis=1)
            - 2 * matmul(standardised, self.examples.T)
        )
        logits = self.intercepts + matmul(
            np.exp(-self.gamma * np.maximum(apart, 0.0)), self.weights
        )
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))


@cache
def fitted_model() -> UsageModel:
    """The model shipped with the package."""
    return UsageModel.from_dict(
        json.loads(files("hotmem.feedback").joinpath("usage.json").read_text("utf-8"))
    )


def detect_usage(
    encoder: Encoder,
    items: Sequence[Item],
    question: str,
    reply: str,
    visible: Sequence[str] = (),
    *,
    among: int | None = None,
) -> tuple[ItemUse, ...]:
    """Detect how a reply used each item, in the order of the items. Blocking.

    The strength is the probability that the reply used the item in any way.

    Args:
        encoder: The memory's encoder.
        items: The block's items; those without a vector are embedded.
        question: The user's utterance, whose words are no evidence of use.
        reply: The part of the reply that was heard.
        visible: Other texts in the language model's context, whose words are no evidence either.
        among: Number of items in the block, if `items` are only some of them.
    """
    if not items:
        return ()
    if set(words(reply)) <= set(words(question)):
        return tuple(ItemUse(item, UsageKind.UNUSED, 0.0) for item in items)
    context = ReplyContext.of(encoder, question, reply, visible)
    unembedded = [item.text[:CLAUSE_CHARACTERS] for item in items if item.vector is None]
    fresh = iter(encoder.encode(unembedded))
    rows = np.stack([next(fresh) if item.vector is None else item.vector for item in items])
    seen = item_features(
        encoder, context, [item.text for item in items], rows, [item.speaker for item in items]
    )
    unused = KINDS.index(UsageKind.UNUSED)
    likely = fitted_model().probabilities(seen)
    likely[:, unused] *= max((among or len(items)) / EXPECTED_USED, 1.0)
    likely /= likely.sum(axis=1, keepdims=True)
    if len(items) > 1:
        used = credit_model().probabilities(seen)
        likely *= (used / np.maximum(1 - likely[:, unused], TINY))[:, None]
        likely[:, unused] = 1 - used
    return tuple(_item_use(item, one, unused) for item, one in zip(items, likely, strict=True))


def _item_use(item: Item, likely: NDArray[np.float64], unused: int) -> ItemUse:
    """The most likely kind of use, or UNUSED below the threshold."""
    strength = float(np.clip(1 - likely[unused], 0.0, 1.0))
    kind = max(
        (kind for kind in KINDS if kind is not UsageKind.UNUSED),
        key=lambda kind: float(likely[KINDS.index(kind)]),
    )
    return ItemUse(item, kind if strength > USED_THRESHOLD else UsageKind.UNUSED, strength)
