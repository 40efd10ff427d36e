"""What advice is made of: each query sees the user's own rows and nothing else."""

from datetime import timedelta
from typing import Final

from hotmem.readings import find_effect, store_note
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.types import Category, JobKind, Kind, NewMemory, Revision, UserKey
from hotmem.understanding.extraction.proposals import RELATIONS
from tests.letters import NO_SIGNS, LetterEncoder
from tests.storage.contract.story import ENCODER, NOW, note
from tests.storage.contract.test_reading import store

DAY: Final = timedelta(days=1)
TEXT: Final = "Skipper lives in Oban."
FACT: Final = RELATIONS["lives in"].statement("Skipper", "Oban", TEXT, 0, len(TEXT))


async def test_open_conflicts_and_latest_memories(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    old = await database.write_all(note, "Skipper lives in Leith.", ana)
    await database.write_all(note, "Ben lives in Bath.", ben)
    assert await database.read(queries.advice.open_conflicts, ana, 9) == []

    def contradict(conn: Connection) -> str:
        new = NewMemory(TEXT, Kind.FACT, Category.CONTEXTS, 3)
        vector = LetterEncoder().encode([TEXT])[0]
        doubts = Revision(doubts=(old,), reason="a test")
        stored = store_note(conn, ENCODER, "ana", new, vector, NO_SIGNS, NOW, "a test", doubts)
        return stored.id

    other = await database.write_all(note, "Skipper rows.", ana)
    compared = await database.read(queries.advice.latest, ana, 9)
    assert compared.ids == (other, old) and compared.vectors.shape == (2, LetterEncoder.dimension)
    new = await database.write_all(contradict)
    (conflict,) = await database.read(queries.advice.open_conflicts, ana, 9)
    assert (conflict.id, conflict.text, conflict.by) == (old, "Skipper lives in Leith.", TEXT)
    assert (conflict.said_at, conflict.at) == (NOW, NOW)
    assert await database.read(queries.advice.open_conflicts, ben, 9) == []
    assert (await database.read(queries.advice.latest, ana, 9)).ids == (new, other)


async def test_a_statement_has_no_effect_on_its_own_memory(
    database: Database, ana: UserKey
) -> None:
    def store(conn: Connection, user: UserKey) -> str:
        new = NewMemory(TEXT, Kind.FACT, Category.CONTEXTS, 3, states=(FACT,))
        return queries.new_memories.insert(conn, user, new, None, NO_SIGNS, NOW, "a test")

    name = await database.write(store, ana)
    given = FACT, NOW + DAY, None
    assert (await database.read(find_effect, ana, *given)).confirms == name
    assert (await database.read(find_effect, ana, *given, name)).confirms is None


async def test_reminders_growth_and_unused_memories(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write(store, ana, "Water the plants.", Kind.REMINDER)
    await database.write_all(note, "The heron likes fish.", ana)
    await database.write(store, ben, "Sing.", Kind.REMINDER)
    (key,) = await database.read(queries.advice.reminders, ana, 9)
    assert key in await database.read(queries.memories.stored_reminders, ana, 9)
    grown = queries.advice.grown
    assert await database.read(grown, ana, 1) == {Category.CONTEXTS: 1, Category.REMINDERS: 1}
    assert await database.read(grown, ana, 2) == {}
    assert await database.read(queries.advice.unused, ana, NOW + DAY) == (2, 2, 0)
    assert await database.read(queries.advice.unused, ana, NOW) == (0, 0, 0)


async def test_jobs_set_aside_are_counted_and_reset_by_user(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for user in (ana, ben):
        await database.write_all(
            queries.job_failures.record, JobKind.CATEGORY, "contexts", "OSError", 1, 1.0, NOW, user
        )
    assert await database.read(queries.advice.set_aside, ana) == {JobKind.CATEGORY: 1}
    assert await database.write(queries.job_failures.reset, ana) == 1
    assert await database.read(queries.advice.set_aside, ana) == {}
    assert await database.read(queries.advice.set_aside, ben) == {JobKind.CATEGORY: 1}
