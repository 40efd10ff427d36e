"""Reads one user's memory for the inspector; writes nothing."""

from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from hotmem.storage.database import Database, OfUser
from hotmem.types import UserKey

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Inspection:
    """One user's part of a database.

    Attributes:
        database: The database.
        user: The only user whose rows are read.
    """

    database: Database
    user: UserKey

    async def read(self, operation: OfUser[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a query function about the user, such as those of `conversations`.

        Args:
            operation: Takes the connection and the user, then its other arguments.
            args: Its other arguments.
            kwargs: The same, by name.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self.database.read(operation, self.user, *args, **kwargs)
