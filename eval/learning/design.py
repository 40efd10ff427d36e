"""The design's rule for layer weights, to compare with.

A layer whose items were used more than its even share gains, the others lose.

    weight += rate · (share of the use − 1 / layers asked)

A layer that was not asked learns nothing; a reply that used nothing teaches nothing. Rate 0.1, even
share and the bounds of 0.1 and 1.5 are the design's.
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
"""What an item's use is worth to the layers that found it."""


def moved(
    weights: Weights, uses: Sequence[ItemUse], asked: Collection[Layer], rate: float
) -> Weights:
    """The weights after one reply.

    Args:
        weights: The weights before.
        uses: How the reply used each item.
        asked: The layers that were asked.
        rate: Step, 0 to 1.
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
