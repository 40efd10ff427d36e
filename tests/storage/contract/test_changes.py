"""Changes of stored memories: merges, tags, accesses, and a change of the encoder."""

import asyncio
from collections.abc import Sequence
from threading import Event
from typing import Final

import pytest

from hotmem.errors import HotMemError, InvalidInput
from hotmem.models.encoder import Vectors
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.inspection import statements
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search import vectors
from hotmem.storage.search.searches import LexicalSearch, VectorSearch
from hotmem.text.tag_words import tag_key
from hotmem.types import (
    Category,
    EvidenceKind,
    JobKind,
    Kind,
    NewMemory,
    QueryVectors,
    UserKey,
)
from hotmem.types.inspection import MemoryFilter
from tests.letters import NO_SIGNS, LetterEncoder
from tests.storage.contract.story import (
    ENCODER,
    NOW,
    embed,
    note,
    passages,
    say,
    user_key,
)

PASSAGE, MEMORY = EvidenceKind.PASSAGE, EvidenceKind.MEMORY
SECOND_ENCODER: Final = queries.reembedding.identified("reversed", LetterEncoder.dimension)


def reversed_rows(texts: Sequence[str]) -> Vectors:
    """The vectors of another encoder."""
    return LetterEncoder().encode([text[::-1] for text in texts])


def reembed(conn: Connection) -> int:
    """Embed rows with former vectors again; return how many."""
    done = 0
    while texts := queries.reembedding.following(conn, 2):
        for one in texts:
            rows = list(reversed_rows([one[2]]))
            queries.embedding.put(conn, SECOND_ENCODER, [one], rows, [NO_SIGNS], anew=True)
        done += len(texts)
    queries.embedding.finish(conn, SECOND_ENCODER)
    return done


async def test_rows_are_embedded_again_by_one_worker(database: Database) -> None:
    await database.write_all(say, "A heron.")
    await database.write_all(embed)
    assert await database.write_all(vectors.adopt, "reversed", LetterEncoder.dimension)
    claim, first, other = queries.claims.claim_again, "1", "2"
    rows = await database.write_all(claim, first, 9)
    assert rows and await database.write_all(claim, other, 9) is None
    kind, keys = rows[0][0], [key for _, key, _ in rows]
    finish, skip = queries.claims.finish_all, queries.embedding.skip
    encoder = SECOND_ENCODER
    await database.write_all(finish, first, JobKind(kind), skip, encoder, kind, keys)
    assert await database.write_all(claim, other, 9) == []


