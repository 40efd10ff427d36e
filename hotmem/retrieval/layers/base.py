"""What every layer offers."""

from collections.abc import Sequence
from typing import Protocol

from hotmem.types import Hit, Layer, Query


class LayerSearch(Protocol):
    """A way of retrieving."""

    @property
    def layer(self) -> Layer:
        """Which of the four it is."""
        ...

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """The layer's hits, best first within each kind; none where it finds nothing.

        Args:
            query: The analysed utterance.
            until: Reading of `time.monotonic()` at which the search must stop, or None.

        Raises:
            DeadlineExceeded: If `until` passed.
        """
        ...
