"""Statements about users with many facts, under row level security."""

import time
from collections.abc import Callable

from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.types import UserKey
from tests.conversation import closed
from tests.storage.contract.story import user_key

FACTS = 4000
"""Facts, each of a subject of its own."""

LONGEST_S = 0.5
"""Reading them all takes 10 ms; seeking one after the other took 2 s."""


def add_facts(conn: Connection, user: UserKey) -> None:
    numbers = list(range(FACTS))
    conn.execute(
        """INSERT INTO memories (user_key, public_id, text, subject, relation, object, kind,
               category, importance, hedged, negated, changes, single, said_at)
           SELECT ?, 'fact-' || k.value, 'A boat is red.', 'Boat ' || k.value, 'is', 'red',
               'fact', 'general', 1, 0, 0, 0, 0, 0
           FROM unnest(?) AS k (value)""",
        (user, numbers),
    )


async def test_known_subjects_are_read_at_once(postgres_url: Callable[[str], str]) -> None:
    async with closed(PostgresDatabase.open(postgres_url("18"))) as database:
        ana = await database.write_all(user_key, "ana")
        await database.write(add_facts, ana)
        started = time.monotonic()
        known = await database.read(queries.memories.known_subjects, ana, "Boat 17")
        assert time.monotonic() - started < LONGEST_S
        assert len(known.subjects) == FACTS
