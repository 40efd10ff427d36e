"""Layer weights that follow use.

An online logistic regression over what each layer's features add to the rank of a block's items.

    L(θ) = −Σ share of the use of item i · log softmax_i(rest_i + Σ θ_layer · part_i,layer)

θ is a layer's weight over its start weight, `part` what the layer's features add to the item's
logit at the start weights. A reply says which of the items it was given were worth more (Cao et al.
2007, ListNet), so every reply tells of all layers at once and nothing need be tried out on the
user. Each reply is one Newton step under all that was seen before (a Laplace filter), which older
replies leave by and by. The place of an item in the block has a coefficient of its own, so that
what is used for its place alone is not put down to a layer.

Replies alone would lead bad weights back slowly: most of what they seem to use is chance. So
weights are drawn to the start weights, which were fitted on many conversations, gently nearby and
firmly from afar.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.types import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NO_OFFSET,
    START_WEIGHTS,
    IntentOffset,
    ItemUse,
    Layer,
    LearningState,
    Weights,
)

LAYERS: Final = tuple(Layer)
STARTS: Final = np.array([START_WEIGHTS[layer] for layer in LAYERS])

PRIOR: Final = 8.0
"""Certainty of the start before anything is seen: a telling reply adds some 0.1."""

PLACE_PRIOR: Final = 20.0
"""The same of the coefficient of the place, which starts at 0."""

MEMORY: Final = 0.998
"""Part of what was seen that is left after one more reply: half is gone after 350."""

DRAWN: Final = 0.02
DRAWN_FAR: Final = 0.03
"""Part of the way back to the start weights, which fit many conversations, that each reply
takes; and of what lies beyond `FAR`. With 0.005 what foretells use best was followed to where
blocks hold less evidence: replies tell which of the items given were used, not which were left
out."""

FAR: Final = 0.4
"""Distance from the start weights, over them, that LoCoMo and REALTALK do not go beyond when all
their replies are fitted at once."""

LONGEST_STEP: Final = 0.05
"""Change of a weight over its start weight at one reply at most."""

LEAST_USE: Final = 0.3
"""Probability of use of the likeliest item from which a reply teaches anything."""

SHARPNESS: Final = 3.0
"""Power of the odds of use in an item's share of it: replies use one or two of twenty items. By
this power two fifths of the use in LoCoMo's blocks fall to the evidence, by 1 a fifth."""

CHANCE: Final = 0.3
"""Part of the use that is taken to fall on any item by chance, whatever its rank: a wrong reply,
or one that was read wrongly."""

SHARED: Final = 0.1
"""Part of a step that all users' prior takes too."""

BY_INTENT: Final = 0.2
"""Part of a step that is for this intent alone; the rest is for all of the user's."""

MOST_SEEN: Final = 1e6
"""Certainty beyond which what is kept cannot come from replies."""

FARTHEST_PLACE: Final = 3.0
"""Nats between the first and the last place of a block at most."""

WATCHED: Final = 0.95
"""Part of the watched lead over the last good weights that is left after one more reply: it
looks back over some twenty."""

TOO_FAR_BEHIND: Final = -0.05
"""Mean nats per reply behind the last good weights from which these are taken up again."""

CHECKED_EVERY: Final = 25
"""Replies after which weights that are ahead become the last good ones."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """What one reply tells.

    Attributes:
        rest: Logits of the items without the layers' parts, float64 (items,).
        parts: What each layer adds at the start weights, float64 (items, layers).
        places: Places in the block, from 0 to 1, float64 (items,).
        use: Shares of the use, adding up to 1, float64 (items,).
        sure: How sure it is that anything was used, 0 to 1.
        asked: Whether each layer was asked, bool (layers,).
    """

    rest: NDArray[np.float64]
    parts: NDArray[np.float64]
    places: NDArray[np.float64]
    use: NDArray[np.float64]
    sure: float
    asked: NDArray[np.bool_]

    @classmethod
    def of(
        cls, uses: Sequence[ItemUse], given: Weights, asked: Collection[Layer]
    ) -> "TrainingExample | None":
        """The lesson of a block's uses.

        None if it tells nothing: fewer than two items, or none that was used.

        Args:
            uses: How the reply used each item, in the block's order.
            given: The weights that the block was made with.
            asked: The layers that answered.
        """
        strengths = np.clip([use.strength for use in uses], 0.0, 0.99)
        if len(uses) < 2 or strengths.max() < LEAST_USE:
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
            np.array([layer in asked for layer in LAYERS]),
        )

    def loss(self, theta: NDArray[np.float64], place: float = 0.0) -> float:
        """How unlikely the use is under weights over their start weights, in nats."""
        likely = np.exp(self._log_likely(theta, place))
        return float(-self.sure * self.use @ np.log((1 - CHANCE) * likely + CHANCE / len(likely)))

    def slope(
        self, theta: NDArray[np.float64], place: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gradient and Hessian of the loss by the layers and the place, float64 (layers + 1,) and square. 0 for layers that were not asked."""
        seen = np.column_stack([self.parts * self.asked, self.places])
        likely = np.exp(self._log_likely(theta, place))
        meant = self.use * (1 - CHANCE) * likely / ((1 - CHANCE) * likely + CHANCE / len(likely))
        mean, weight = likely @ seen, self.sure * meant.sum()
        return weight * mean - self.sure * meant @ seen, weight * (
            (seen.T * likely) @ seen - np.outer(mean, mean)
        )

    def _log_likely(self, theta: NDArray[np.float64], place: float) -> NDArray[np.float64]:
        logits = self.rest + self.parts @ theta + place * self.places
        logits = logits - logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()))


