"""Round trips of a recall, counted where it waits for results."""

from collections.abc import Iterator
from typing import Any

import pytest

from hotmem import Memory, Options, Turn
from hotmem.storage.database import Cursor
from hotmem.storage.postgres.connection import OPTIONS, Client, PostgresConnection, configure
from hotmem.types import Role
from tests.conversation import remember
from tests.storage.contract.story import NOW

SAID = (
    "My sister Beth works as a nurse in Lisbon.",
    "I live in Porto.",
    "I have moved to Braga.",
    "Next Friday I see the dentist in Braga.",
)


class Trips:
    """Counts how often a caller waits after it has sent statements."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._sent = False
        execute = PostgresConnection.execute

        def noting(conn: PostgresConnection, statements: str, bindings: object = None, /) -> Noted:
            self._sent |= "leases" not in statements  # the background work goes on meanwhile
            return Noted(self, execute(conn, statements, bindings))

        monkeypatch.setattr(PostgresConnection, "execute", noting)

    def wait(self) -> None:
        """Counts a trip if anything was sent since the last one."""
        self.count += self._sent
        self._sent = False


class Noted:
    """A cursor that says when its rows are wanted."""

    def __init__(self, trips: Trips, cursor: Cursor) -> None:
        self._trips, self._cursor = trips, cursor

    def fetchone(self) -> object:
        self._trips.wait()
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        self._trips.wait()
        return self._cursor.fetchall()

    def __iter__(self) -> Iterator[object]:
        self._trips.wait()
        yield from self._cursor


async def test_a_recall_after_a_new_turn_takes_five_round_trips(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Memory.open(url, Options()) as memory:

        async def say(number: int, text: str) -> None:
            await remember(memory, Turn("ana", "s", Role.USER, text, NOW, "Ana", f"t{number}"))

        for number, text in enumerate(SAID):
            await say(number, text)
        question = "Where do I live, and when do I see the dentist?"
        first = await memory.recall(question, user_id="ana", session_id="s2", at=NOW)
        await say(9, "My dentist is called Doctor Costa.")
        trips = Trips(monkeypatch)
        block = await memory.recall(question, user_id="ana", session_id="s2", at=NOW)
    assert trips.count <= 5, "profile and words, vectors, sessions, evidence, what superseded it"
    assert block.text != first.text and "Costa" in block.text


def test_statements_are_prepared_unless_there_is_a_pooler(url: str) -> None:
    with Client.connect(url, **OPTIONS) as conn:
        configure(conn)
        for _ in range(3):
            conn.execute("SELECT count(*) FROM hotmem.turns")
        prepared = conn.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        assert prepared is not None and prepared[0] >= 1
