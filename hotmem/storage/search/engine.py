"""Runs searches over one user's rows, with indexes kept in memory."""

from collections.abc import Mapping
from typing import Final

from hotmem.storage.database import Connection, Database, InlineDatabase, Pending
from hotmem.storage.search.index_cache import IndexCache
from hotmem.storage.search.searches import Ranking, Search, run
from hotmem.storage.search.user_index import IndexReader
from hotmem.types import EvidenceKind, UserKey
from hotmem.types.index_state import IndexState

NO_STATES: Final[Mapping[EvidenceKind, IndexState]] = {}


class SearchEngine:
    """Searches a database, keeping the indexes of the users searched last.

    Args:
        database: Loads indexes that are not in memory yet, in threads of its own.
        inline: Runs searches in the calling thread.
    """

    def __init__(self, database: Database, inline: InlineDatabase) -> None:
        self._database = database
        self._inline = inline
        self._indexes = IndexCache()

    async def search(
        self,
        user: UserKey,
        *searches: Search,
        until: float | None = None,
        states: Mapping[EvidenceKind, IndexState] = NO_STATES,
    ) -> list[Ranking]:
        """The ranking of each search, all in one read.

        An index that is not in memory is loaded first, in a thread of its own and without a
        deadline: other recalls do not wait for it, and a long load that was cut short would never
        complete.

        Args:
            user: The only user whose rows are searched.
            searches: What to search for.
            until: Reading of `time.monotonic()` at which the search stops; None for no deadline.
            states: The states of the user's indexes, read a moment ago (`states`).

        Raises:
            DeadlineExceeded: If the deadline passed.
        """
        for kind in dict.fromkeys(kind for search in searches for kind in search.reads):
            if not self._indexes.index(kind, user).loaded:
                await self._database.read(self._load, user, kind)
        return await self._inline.read_until(
            until,
            run,
            user,
            searches,
            lambda kind: IndexReader(self._indexes.index(kind, user), states.get(kind)),
        )

    def states(self, conn: Connection, user: UserKey) -> Pending[dict[EvidenceKind, IndexState]]:
        """The states of the user's indexes, which `search` would otherwise read one by one."""
        pending = {kind: self._indexes.index(kind, user).state(conn) for kind in EvidenceKind}
        return lambda: {kind: state() for kind, state in pending.items()}

    def _load(self, conn: Connection, user: UserKey, kind: EvidenceKind) -> None:
        self._indexes.index(kind, user).read(conn)

    def drop(self, user: UserKey) -> None:
        """Drops a user's indexes, which hold words that were asked for."""
        self._indexes.drop(user)