def multipliers(given: Weights) -> NDArray[np.float64]:
    """Weights over their start weights, within the bounds, float64 (layers,)."""
    return bounded(np.array([given[layer] for layer in LAYERS]) / STARTS)


def bounded(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights over their start weights within the bounds; what is no number is 1."""
    return np.clip(
        np.where(np.isfinite(theta), theta, 1.0), MIN_WEIGHT / STARTS, MAX_WEIGHT / STARTS
    )


def weights(theta: NDArray[np.float64]) -> Weights:
    """The weights that are so many times the start weights, within the bounds."""
    return Weights.from_dict(
        {layer: float(value) for layer, value in zip(LAYERS, bounded(theta) * STARTS, strict=True)}
    )


def for_intent(own: Weights, moved: IntentOffset) -> Weights:
    """A user's weights for one intent, within the bounds."""
    return weights(multipliers(own) + np.array(moved))


def learnt(before: LearningState, lesson: TrainingExample) -> LearningState:
    """What is learnt after one more reply.

    If the weights have fallen behind the last good ones, these are taken up again.
    """
    theta = multipliers(for_intent(before.own, before.intent))
    seen, step = _step(before, lesson, theta)
    moved = bounded(theta + step[:-1]) - theta
    after = replace(
        before,
        shared=weights(multipliers(before.shared) + SHARED * moved),
        own=weights(multipliers(before.own) + (1 - BY_INTENT) * moved),
        intent=tuple(float(value) for value in theta - multipliers(before.own) + BY_INTENT * moved),
        place=float(np.clip(before.place + step[-1], -FARTHEST_PLACE, FARTHEST_PLACE)),
        seen=tuple(seen.ravel().tolist()),
        version=before.version + 1,
    )
    return _watched(before, after, lesson)


def _step(
    before: LearningState, lesson: TrainingExample, theta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What has been seen, and the Newton step with what draws back to the start weights."""
    certain = np.diag([PRIOR] * len(LAYERS) + [PLACE_PRIOR])
    kept = _precision(before.seen, certain)
    gradient, hessian = lesson.slope(theta, before.place)
    seen = MEMORY * kept + (1 - MEMORY) * certain + hessian
    away = theta - 1.0
    step = np.asarray(np.linalg.solve(seen, -gradient), dtype=np.float64)
    step[:-1] = lesson.asked * (
        step[:-1] - DRAWN * away - DRAWN_FAR * np.sign(away) * np.maximum(np.abs(away) - FAR, 0.0)
    )
    return seen, np.asarray(
        step * min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-12)), dtype=np.float64
    )


def _precision(seen: Sequence[float], certain: NDArray[np.float64]) -> NDArray[np.float64]:
    """What was seen as a precision matrix; `certain`, the prior's, if it is none."""
    if len(seen) != certain.size or not np.isfinite(seen).all():
        return certain
    kept = np.array(seen).reshape(certain.shape)
    likely = (
        np.allclose(kept, kept.T)
        and np.abs(kept).max() <= MOST_SEEN
        and np.linalg.eigvalsh(kept).min() >= PRIOR / 2
    )
    return kept if likely else certain


def _watched(before: LearningState, after: LearningState, lesson: TrainingExample) -> LearningState:
    """The new state, or the last good one if the weights before this reply foretold its use worse than that for some time."""
    now, good = multipliers(for_intent(before.own, before.intent)), multipliers(before.good)
    lead = WATCHED * before.lead + (1 - WATCHED) * (
        lesson.loss(good, before.place) - lesson.loss(now, before.place)
    )
    if lead < TOO_FAR_BEHIND:
        return replace(after, own=before.good, intent=NO_OFFSET, seen=(), lead=0.0)
    if lead > 0 and after.version % CHECKED_EVERY == 0:
        return replace(after, good=after.own, lead=0.0)
    return replace(after, lead=lead)
