"""The feedback path: reply → usage → quality record and layer weights."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.feedback.usage import detect_usage, quality_records
from hotmem.models import Encoder
from hotmem.options import LearningOptions
from hotmem.storage import Storage, queries
from hotmem.text.passages import truncate, truncate_start
from hotmem.types import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NO_OFFSET,
    START_WEIGHTS,
    ContextBlock,
    IntentOffset,
    ItemUse,
    Layer,
    LayerOutcome,
    LearningState,
    QualityRecord,
    Usage,
    UsageKind,
    Weights,
)

LAYERS: Final = tuple(Layer)
STARTS: Final = np.array([START_WEIGHTS[layer] for layer in LAYERS])

PRIOR_PRECISION: Final = 8.0
"""Prior precision of the weights; an informative reply adds some 0.1."""

POSITION_PRIOR_PRECISION: Final = 20.0
"""Prior precision of the position effect, whose prior mean is 0."""

DISCOUNT: Final = 0.998
"""Discount of earlier replies per reply."""

SHRINKAGE: Final = 0.02
SHRINKAGE_BEYOND_FAR: Final = 0.03
"""Shrinkage to the start weights per reply: of the offset, and of what exceeds `FAR`."""

FAR: Final = 0.4
"""Offset of weights / start weights that fits to whole datasets do not exceed."""

MAX_STEP: Final = 0.05
"""Maximum change of a weight / start weight per reply."""

MIN_USE: Final = 0.3
"""Probability of use of the most likely item below which a reply is ignored."""

SHARPNESS: Final = 3.0
"""Power of the odds of use in an item's use share; replies use few of a block's items."""

CHANCE_USE: Final = 0.3
"""Share of use that falls on random items: wrong replies, or use detected wrongly."""

INTENT_RATE: Final = 0.2
"""Fraction of a step that only the intent's offset takes."""

MAX_PRECISION: Final = 1e6
"""Bound above which a stored precision matrix is discarded as damaged."""

MAX_POSITION_EFFECT: Final = 3.0
"""Bound of the position effect, in nats."""

LEAD_DECAY: Final = 0.95
"""Decay of the moving average of `LearningState.lead` per reply."""

ROLLBACK_LEAD: Final = -0.05
"""Lead in nats below which the weights are rolled back to the last good ones."""

CHECKPOINT_INTERVAL: Final = 25
"""Number of replies between checkpoints of good weights."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """The evidence of one reply.

    Attributes:
        base: Logits of the items without the layers' contributions, float64 (items,).
        contributions: Each layer's contribution at the start weights, float64 (items, layers).
        positions: Positions in the block, from 0 to 1, float64 (items,).
        shares: Use shares, which sum to 1, float64 (items,).
        certainty: Probability that any item was used.
        queried: Whether each layer was queried, bool (layers,).
    """

    base: NDArray[np.float64]
    contributions: NDArray[np.float64]
    positions: NDArray[np.float64]
    shares: NDArray[np.float64]
    certainty: float
    queried: NDArray[np.bool_]

    @classmethod
    def of(
        cls, uses: Sequence[ItemUse], given: Weights, queried: Collection[Layer]
    ) -> "TrainingExample | None":
        """Create an example from the uses of a block's items.

        Returns None if the block has fewer than two items, or none was used.

        Args:
            uses: How the reply used each item, in the block's order.
            given: The layer weights of the block.
            queried: The layers that answered.
        """
        strengths = np.clip([use.strength for use in uses], 0.0, 0.99)
        if len(uses) < 2 or strengths.max() < MIN_USE:
            return None
        shares = (strengths / (1 - strengths)) ** SHARPNESS
        relevance = np.clip([use.item.relevance for use in uses], 1e-6, 1 - 1e-6)
        weighted = np.array([use.item.parts for use in uses], dtype=np.float64).reshape(
            len(uses), len(LAYERS)
        )
        return cls(
            np.log(relevance / (1 - relevance)) - weighted.sum(axis=1),
            weighted / multipliers(given),
            np.linspace(0.0, 1.0, len(uses)),
            shares / shares.sum(),
            float(strengths.max()),
            np.array([layer in queried for layer in LAYERS]),
        )

    def loss(self, theta: NDArray[np.float64], position_effect: float = 0.0) -> float:
        """Negative log-likelihood of the use, in nats."""
        predicted = np.exp(self._log_softmax(theta, position_effect))
        return float(
            -self.certainty
            * self.shares
            @ np.log((1 - CHANCE_USE) * predicted + CHANCE_USE / len(predicted))
        )

    def derivatives(
        self, theta: NDArray[np.float64], position_effect: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gradient and Hessian of the loss, by layers and position; 0 for other layers.

        float64 (layers + 1,) and (layers + 1, layers + 1).
        """
        inputs = np.column_stack([self.contributions * self.queried, self.positions])
        predicted = np.exp(self._log_softmax(theta, position_effect))
        posterior = (
            self.shares
            * (1 - CHANCE_USE)
            * predicted
            / ((1 - CHANCE_USE) * predicted + CHANCE_USE / len(predicted))
        )
        mean, weight = predicted @ inputs, self.certainty * posterior.sum()
        return weight * mean - self.certainty * posterior @ inputs, weight * (
            (inputs.T * predicted) @ inputs - np.outer(mean, mean)
        )

    def _log_softmax(
        self, theta: NDArray[np.float64], position_effect: float
    ) -> NDArray[np.float64]:
        logits = self.base + self.contributions @ theta + position_effect * self.positions
        logits = logits - logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()))


