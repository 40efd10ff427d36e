"""Which items a reply used, and how: a kernel logistic regression over `SIGNS`.

    logits = intercepts + Σ weight · exp(-gamma · |signs - example|²)

The design's test, 30 % of the words shared, counts common words and words of the user's own
question as use, and knows no paraphrase. `python -m eval usage --fit` fits the model on replies
that we wrote; `usage.json` holds the signs of its examples, and none of their words.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.feedback.reply_words import words
from hotmem.feedback.usage_features import CLAUSE_CHARACTERS, SIGNS, Exchange, signs
from hotmem.models import Encoder
from hotmem.types import Item, ItemUse, UsageKind

KINDS: Final = tuple(UsageKind)
"""In the model's order."""

EVEN: Final = 0.5
"""Probability above which an item counts as used."""

USED_OF_A_BLOCK: Final = 2
"""Items of a block that a reply uses, as a rule. Of a longer block each item is as much less
likely to be one of them."""


@dataclass(frozen=True, slots=True)
class UsageModel:
    """The fitted model.

    Attributes:
        mean: Mean of each sign, float64 (signs,).
        deviation: Standard deviation of each, float64 (signs,).
        examples: Standardised signs of the examples, float64 (examples, signs).
        weights: What each example says for each kind, float64 (examples, kinds).
        intercepts: float64 (kinds,).
        gamma: How fast an example's say falls with the squared distance.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    examples: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    gamma: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads the stored form.

        Raises:
            ValueError: If it is of other signs or kinds.
        """
        if data["signs"] != list(SIGNS) or data["kinds"] != [kind.value for kind in KINDS]:
            raise ValueError(
                "the usage model is of other signs; fit it anew with `python -m eval usage --fit`"
            )
        mean, deviation, examples, weights, intercepts = (
            np.array(data[name], dtype=np.float64)
            for name in ("mean", "deviation", "examples", "weights", "intercepts")
        )
        return cls(mean, deviation, examples, weights, intercepts, float(data["gamma"]))

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of each kind, float64 (n, kinds), for signs, float64 (n, signs)."""
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
    """The model that ships with this package."""
    return UsageModel.from_dict(
        json.loads(files("hotmem.feedback").joinpath("usage.json").read_text("utf-8"))
    )


def detect(
    encoder: Encoder,
    items: Sequence[Item],
    question: str,
    reply: str,
    visible: Sequence[str] = (),
    *,
    among: int | None = None,
) -> tuple[ItemUse, ...]:
    """How the reply used each item, in the items' order; blocking.

    The strength is the probability that it was used at all.

    Args:
        encoder: The memory's encoder.
        items: The block's items; one without a vector is embedded.
        question: The user's utterance; words it already held prove nothing.
        reply: What was heard of the reply.
        visible: Texts that the language model had before it; their words prove nothing either.
        among: Items among which the used ones are sought; None is as many as the block has.
    """
    if not items:
        return ()
    if set(words(reply)) <= set(words(question)):
        return tuple(ItemUse(item, UsageKind.UNUSED, 0.0) for item in items)
    exchange = Exchange.read(encoder, question, reply, visible)
    unembedded = [item.text[:CLAUSE_CHARACTERS] for item in items if item.vector is None]
    fresh = iter(encoder.encode(unembedded))
    rows = np.stack([next(fresh) if item.vector is None else item.vector for item in items])
    seen = signs(
        encoder, exchange, [item.text for item in items], rows, [item.speaker for item in items]
    )
    unused = KINDS.index(UsageKind.UNUSED)
    likely = fitted_model().probabilities(seen)
    likely[:, unused] *= max((among or len(items)) / USED_OF_A_BLOCK, 1.0)
    likely /= likely.sum(axis=1, keepdims=True)
    return tuple(_use(item, one, unused) for item, one in zip(items, likely, strict=True))


def _use(item: Item, likely: NDArray[np.float64], unused: int) -> ItemUse:
    """The likeliest way of use if it is likelier used than not."""
    strength = float(np.clip(1 - likely[unused], 0.0, 1.0))
    kind = max(
        (kind for kind in KINDS if kind is not UsageKind.UNUSED),
        key=lambda kind: float(likely[KINDS.index(kind)]),
    )
    return ItemUse(item, kind if strength > EVEN else UsageKind.UNUSED, strength)
