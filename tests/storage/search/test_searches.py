"""The searches of a layer, through the store.

In one read, each in its order, within the user's rows.
"""

import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem import Memory
from hotmem.errors import DeadlineExceeded
from hotmem.models import Language
from hotmem.storage import Storage, open_storage, queries, steps
from hotmem.storage.queries import event_times
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search import searches
from hotmem.storage.search.searches import (
    EntitySearch,
    HappenedIn,
    LexicalSearch,
    SaidIn,
    SessionSearch,
    VectorSearch,
)
from hotmem.storage.sqlite.connection import connect
from hotmem.types import EvidenceKind, Interval, QueryVectors
from hotmem.types.maintenance import ForgetSession
from tests.conversation import said
from tests.letters import NO_SIGNS, LetterEncoder

ENCODER = queries.reembedding.identified(LetterEncoder.name, LetterEncoder.dimension)
SERVED = UserRotation()

NOW = datetime(2026, 3, 2, tzinfo=UTC)


async def told(path: Path) -> Storage:
    """Two users' passages, embedded."""
    storage = open_storage(path)
    await steps.adopt_encoder(storage.database, LetterEncoder.name, LetterEncoder.dimension)
    for user in ("ana", "ben"):
        for number, text in enumerate(
            ("The ferry is late.", "The dog barks.", "We took the ferry.")
        ):
            await storage.database.write_all(
                queries.turns.add,
                said(text, user=user, session=f"session {number % 2}", name=str(number)),
                NOW,
            )
    for kind, key, text in await storage.database.read_all(
        queries.embedding.waiting, ENCODER, 10, SERVED
    ):
        await storage.database.write_all(
            queries.embedding.put,
            ENCODER,
            [(kind, key, text)],
            list(LetterEncoder().encode([text])),
            [NO_SIGNS],
        )
    return storage


async def test_each_search_has_its_own_ranking(database: Path) -> None:
    storage = await told(database)
    ben = await storage.database.read_all(queries.users.find, "ben")
    assert ben is not None
    vector = LetterEncoder().encode(["Ana: The dog barks."])[0]
    by_words, by_session, nearest, inside, by_name = await storage.engine.search(
        ben,
        LexicalSearch(EvidenceKind.PASSAGE, ["ferries"], 5),
        LexicalSearch(EvidenceKind.SUMMARY, ["ferries"], 5),
        VectorSearch(EvidenceKind.PASSAGE, QueryVectors(vector), 2),
        SessionSearch(range(1, 20), QueryVectors(vector), 5),
        EntitySearch(["Porto"], 5),
    )
    assert {key for key, _ in by_words} == {4, 6} and len(by_session) == 1
    assert nearest[0][0] == 5 and nearest[0][1] > 0.99 and len(nearest) == 2
    assert {key for key, _ in inside} == {4, 5, 6} and by_name == []
    await storage.database.close()


async def test_the_index_comes_into_memory_though_the_search_is_late(database: Path) -> None:
    storage = await told(database)
    ana = await storage.database.read_all(queries.users.find, "ana")
    assert ana is not None
    search = LexicalSearch(EvidenceKind.PASSAGE, ["ferry"], 5)
    with pytest.raises(DeadlineExceeded):
        await storage.engine.search(ana, search, until=time.monotonic() - 1)
    assert storage.engine._indexes.index(EvidenceKind.PASSAGE, ana).loaded
    ((first, _),) = (
        await storage.engine.search(ana, LexicalSearch(EvidenceKind.PASSAGE, ["dog"], 5))
    )[0]
    assert first == 2
    await storage.database.close()


async def test_what_another_process_adds_and_forgets_is_known_at_once(database: Path) -> None:
    storage = await told(database)
    other = open_storage(database)
    ana = await storage.database.read_all(queries.users.find, "ana")
    assert ana is not None
    search = LexicalSearch(EvidenceKind.PASSAGE, ["ferry"], 5)
    assert len((await storage.engine.search(ana, search))[0]) == 2
    await other.database.write_all(
        queries.turns.add, said("The last ferry!", session="session 1"), NOW
    )
    assert len((await storage.engine.search(ana, search))[0]) == 3
    await other.forgetting.forget(ana, ForgetSession("session 0"))
    assert len((await storage.engine.search(ana, search))[0]) == 1
    await other.database.close()
    await storage.database.close()


def days(first: int, last: int) -> Interval:
    """From midnight of the first day of March to that of the last."""
    return Interval(datetime(2026, 3, first, tzinfo=UTC), datetime(2026, 3, last, tzinfo=UTC))


async def planned(path: Path, encoder: LetterEncoder, language: Language) -> Storage:
    """Two users' plans of three days, told on the second of March."""
    async with Memory.open(path, encoder=encoder, language=language) as memory:
        for user in ("ana", "ben"):
            for number, text in enumerate(
                ("Tomorrow I will see the dentist.", "On Friday I will see Rui.", "The dog barks.")
            ):
                await memory.remember(
                    said(
                        text,
                        user=user,
                        session=f"day {number}",
                        minutes=number * 24 * 60,
                        name=f"{user}-{number}",
                    )
                )
        await memory.settle()
    return open_storage(path)


async def test_what_was_said_and_what_happens_in_a_window_is_the_users_own(
    database: Path, language: Language
) -> None:
    storage = await planned(database, LetterEncoder(), language)
    ben = await storage.database.read_all(queries.users.find, "ben")
    assert ben is not None
    vector = LetterEncoder().encode(["Ana: The dog barks."])[0]
    spoken, happening, of_memories, nothing = await storage.engine.search(
        ben,
        SaidIn(EvidenceKind.PASSAGE, days(3, 5), QueryVectors(vector), 9),
        HappenedIn(EvidenceKind.PASSAGE, days(3, 4), 9),
        HappenedIn(EvidenceKind.MEMORY, days(3, 7), 9),
        SaidIn(EvidenceKind.PASSAGE, days(20, 25), QueryVectors(vector), 9),
    )

    async def texts(kind: EvidenceKind, ranking: list[tuple[int, float]]) -> list[str]:
        return [
            found.text
            for key, _ in ranking
            for found in await storage.database.read(queries.evidence.load, ben, {kind: [key]})
        ]

    assert await texts(EvidenceKind.PASSAGE, spoken) == [
        "The dog barks.",
        "On Friday I will see Rui.",
    ]
    assert await texts(EvidenceKind.PASSAGE, happening) == ["Tomorrow I will see the dentist."]
    assert len(await texts(EvidenceKind.MEMORY, of_memories)) == len(of_memories) == 2
    assert nothing == []
    (limited,) = await storage.engine.search(ben, HappenedIn(EvidenceKind.PASSAGE, days(1, 9), 1))
    assert len(limited) == 1
    await storage.database.close()


@pytest.mark.parametrize("kind", [EvidenceKind.PASSAGE, EvidenceKind.MEMORY])
async def test_a_window_is_read_through_an_index(
    kind: EvidenceKind, database: Path, language: Language
) -> None:
    """Nothing of what is read grows with the rest of the memory."""
    await (await planned(database, LetterEncoder(), language)).database.close()
    values = dict.fromkeys(("user", "start", "end", "longest", "earliest", "limit", "most"), 1)
    with closing(connect(database)) as conn:
        for sql in (event_times.of_kind(event_times.IN_WINDOW, kind), searches.ROWS[kind]):
            plan = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
            assert any(step.startswith("SEARCH") and "(user_key=? AND" in step for step in plan), (
                plan
            )
            assert not any(
                step.startswith("SCAN") and not step.startswith("SCAN t") for step in plan
            ), plan
