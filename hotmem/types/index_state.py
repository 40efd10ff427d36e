"""The state of a user's search index."""

from typing import NamedTuple


class IndexState(NamedTuple):
    """What decides whether a loaded index is current.

    Attributes:
        last: Row number of the last entry; 0 if there is none.
        revision: Number of changes other than new entries.
        waiting_embedded: Whether the entry asked about as the first without a vector has one now.
        latest_embedded: The same of the last entry without a vector.
        boundary: Row number up to which vectors are of the former encoder; 0 if none are.
    """

    last: int
    revision: int
    waiting_embedded: bool
    latest_embedded: bool
    boundary: int

    @classmethod
    def of(cls, row: tuple[int, int, object, object, int]) -> "IndexState":
        """The state from a row of an engine's statement."""
        last, revision, waiting, latest, boundary = row
        return cls(last, revision, bool(waiting), bool(latest), boundary)