def multipliers(given: Weights) -> NDArray[np.float64]:
    """Weights / start weights, clipped to the bounds, float64 (layers,)."""
    return clip(np.array([given[layer] for layer in LAYERS]) / STARTS)


def clip(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip weights / start weights to the bounds; NaN and infinity become 1."""
    return np.clip(
        np.where(np.isfinite(theta), theta, 1.0), MIN_WEIGHT / STARTS, MAX_WEIGHT / STARTS
    )


def to_weights(theta: NDArray[np.float64]) -> Weights:
    """Convert weights / start weights to weights, clipped to the bounds."""
    return Weights.from_dict(
        {layer: float(value) for layer, value in zip(LAYERS, clip(theta) * STARTS, strict=True)}
    )


def weights_for_intent(own: Weights, offset: IntentOffset) -> Weights:
    """A user's weights for one intent, clipped to the bounds."""
    return to_weights(multipliers(own) + np.array(offset))


def update(before: LearningState, example: TrainingExample) -> LearningState:
    """Update a learning state with the evidence of one reply.

    The weights are rolled back if they have predicted use worse than the last good ones.
    """
    theta = multipliers(weights_for_intent(before.own, before.intent))
    precision, step = _newton_step(before, example, theta)
    moved = clip(theta + step[:-1]) - theta
    after = replace(
        before,
        own=to_weights(multipliers(before.own) + (1 - INTENT_RATE) * moved),
        intent=tuple(
            float(value) for value in theta - multipliers(before.own) + INTENT_RATE * moved
        ),
        position_effect=float(
            np.clip(before.position_effect + step[-1], -MAX_POSITION_EFFECT, MAX_POSITION_EFFECT)
        ),
        precision=tuple(precision.ravel().tolist()),
        version=before.version + 1,
    )
    return _with_rollback(before, after, example)


def _newton_step(
    before: LearningState, example: TrainingExample, theta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The new precision matrix, and the Newton step with shrinkage to the start weights."""
    prior = np.diag([PRIOR_PRECISION] * len(LAYERS) + [POSITION_PRIOR_PRECISION])
    stored = _checked_precision(before.precision, prior)
    gradient, hessian = example.derivatives(theta, before.position_effect)
    precision = DISCOUNT * stored + (1 - DISCOUNT) * prior + hessian
    offset = theta - 1.0
    step = np.asarray(np.linalg.solve(precision, -gradient), dtype=np.float64)
    step[:-1] = example.queried * (
        step[:-1]
        - SHRINKAGE * offset
        - SHRINKAGE_BEYOND_FAR * np.sign(offset) * np.maximum(np.abs(offset) - FAR, 0.0)
    )
    return precision, np.asarray(
        step * min(1.0, MAX_STEP / max(float(np.abs(step).max()), 1e-12)), dtype=np.float64
    )


def _checked_precision(
    precision: Sequence[float], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Restore a stored precision matrix; return the prior's if it is not valid."""
    if len(precision) != prior.size or not np.isfinite(precision).all():
        return prior
    matrix = np.array(precision).reshape(prior.shape)
    valid = (
        np.allclose(matrix, matrix.T)
        and np.abs(matrix).max() <= MAX_PRECISION
        and np.linalg.eigvalsh(matrix).min() >= PRIOR_PRECISION / 2
    )
    return matrix if valid else prior


def _with_rollback(
    before: LearningState, after: LearningState, example: TrainingExample
) -> LearningState:
    """The new state, checkpointed or rolled back by how well its weights predicted the use."""
    now, good = multipliers(weights_for_intent(before.own, before.intent)), multipliers(before.good)
    lead = LEAD_DECAY * before.lead + (1 - LEAD_DECAY) * (
        example.loss(good, before.position_effect) - example.loss(now, before.position_effect)
    )
    if lead < ROLLBACK_LEAD:
        return replace(after, own=before.good, intent=NO_OFFSET, precision=(), lead=0.0)
    if lead > 0 and after.version % CHECKPOINT_INTERVAL == 0:
        return replace(after, good=after.own, lead=0.0)
    return replace(after, lead=lead)


MAX_VISIBLE: Final = 200
"""Number of visible texts compared with a reply, latest ones."""


async def learn_from_reply(
    storage: Storage,
    encoder: Encoder,
    block: ContextBlock,
    heard: str,
    options: LearningOptions,
    count: Callable[[str], int],
    now: datetime,
    recorded: Callable[[], bool],
    *,
    interrupted: bool,
    again: bool = False,
) -> Usage:
    """Detect how a reply used a block, record it and update the layer weights.

    Args:
        storage: The store.
        encoder: The memory's encoder, used in a thread.
        block: The block given to the language model.
        heard: The part of the reply that was heard, cleaned.
        options: Learning options.
        count: Counts the tokens of a text.
        now: The current time, UTC.
        recorded: Whether usage is recorded; called just before the write.
        interrupted: Whether the reply was cut off.
        again: Whether feedback on the block was given before.

    Raises:
        StoreError: If the write failed.
    """
    uses, records = await asyncio.to_thread(_detect_usage, encoder, block, heard, count)
    used = [use for use in uses if use.kind is not UsageKind.UNUSED]
    share = len(used) / len(uses) if uses else 0.0
    database, analysis = storage.database, block.trace.analysis
    user = await database.read_all(queries.users.find, block.user_id)
    if user is None:
        return Usage(block.id, uses, share, interrupted, block.trace.weights)
    learnt = None
    new = bool(uses or records) and not again
    if new and (
        not recorded()
        or await database.write(
            queries.quality.record, user, block, uses, records, interrupted=interrupted
        )
    ):
        memories = [use.item.memory_id for use in used if use.item.memory_id]
        await database.write(queries.memories.record_access, user, memories, now)
        example = _training_example(block, uses) if options.moves_weights else None
        if example is not None and analysis is not None:
            learnt = await database.write(
                queries.layer_weights.learn,
                user,
                analysis.intent,
                lambda before: update(before, example),
                now,
            )
    weights = (
        learnt or options.weights or (await database.read(queries.users.profile, user, ())).weights
    )
    return Usage(block.id, uses, share, interrupted, weights)


def _detect_usage(
    encoder: Encoder, block: ContextBlock, heard: str, count: Callable[[str], int]
) -> tuple[tuple[ItemUse, ...], list[QualityRecord]]:
    """How the reply used each item, and the quality records; none if nothing was heard."""
    visible = [truncate(text) for text in block.visible[-MAX_VISIBLE:]]
    uses = detect_usage(encoder, block.items, truncate_start(block.query), truncate(heard), visible)
    return uses, quality_records(block, uses, count) if heard else []


def _training_example(block: ContextBlock, uses: tuple[ItemUse, ...]) -> TrainingExample | None:
    asked = [
        report.layer for report in block.trace.layers if report.outcome is LayerOutcome.ANSWERED
    ]
    return TrainingExample.of(uses, block.trace.weights, asked)
