"""The rule of the original design for layer weights, as a baseline.

    weight += rate · (share of the usage − 1 / layers searched)

A layer that was not searched does not change, nor does any after a reply that used nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from hotmem.types import ItemUse, Layer, UsageKind, Weights

LEAST: Final = 0.1
MOST: Final = 1.5

CREDIT: Final = {
    UsageKind.QUOTE: 1.0,
    UsageKind.REFERENCE: 0.8,
    UsageKind.INFLUENCE: 0.4,
    UsageKind.UNUSED: 0.0,
}
"""Credit of an item's usage for the layers that found it."""


def moved(
    weights: Weights, uses: Sequence[ItemUse], asked: Collection[Layer], rate: float
) -> Weights:
    """Return the weights after one reply.

    Args:
        weights: The weights before.
        uses: Usage of each item by the reply.
        asked: The layers searched.
        rate: Learning rate, 0 to 1.
    """
    credit: defaultdict[Layer, float] = defaultdict(float)
    for use in uses:
        for layer in use.item.layers:
            credit[layer] += CREDIT[use.kind] / len(use.item.layers)
    total = sum(credit.values())
    if not total or not asked:
        return weights
    even = 1 / len(asked)
    return Weights.from_dict(
        {
            layer: min(max(weight + rate * (credit[layer] / total - even), LEAST), MOST)
            if layer in asked
            else weight
            for layer, weight in weights.as_dict().items()
        }
    )
