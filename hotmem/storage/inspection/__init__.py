"""Reads one user's memory for the inspector; writes nothing."""

from typing import ParamSpec, TypeVar

from hotmem.storage.database import Database, OfUser
from hotmem.types import UserKey

P = ParamSpec("P")
T = TypeVar("T")


class Inspection:
    """One user's part of a database.

    Args:
        database: The database.
        user: The only user whose rows are read.
    """

    def __init__(self, database: Database, user: UserKey) -> None:
        self._db = database
        self.user = user

    async def read(self, query: OfUser[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of a query function of this package."""
        return await self._db.read(query, self.user, *args, **kwargs)
