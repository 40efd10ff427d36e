"""A cache of users' row numbers by their ids."""

from threading import Lock
from typing import Final

from cachetools import LRUCache

from hotmem.types import UserKey

KEPT: Final = 1024
"""Users remembered."""


class UserKeys:
    """Row numbers of the users seen last. Thread-safe.

    An erased user who returns gets another row number: a caller of a cached one checks in its
    own read that it is still the user's.
    """

    def __init__(self) -> None:
        self._keys: LRUCache[str, UserKey] = LRUCache(KEPT)
        self._lock = Lock()

    def get(self, user_id: str) -> UserKey | None:
        """The row number, if it is known."""
        with self._lock:
            return self._keys.get(user_id)

    def put(self, user_id: str, key: UserKey) -> None:
        """Remembers a row number."""
        with self._lock:
            self._keys[user_id] = key

    def drop(self, user_id: str) -> None:
        """Forgets a row number."""
        with self._lock:
            self._keys.pop(user_id, None)