async def test_a_merge_hides_memories_until_it_is_undone(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    first = await database.write_all(note, "The heron likes fish.", ana)
    other = await database.write_all(note, "The heron likes fresh fish.", ana)
    theirs = await database.write_all(note, "The heron likes fish.", ben)
    search = LexicalSearch(MEMORY, ["heron"], 9)
    with pytest.raises(HotMemError):
        await database.write(queries.decisions.merge, ana, first, [theirs], "a test", NOW)
    decision = await database.write(queries.decisions.merge, ana, first, [other], "a test", NOW)
    assert len((await storage.engine.search(ana, search))[0]) == 1
    with pytest.raises(HotMemError):
        await database.write(queries.undoing.undo, ben, decision, NOW)
    assert (await database.write(queries.undoing.undo, ana, decision, NOW)).restored == 1
    assert len((await storage.engine.search(ana, search))[0]) == 2
    assert len((await storage.engine.search(ben, search))[0]) == 1


async def test_ids_are_found_by_their_beginning(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    name = await database.write_all(note, "The heron likes fish.", ana)
    whole = queries.times.whole
    assert await database.read(whole, ana, "memories", name[:12]) == name
    assert await database.read(whole, ana, "memories", name) == name
    assert await database.read(whole, ben, "memories", name[:12]) == name[:12]
    assert await database.read(whole, ana, "memories", name[:4]) == name
    assert await database.read(whole, ana, "memories", name[:3]) == name[:3]
    assert await database.read(queries.times.row_of, ben, "memories", name) is None


async def test_accesses_are_counted_for_their_user(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    name = await database.write_all(note, "The heron likes fish.", ana)
    await database.write(queries.memories.record_access, ana, [name], NOW)
    await database.write(queries.memories.record_access, ben, [name], NOW)
    page = await database.read_all(
        lambda conn: conn.search.index_page(conn, ana, MEMORY, 0, 9)().keys.tolist()
    )
    (found,) = (await database.read(queries.new_memories.metadata, ana, page)).values()
    assert (found.accesses, found.accessed_at) == (1, NOW)
    assert await database.read(queries.new_memories.metadata, ben, page) == {}


async def test_tags_in_use(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(note, "The heron likes fish.", ana, tags=["birds", "fish"])
    await database.write_all(note, "The boat leaks.", ben, tags=["boats"])
    names, rows = await database.read(queries.tags.in_use, ana, 9)
    assert sorted(names) == ["birds", "fish"] and rows.shape == (2, LetterEncoder.dimension)
    assert await database.read(queries.tags.unembedded, ana, 9) == []
    uses, _ = await database.read(queries.tags.counted, ana, 9)
    assert len(uses) == 2


async def test_a_found_tag_is_shown_once_a_second_memory_has_it(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    async def shown() -> tuple[dict[str, int], list[tuple[str, ...]]]:
        listed = await database.read(statements.memories, ana, MemoryFilter(NOW), None, 9)
        details = [await database.read(statements.memory, ana, row.key) for row in listed.rows]
        stats = await database.read(queries.maintenance.stats, ana)
        return dict(stats.tags), [one.tags for one in details[::-1] if one]

    await database.write_all(note, "The heron fishes.", ana, tags=["birds"], found_tags=["heron"])
    await database.write_all(note, "A heron!", ben, found_tags=["heron"])
    assert await shown() == ({"birds": 1}, [("birds",)])
    await database.write_all(note, "Two birds.", ana, found_tags=["fowl", "heron"])
    assert await shown() == ({"heron": 2, "birds": 1}, [("birds", "heron"), ("heron",)])
    uses, _ = await database.read(queries.tags.counted, ana, 9)
    keys = {use.name: use.key for use in uses}
    merged = [(keys["fowl"], keys["birds"])]
    decision, archived = await database.write(
        queries.tags.consolidate, ana, merged, NOW, "a test", NOW
    )
    assert archived == 0
    assert await shown() == ({"birds": 2, "heron": 2}, [("birds", "heron"), ("birds", "heron")])
    records = await database.read(queries.export_rows.memories, ana, 0, 9, 2**62)
    assert [(one.tags, one.found_tags) for _, one in records] == [
        (("birds",), ("heron",)),
        ((), ("birds", "heron")),
    ]
    await database.write(queries.undoing.undo, ana, decision, NOW)
    assert (await shown())[0] == {"heron": 2, "birds": 1}


async def test_a_tag_that_was_given_stays_given(database: Database, ana: UserKey) -> None:
    name = await database.write_all(note, "The heron fishes.", ana, found_tags=["heron"])
    for tags, found in ((("heron",), ()), ((), ("heron",))):
        again = NewMemory("x", Kind.FACT, Category.CONTEXTS, 3, tags=tags, found_tags=found)
        confirm = queries.new_memories.confirm
        assert await database.write(confirm, ana, ENCODER, name, again, NOW, "a test")
        ((_, record),) = await database.read(queries.export_rows.memories, ana, 0, 9, 2**62)
        assert (record.tags, record.found_tags) == (("heron",), ())


async def test_a_found_tag_with_a_known_key_is_merged(database: Database, ana: UserKey) -> None:
    first = await database.write_all(note, "The shed.", ana, found_tags=["shed", "frontend"])
    await database.write_all(note, "A shed.", ana)
    (_, (key, _)) = await database.read(queries.export_rows.memories, ana, 0, 9, 2**62)
    found = ["garden shed", "front end"]
    await database.write(queries.tags.attach_found, ana, key, found, NOW)
    await database.write_all(note, "Tired.", ana, tags=["Front-end"])
    tags = (await database.read(queries.maintenance.stats, ana)).tags
    assert tags == {"shed": 2, "frontend": 2, "Front-end": 1}
    names = await database.read(queries.tags.with_keys, ana, [tag_key("front end")])
    assert names == {tag_key("front end"): "frontend"}
    await database.write_all(note, "The user's word.", ana, tags=["front end"])
    tags = (await database.read(queries.maintenance.stats, ana)).tags
    assert tags == {"shed": 2, "front end": 2, "Front-end": 1}, "what is given is kept as given"
    await database.write(queries.forget.remove_memory, ana, first)
    records = await database.read(queries.export_rows.memories, ana, 0, 9, 2**62)
    assert [one.found_tags for _, one in records] == [("front end", "garden shed", "shed"), (), ()]


async def test_all_rows_are_embedded_again_for_another_encoder(
    storage: Storage, second: Database, ana: UserKey
) -> None:
    database = storage.database
    await database.write_all(say, "The ferry is late.", "A heron stands here.", "It rains.")
    await database.write_all(embed)
    assert await database.write_all(vectors.adopt, "reversed", LetterEncoder.dimension)
    assert not await second.write_all(vectors.adopt, "reversed", LetterEncoder.dimension)
    assert await second.read_all(queries.reembedding.current) == SECOND_ENCODER
    assert await database.read_all(queries.embedding.superseded, ENCODER)
    assert not await database.write_all(queries.reembedding.is_current, ENCODER)
    assert await database.read_all(queries.reembedding.former_encoder) == ENCODER
    assert await database.read_all(queries.embedding.waiting, ENCODER, 9, UserRotation()) == []
    assert await database.read_all(queries.reembedding.left) == 3
    keys = await database.read(passages, ana)
    assert await database.read_all(queries.reembedding.boundary, PASSAGE) == keys[-1]
    both = QueryVectors(
        reversed_rows(["Skipper: It rains."])[0], LetterEncoder().encode(["Skipper: It rains."])[0]
    )
    search = VectorSearch(PASSAGE, both, 1)
    ((key, _),) = (await storage.engine.search(ana, search))[0]
    assert key == keys[2], "by the former encoder"
    assert await second.write_all(reembed) == 3
    ((key, score),) = (await storage.engine.search(ana, search))[0]
    assert key == keys[2] and score == pytest.approx(1, abs=1e-2)
    assert await database.read_all(queries.reembedding.left) == 0
    assert await database.read_all(queries.reembedding.former_encoder) is None
    assert await database.read_all(lambda conn: queries.reembedding.ask_boundaries(conn)()) == {}


async def test_a_change_of_encoder_waits_for_vectors_that_are_being_stored(
    database: Database, second: Database, ana: UserKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, changed, current = Event(), Event(), queries.reembedding.current

    def current_for_a_while(conn: Connection) -> str | None:
        found = current(conn)
        if not checked.is_set():
            checked.set()
            changed.wait(0.2)
        return found

    async def change() -> None:
        await asyncio.to_thread(checked.wait)
        assert await second.write_all(vectors.adopt, "reversed", LetterEncoder.dimension)
        changed.set()

    monkeypatch.setattr(queries.reembedding, "current", current_for_a_while)
    fish = NewMemory("The heron likes fish.", Kind.FACT, Category.CONTEXTS, 3)
    vector = LetterEncoder().encode([fish.text])[0]
    insert = queries.embedding.insert_memory
    await asyncio.gather(
        database.write_all(insert, ENCODER, "ana", fish, vector, NO_SIGNS, NOW, "a test"),
        change(),
    )
    assert await database.read_all(queries.reembedding.left) == 1, "it is embedded again"


async def test_a_change_of_encoder_is_not_ended_by_the_former_one(
    database: Database, ana: UserKey
) -> None:
    await database.write_all(note, "The heron likes fish.", ana)
    assert await database.write_all(vectors.adopt, "reversed", LetterEncoder.dimension)
    await database.write_all(queries.embedding.finish, ENCODER)
    ((kind, key, _),) = await database.read_all(queries.reembedding.following, 9)
    await database.write_all(queries.embedding.skip, ENCODER, kind, [key])
    assert await database.read_all(queries.reembedding.left) == 1


async def test_a_turn_id_of_another_user_is_free(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "The ferry is late.")
    await database.write_all(say, "Quite other words.", user="ben")
    with pytest.raises(InvalidInput):
        await database.write_all(say, "Quite other words.")
    assert await database.write_all(user_key, "ana") == ana
