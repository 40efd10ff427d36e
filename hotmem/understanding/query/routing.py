"""Query routing: the layers to query for an utterance."""

from typing import Final

from hotmem.types import Complexity, Intent, Layer

BASE: Final = (Layer.FACTS, Layer.SEMANTIC, Layer.VERBATIM)
"""Layers queried whenever memory is needed."""

SESSIONS_FOR_INTENT: Final = frozenset({Intent.SUMMARY, Intent.PATTERN, Intent.TIME})
SESSIONS_FOR_COMPLEXITY: Final = frozenset({Complexity.MEDIUM, Complexity.HIGH})


def choose_layers(
    intent: Intent,
    complexity: Complexity,
    *,
    timed: bool,
    ambiguous: bool,
    needs_memory: bool = True,
) -> tuple[Layer, ...]:
    """Choose the layers to query, in the order of `Layer`.

    Args:
        intent: The utterance's intent.
        complexity: Its complexity.
        timed: Whether it mentions a time.
        ambiguous: Whether it has ambiguous words.
        needs_memory: Whether memory can help; if not, no layer is queried.
    """
    if not needs_memory:
        return ()
    sessions = (
        timed or ambiguous or intent in SESSIONS_FOR_INTENT or complexity in SESSIONS_FOR_COMPLEXITY
    )
    return tuple(layer for layer in Layer if layer in BASE or sessions)
