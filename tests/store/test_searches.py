"""The searches of a layer, through the store: in one read, each in its order, within the user's rows."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem.errors import DeadlineExceeded
from hotmem.store.searches import ByEntities, ByMeaning, ByWords, InSessions
from hotmem.store.store import Store
from hotmem.types import EvidenceKind
from tests.conversation import said
from tests.letters import NO_SIGNS, LetterEncoder

NOW = datetime(2026, 3, 2, tzinfo=UTC)


async def told(path: Path) -> Store:
    """Two users' passages, embedded."""
    store = Store.open(path)
    await store.adopt_encoder(LetterEncoder.name, LetterEncoder.dimension)
    for user in ("ana", "ben"):
        for number, text in enumerate(("The ferry is late.", "The dog barks.", "We took the ferry.")):
            await store.add_turn(said(text, user=user, session=f"session {number % 2}", name=str(number)), NOW)
    for kind, key, text in await store.waiting_for_vectors(10):
        await store.put_vectors(kind, [key], list(LetterEncoder().encode([text])), [NO_SIGNS])
    return store


async def test_each_search_has_its_own_ranking(database: Path) -> None:
    store = await told(database)
    ben = await store.user("ben")
    assert ben is not None
    vector = LetterEncoder().encode(["Ana: The dog barks."])[0]
    by_words, by_session, nearest, inside, by_name = await store.search(
        ben,
        ByWords(EvidenceKind.PASSAGE, ["ferries"], 5),
        ByWords(EvidenceKind.SUMMARY, ["ferries"], 5),
        ByMeaning(EvidenceKind.PASSAGE, vector, 2),
        InSessions(range(1, 20), vector, 5),
        ByEntities(["Porto"], 5),
    )
    assert {key for key, _ in by_words} == {4, 6} and len(by_session) == 1
    assert nearest[0][0] == 5 and nearest[0][1] > 0.99 and len(nearest) == 2
    assert {key for key, _ in inside} == {4, 5, 6} and by_name == []
    await store.close()


async def test_the_index_comes_into_memory_though_the_search_is_late(database: Path) -> None:
    store = await told(database)
    ana = await store.user("ana")
    assert ana is not None
    search = ByWords(EvidenceKind.PASSAGE, ["ferry"], 5)
    with pytest.raises(DeadlineExceeded):
        await store.search(ana, search, until=time.monotonic() - 1)
    assert store._shelf.index(EvidenceKind.PASSAGE, ana).loaded
    ((first, _),) = (await store.search(ana, ByWords(EvidenceKind.PASSAGE, ["dog"], 5)))[0]
    assert first == 2
    await store.close()


async def test_what_another_process_adds_and_forgets_is_known_at_once(database: Path) -> None:
    store = await told(database)
    other = Store.open(database)
    ana = await store.user("ana")
    assert ana is not None
    search = ByWords(EvidenceKind.PASSAGE, ["ferry"], 5)
    assert len((await store.search(ana, search))[0]) == 2
    await other.add_turn(said("The last ferry!", session="session 1"), NOW)
    assert len((await store.search(ana, search))[0]) == 3
    await other.forget(ana, session_id="session 0")
    assert len((await store.search(ana, search))[0]) == 1
    await other.close()
    await store.close()
