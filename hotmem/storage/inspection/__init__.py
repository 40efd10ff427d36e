"""Reads one user's memory for the inspector; writes nothing."""

from collections.abc import Sequence
from datetime import date, datetime

from hotmem.storage.database import Database
from hotmem.storage.inspection import conversations, statements
from hotmem.types import Layer, Tally, UserKey
from hotmem.types.inspection import (
    Cursor,
    EntityGraph,
    EntityRow,
    MemoryDetails,
    MemoryFilter,
    MemoryRow,
    Page,
    RecallRow,
    RecordedItem,
    SessionRow,
    StoredWeight,
    Totals,
    TurnRow,
)


class Inspection:
    """One user's part of a database.

    Args:
        database: The database.
        user: The only user whose rows are read.
    """

    def __init__(self, database: Database, user: UserKey) -> None:
        self._db = database
        self.user = user

    async def totals(self) -> Totals:
        """Counts of the user's rows."""
        return await self._db.read(conversations.totals, self.user)

    async def zone(self) -> str | None:
        """The time zone of the last turn, if it is known."""
        return await self._db.read(conversations.zone, self.user)

    async def sessions(self, at: Cursor | None, rows: int) -> Page[SessionRow]:
        """The sessions, the latest first."""
        return await self._db.read(conversations.sessions, self.user, at, rows)

    async def session(self, key: int) -> SessionRow | None:
        """One session."""
        return await self._db.read(conversations.session, self.user, key)

    async def turns(self, session: int, at: Cursor | None, rows: int) -> Page[TurnRow]:
        """The turns of a session in order."""
        return await self._db.read(conversations.turns, self.user, session, at, rows)

    async def turn(self, key: int) -> TurnRow | None:
        """One turn."""
        return await self._db.read(conversations.turn, self.user, key)

    async def reply_to(self, session_id: str, first: datetime, last: datetime) -> TurnRow | None:
        """The bot's first turn of a session between two times."""
        return await self._db.read(conversations.reply_to, self.user, session_id, first, last)

    async def turns_mentioning(self, entity: int, at: Cursor | None, rows: int) -> Page[TurnRow]:
        """The turns that mention an entity, the latest first."""
        return await self._db.read(conversations.mentioning, self.user, entity, at, rows)

    async def turn_keys(self, ids: Sequence[str]) -> dict[str, int]:
        """Row numbers of turns by their ids."""
        return await self._db.read(conversations.turn_keys, self.user, ids)

    async def memories(self, wanted: MemoryFilter, at: Cursor | None, rows: int) -> Page[MemoryRow]:
        """The memories that pass a filter, the latest first."""
        return await self._db.read(statements.memories, self.user, wanted, at, rows)

    async def memory(self, key: int) -> MemoryDetails | None:
        """Everything about one memory."""
        return await self._db.read(statements.memory, self.user, key)

    async def memories_mentioning(self, entity: int, rows: int) -> list[MemoryRow]:
        """The memories that mention an entity, the latest first."""
        return await self._db.read(statements.mentioning, self.user, entity, rows)

    async def memories_by_key(self, keys: Sequence[int]) -> list[MemoryRow]:
        """The memories of row numbers, in this order."""
        return await self._db.read(statements.by_keys, self.user, keys)

    async def memories_by_id(self, ids: Sequence[str]) -> dict[str, MemoryRow]:
        """The memories of ids."""
        return await self._db.read(statements.by_names, self.user, ids)

    async def read_from(self, turn: int) -> list[MemoryRow]:
        """The memories extracted from a turn."""
        return await self._db.read(statements.read_from, self.user, turn)

    async def entities(self, begins: str, at: Cursor | None, rows: int) -> Page[EntityRow]:
        """The entities whose name has a prefix, the most mentioned first."""
        return await self._db.read(statements.entities, self.user, begins, at, rows)

    async def entity(self, key: int) -> EntityRow | None:
        """One entity."""
        return await self._db.read(statements.entity, self.user, key)

    async def beside(self, entity: int, rows: int) -> list[tuple[EntityRow, int]]:
        """The entities that most often occur together with one, and how often."""
        return await self._db.read(statements.beside, self.user, entity, rows)

    async def graph(self, most: int) -> EntityGraph:
        """The most mentioned entities, and which of them occur together."""
        return await self._db.read(statements.graph, self.user, most)

    async def recalls(self, at: Cursor | None, rows: int) -> Page[RecallRow]:
        """The recorded recalls, the latest first."""
        return await self._db.read(statements.recalls, self.user, at, rows)

    async def recall(self, key: int) -> RecallRow | None:
        """One recorded recall."""
        return await self._db.read(statements.recall, self.user, key)

    async def recalls_for(
        self, session_id: str, query: str, first: datetime, last: datetime
    ) -> list[RecallRow]:
        """The recalls of a turn's text in its session between two times."""
        return await self._db.read(
            statements.recalls_for, self.user, session_id, query, first, last
        )

    async def items(self, recall: int) -> list[RecordedItem]:
        """The items of a recorded recall, in block order."""
        return await self._db.read(statements.items, self.user, recall)

    async def quality(
        self, letters: int, first: date | None
    ) -> dict[str, dict[Layer | None, Tally]]:
        """The quality record from a day on, by period and layer, the earliest first.

        A period is a prefix of an ISO date of so many characters. None is the first day.
        """
        return await self._db.read(statements.quality, self.user, letters, first)

    async def weights(self) -> list[StoredWeight]:
        """The stored layer weights."""
        return await self._db.read(statements.weights, self.user)
