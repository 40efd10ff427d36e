"""Edits of memories, corrections by a later turn, and evolutions of a category."""

from datetime import timedelta
from typing import Final

import numpy as np
import pytest

from hotmem.errors import InvalidInput
from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.edits import Wording
from hotmem.storage.queries.imports import Import
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search import vectors
from hotmem.types import (
    Category,
    Correction,
    DecisionAction,
    EvolutionDraft,
    EvolutionRecord,
    Kind,
    NewMemory,
    SessionSummary,
    SubcategoryRecord,
    SubcategoryState,
    SummarySentence,
    Understanding,
    UserKey,
)
from tests.letters import NO_SIGNS, LetterEncoder
from tests.storage.contract.story import (
    ENCODER,
    NOW,
    embed,
    memories_of,
    note,
    say,
    understand,
)

DAY: Final = timedelta(days=1)


def wording(text: str) -> Wording:
    """A new text, with its vector."""
    return Wording(text, "Lira", "is", "boat", ("Lira",), LetterEncoder().encode([text])[0])


async def test_a_reworded_memory_can_be_restored(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    old = await database.write_all(note, "The Lira is a ship.", ana, tags=["boats"])
    other = await database.write_all(note, "It is wet.", ana)
    merged = await database.write(queries.decisions.merge, ana, old, [other], "a test", NOW)
    reword = queries.edits.reword
    with pytest.raises(InvalidInput):
        await database.write(reword, ben, ENCODER, old, wording("x"), NOW, "a test")
    new = await database.write(reword, ana, ENCODER, old, wording("The Lira is a boat."), NOW, "x")
    held = await database.read(queries.edits.current_fields, ana, new)
    assert (held["text"], held["kind"], held["valid_until"]) == (
        "The Lira is a boat.",
        "fact",
        None,
    )
    with pytest.raises(InvalidInput, match="was replaced by"):
        await database.read(queries.edits.current_fields, ana, old)
    edit, merge, *_ = await database.read(queries.decisions.of_user, ana, 9)
    assert (edit.memory_ids, edit.into) == ((old,), new)
    assert (merge.id, merge.memory_ids, merge.into) == (merged, (other,), old)
    assert (await database.write(queries.undoing.undo, ana, edit.id, NOW)).restored == 1
    assert memories_of_named(await database.read(memories_of, ana), "Lira") == [
        "The Lira is a ship."
    ]
    with pytest.raises(InvalidInput):
        await database.write(queries.undoing.undo, ana, edit.id, NOW)
    assert (await database.write(queries.undoing.undo, ana, merged, NOW)).restored == 1
    assert len(await database.read(memories_of, ana)) == 2


def memories_of_named(texts: list[str], name: str) -> list[str]:
    return [text for text in texts if name in text]


async def test_a_refiled_memory(database: Database, ana: UserKey) -> None:
    name = await database.write_all(note, "The Lira is a ship.", ana, tags=["ships", "wood"])
    row = LetterEncoder().encode(["boats"])[0]
    columns = {"category": Category.LEARNINGS, "importance": 5, "valid_until": NOW + DAY}
    refile = queries.edits.refile
    await database.write(refile, ana, ENCODER, name, columns, {"boats": row}, NOW, "a test")
    held = await database.read(queries.edits.current_fields, ana, name)
    assert (held["category"], held["importance"]) == ("learnings", 5)
    assert held["valid_until"] == NOW + DAY
    uses, _ = await database.read(queries.tags.counted, ana, 9)
    assert len(uses) == 1, "tags that nothing has are gone"


async def test_a_memory_stored_again_counts_as_confirmed(database: Database, ana: UserKey) -> None:
    new = NewMemory("The Lira leaks.", Kind.FACT, Category.CONTEXTS, 4, entities=("Lira",))
    vector = LetterEncoder().encode([new.text])[0]
    name = await database.write_all(
        queries.embedding.insert_memory, ENCODER, "ana", new, vector, NO_SIGNS, NOW, "a test"
    )
    confirm = queries.new_memories.confirm
    assert await database.write(confirm, ana, ENCODER, name, new, NOW + DAY, "a test")
    assert not await database.write(confirm, ana, ENCODER, "gone", new, NOW + DAY, "a test")
    ((_, record),) = await database.read(queries.export_rows.memories, ana, 0, 9, 0)
    assert (record.confirmations, record.importance, record.said_at) == (1, 4, NOW + DAY)


def correct(conn: Connection, wrong: str, right: str, *, jest: bool = False) -> None:
    """Understand the next turn as a correction, or as a sign that the last was a joke."""
    ((key, said),) = queries.turns.waiting(conn, UserRotation(), 1)
    corrections = () if jest else (Correction(wrong, right, 0, len(said.text)),)
    read = Understanding((), corrections=corrections, jest=jest)
    store_understanding(conn, key, read)


async def test_corrections_are_counted_at_their_turns(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "I own the Lira.", "It is old, she said.")
    await database.write_all(understand, "the Lira")
    await database.write_all(say, "No, the Mira.", session="quay")
    await database.write_all(correct, "Lira", "Mira")
    assert await database.read(memories_of, ana) == [
        "Skipper owns the Lira.",
        "Skipper owns the Mira.",
    ]
    for number in (1, 2):
        await database.write_all(say, "Not old.", session=f"pier-{number}")
        await database.write_all(correct, "old", "new")
    exported = await database.read(queries.export_rows.turns, ana, 0, 9)
    assert [one.correction_count for _, one in exported] == [1, 1, *[0] * (len(exported) - 2)]
    await database.write_all(say, "Just kidding.", session="quay-2")
    await database.write_all(correct, "", "", jest=True)
    assert len(await database.read(memories_of, ana)) == 2


async def evolve(database: Database, user: UserKey) -> str | None:
    """Make two subcategories live; return the decision's id."""
    members = await database.read(queries.evolutions.members, user, Category.CONTEXTS, 99)
    drafts = tuple(
        SubcategoryState(name, (name, "old"), (memory,), NOW, row, frozenset({key}))
        for name, key, memory, row in zip(
            ("heron", "ferry"), members.keys, members.ids, members.rows, strict=True
        )
    )
    drafted = EvolutionDraft(drafts, members.rows[0])
    draft = await database.write(
        queries.evolutions.draft, user, Category.CONTEXTS, drafted, members, NOW
    )
    assert draft is not None
    assert await database.write(queries.evolutions.assign_batch, user, draft, 0) is None
    return await database.write(queries.evolutions.adopt, user, draft, "a test", NOW)


async def test_live_subcategories(database: Database, ana: UserKey, ben: UserKey) -> None:
    for text in ("The Heron likes fish.", "The ferry costs two euros."):
        await database.write_all(note, text, ana)
    await evolve(database, ana)
    assert await database.read(queries.evolutions.live, ben, Category.CONTEXTS) == {}
    found = await database.read(queries.evolutions.live, ana, Category.CONTEXTS)
    assert list(found) == ["heron", "ferry"]
    for one in found.values():
        mean = await database.read(queries.evolutions.mean_vector, ana, one.members)
        assert mean is not None and one.centroid is not None and np.allclose(mean, one.centroid)
    assert await database.read(queries.evolutions.mean_vector, ben, found["ferry"].members) is None


def put_sentences(conn: Connection, user: UserKey) -> list[str]:
    """Store two sentences of a summary, one of a turn that is gone; return those stored."""
    turn, session = conn.execute(
        "SELECT id, session FROM turns WHERE user_key = ?", (user,)
    ).fetchone()
    conn.execute(
        "INSERT INTO summaries (id, user_key, topics, text) VALUES (?, ?, '[]', '')",
        (session, user),
    )
    told = [SummarySentence("It rained.", "harbour-0"), SummarySentence("It hailed.", "gone")]
    keys = {"harbour-0": turn, "gone": None}
    queries.sessions.put_sentences(conn, session, "narrative", told, keys)
    rows = conn.execute("SELECT text FROM summary_sentences WHERE summary = ?", (session,))
    return [text for (text,) in rows.fetchall()]


async def test_a_sentence_without_its_turn_is_left_out(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "It rained all day.")
    assert await database.write(put_sentences, ana) == ["It rained."]


async def test_evolutions_of_a_category(database: Database, ana: UserKey, ben: UserKey) -> None:
    for user in (ana, ben):
        await database.write_all(note, "The Heron likes fish.", user)
        await database.write_all(note, "The ferry costs two euros.", user)
    due = queries.evolutions.due
    later = NOW + timedelta(days=3000)
    assert await database.read_all(due, later, DAY, 3) is None, "too few"
    assert await database.read_all(due, later, DAY, 2) in ((ana, "contexts"), (ben, "contexts"))
    first = await evolve(database, ana)
    second = await evolve(database, ana)
    assert first and second
    assert await database.read_all(due, later, DAY, 2) == (ben, "contexts")
    members = await database.read(queries.evolutions.members, ana, Category.CONTEXTS, 1)
    assert (members.total, len(members.keys)) == (2, 1)
    assert {name: len(one.members) for name, one in members.named.items()} == {
        "heron": 1,
        "ferry": 1,
    }
    (centroid,) = (one.centroid for one in members.named.values() if members.keys[0] in one.members)
    assert centroid is not None
    np.testing.assert_allclose(centroid, members.rows[0], atol=1e-6)
    (found,) = await database.read(queries.evolutions.records, ana)
    assert [one.name for one in found.subcategories] == ["heron", "ferry"]
    live = await database.read(queries.subcategories.of_user, ana)
    assert {(one.name, one.digest) for one in live} == {
        ("heron", ("The Heron likes fish.",)),
        ("ferry", ("The ferry costs two euros.",)),
    }
    assert (await database.write(queries.undoing.undo, ana, second, NOW)).restored == 2
    await database.write(queries.subcategories.remove_stale_words, ana, [Category.CONTEXTS])
    live = await database.read(queries.subcategories.of_user, ana)
    assert {(one.name, one.keywords) for one in live} == {
        ("heron", ("heron",)),
        ("ferry", ("ferry",)),
    }
    with pytest.raises(InvalidInput):
        await database.write(queries.undoing.undo, ana, second, NOW)
    await database.write(queries.undoing.undo, ana, first, NOW)
    undone = await database.read(queries.evolutions.records, ana)
    assert [(one.memories, one.subcategories) for one in undone] == [(2, ())]
    assert await database.write_all(import_evolution, ben, undone[0]) == (True, False)
    await database.write_all(finish_import)
    assert await database.read_all(due, later, DAY, 1) is None, "neither evolves again"
    assert await database.read(queries.evolutions.records, ben) == undone


BIRDS: Final = EvolutionRecord(
    Category.CONTEXTS, NOW, 3, (SubcategoryRecord("birds", ("heron",), (), NOW),)
)


def import_evolution(
    conn: Connection, user: UserKey, record: EvolutionRecord = BIRDS
) -> tuple[bool, bool]:
    """Import an evolution twice; return which was stored."""
    conn.lock_user(user)
    decision = queries.decisions.record(conn, user, DecisionAction.IMPORTED, "a test", [], NOW)
    source: Import = queries.imports.begin(conn, user, "file", decision, NOW, new_user=False)
    insert = queries.evolutions.insert_imported
    return insert(conn, source, record), insert(conn, source, record)


def finish_import(conn: Connection) -> None:
    """Finish the import that `import_evolution` began."""
    queries.imports.finish(conn, "file", "hotmem", NOW)


async def test_an_evolution_is_imported_once(database: Database, ana: UserKey) -> None:
    assert await database.write_all(import_evolution, ana) == (True, False)
    (found,) = await database.read(queries.evolutions.records, ana)
    assert (found.memories, found.subcategories[0].keywords) == (3, ("heron",))
    await database.write_all(note, "A heron stands here.", ana)
    later = NOW + timedelta(days=3000)
    assert await database.read_all(queries.evolutions.due, later, DAY, 1) is None, "import goes on"


async def test_titles_of_sessions(database: Database, ana: UserKey, ben: UserKey) -> None:
    for user in ("ana", "ben"):
        for session in ("harbour", "quay"):
            await database.write_all(say, "Hello.", user=user, session=session)
    await database.write_all(embed)
    harbour, quay = await database.read(sessions_of, ana)
    seen = await database.read(queries.sessions.unsummarised, ana, harbour)
    assert seen is not None
    title = SummarySentence("Ana greets", seen.turns[0].id)
    summary = SessionSummary(title=title, narrative=(title,))
    await database.write(queries.sessions.put, ana, seen, summary, {}, "Ana greets.")
    assert await database.read(queries.sessions.of_session, ana, "harbour") == summary
    found = await database.read(queries.sessions.titles, ana, [quay, harbour])
    assert [(key, one.session_id, one.title) for key, one in found.items()] == [
        (quay, "quay", ""),
        (harbour, "harbour", "Ana greets"),
    ]
    assert await database.read(queries.sessions.titles, ben, [harbour]) == {}


def sessions_of(conn: Connection, user: UserKey) -> list[int]:
    """Row numbers of the user's sessions."""
    rows = conn.execute("SELECT id FROM sessions WHERE user_key = ? ORDER BY id", (user,))
    return [key for (key,) in rows]


async def test_rows_that_cannot_be_embedded_again_wait(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "The ferry is late.", "It rains.")
    await database.write_all(embed)
    assert await database.write_all(vectors.adopt, "other", LetterEncoder.dimension)
    rows = await database.read_all(queries.reembedding.following, 1)
    ((kind, key, text),) = rows
    assert await database.read_all(queries.reembedding.text_of, kind, [key]) == [(key, text)]
    other = queries.reembedding.identified("other", LetterEncoder.dimension)
    await database.write_all(queries.embedding.skip, other, kind, [key])
    assert await database.read_all(queries.reembedding.left) == 1
    waiting = queries.embedding.waiting
    assert await database.read_all(waiting, other, 9, UserRotation()) == rows
    assert await database.write_all(vectors.adopt, "third", LetterEncoder.dimension + 1)
    assert await database.read_all(queries.reembedding.left) == 0


async def test_merged_memories_outlive_the_one_they_went_into(
    database: Database, ana: UserKey
) -> None:
    first = await database.write_all(note, "The heron likes fish.", ana)
    other = await database.write_all(note, "A heron likes fish.", ana)
    await database.write(queries.decisions.merge, ana, first, [other], "a test", NOW)
    key = await database.read(queries.decisions.unmerged_key, ana, first)
    await database.write(queries.decisions.release_merged, ana, key)
    assert await database.read(queries.decisions.unmerged_key, ana, other) != key
    assert len(await database.read(memories_of, ana)) == 2
