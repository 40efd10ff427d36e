"""Which layers an utterance is worth.

The table is the starting policy; measurement may change it.
"""

from collections.abc import Mapping
from typing import Final

from hotmem.types import Complexity, Intent, Layer

BASE: Final = (Layer.FACTS, Layer.SEMANTIC, Layer.VERBATIM)
"""Asked for whatever needs memory."""

SESSIONS_FOR_INTENT: Final = frozenset({Intent.SUMMARY, Intent.PATTERN, Intent.TIME})
SESSIONS_FROM: Final[Mapping[Complexity, bool]] = {
    Complexity.LOW: False,
    Complexity.MEDIUM: True,
    Complexity.HIGH: True,
}


def choose_layers(
    intent: Intent,
    complexity: Complexity,
    *,
    timed: bool,
    ambiguous: bool,
    needs_memory: bool = True,
) -> tuple[Layer, ...]:
    """The layers to ask, in the order of `Layer`.

    Args:
        intent: What the utterance asks for.
        complexity: How much of the memory it needs.
        timed: Whether it names a time.
        ambiguous: Whether it points outside itself.
        needs_memory: False for chit-chat, which asks no layer.
    """
    if not needs_memory:
        return ()
    sessions = timed or ambiguous or intent in SESSIONS_FOR_INTENT or SESSIONS_FROM[complexity]
    return tuple(layer for layer in Layer if layer in BASE or sessions)
