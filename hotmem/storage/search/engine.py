"""Runs searches over one user's rows, with indexes kept in memory."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from hotmem.storage.database import Connection, Database, InlineDatabase, Pending
from hotmem.storage.search.searches import IndexOf, Ranking, Search, run, run_all
from hotmem.storage.search.user_index import IndexCache, IndexReader
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import EvidenceKind, UserKey
from hotmem.types.recall import IndexState

NO_STATES: Final[Mapping[EvidenceKind, IndexState]] = {}


class Asked(NamedTuple):
    """Searches that wait to be run with others.

    Attributes:
        searches: The searches.
        until: Reading of `time.monotonic()` at which they stop; None for no deadline.
        index_of: The user's indexes.
        rankings: Gets their rankings.
    """

    searches: Sequence[Search]
    until: float | None
    index_of: IndexOf
    rankings: asyncio.Future[list[Ranking]]


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
        self._asked: dict[tuple[asyncio.AbstractEventLoop, UserKey], list[Asked]] = {}
        self._running: set[asyncio.Task[None]] = set()

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
        if self._inline.joins_reads:
            return await self._joined(user, searches, until, states)
        return await self._inline.read_until(until, run, user, searches, self.indexes(user, states))

    async def _joined(
        self,
        user: UserKey,
        searches: Sequence[Search],
        until: float | None,
        states: Mapping[EvidenceKind, IndexState],
    ) -> list[Ranking]:
        """The rankings, in one read with the searches that other layers ask for meanwhile."""
        loop = asyncio.get_running_loop()
        asked = Asked(searches, until, self.indexes(user, states), loop.create_future())
        together = self._asked.setdefault((loop, user), [])
        together.append(asked)
        if len(together) == 1:
            task = loop.create_task(self._run_asked(loop, user), name="hotmem-searches")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await asked.rankings

    async def _run_asked(self, loop: asyncio.AbstractEventLoop, user: UserKey) -> None:
        together = self._asked.pop((loop, user))
        limits = [asked.until for asked in together if asked.until is not None]
        try:
            found = await self._inline.read_until(
                min(limits, default=None),
                run_all,
                user,
                [(asked.searches, asked.index_of) for asked in together],
            )
        except Exception as error:  # each layer reports it as its own
            for asked in together:
                if not asked.rankings.done():
                    asked.rankings.set_exception(error)
        else:
            for asked, rankings in zip(together, found, strict=True):
                if not asked.rankings.done():
                    asked.rankings.set_result(rankings)

    def indexes(
        self, user: UserKey, states: Mapping[EvidenceKind, IndexState] = NO_STATES
    ) -> IndexOf:
        """The user's indexes for searches in other threads; they are loaded where needed."""
        return lambda kind: IndexReader(self._indexes.index(kind, user), states.get(kind))

    def states(
        self, conn: Connection, user: UserKey, text: str
    ) -> Pending[dict[EvidenceKind, IndexState]]:
        """The states of the user's indexes, which `search` would otherwise read one by one.

        Where a read costs a round trip, what a search for this text needs comes with them.
        """
        words = stems(text, conn.search.language) - STOP_STEMS
        pending: dict[EvidenceKind, Pending[IndexState]] = {}
        for kind in EvidenceKind:
            index = self._indexes.index(kind, user)
            if self._inline.joins_reads and index.loaded:
                sought = () if kind is EvidenceKind.SUMMARY else words
                pending[kind] = index.state_and_more(conn, sought)
            else:
                pending[kind] = index.state(conn)
        return lambda: {kind: state() for kind, state in pending.items()}

    def _load(self, conn: Connection, user: UserKey, kind: EvidenceKind) -> None:
        self._indexes.index(kind, user).read(conn)

    def drop(self, user: UserKey) -> None:
        """Drops a user's cached indexes, which contain search terms."""
        self._indexes.drop(user)
