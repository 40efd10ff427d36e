"""The protocol of a layer."""

from collections.abc import Sequence
from typing import Protocol

from hotmem.types import Hit, Layer, Query


class LayerSearch(Protocol):
    """A layer: a way to search the memory."""

    @property
    def layer(self) -> Layer:
        """Its name."""
        ...

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Search the layer.

        Args:
            query: The analysed utterance.
            until: Reading of `time.monotonic()` at which the search must stop, or None.

        Returns:
            Its hits, best first within each kind.

        Raises:
            DeadlineExceeded: If `until` passed.
        """
        ...
