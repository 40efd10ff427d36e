"""Evolution of categories: clustering, names, placement of new memories, undo and forgetting."""

import asyncio
import csv
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from eval.tools.evolution import TOPICS
from hotmem import InvalidInput, Memory, Options
from hotmem.consolidation.cluster_names import assign_names, extract_keywords, match_previous_names
from hotmem.consolidation.clustering import BLOCK, SMOOTHING_STEPS, cluster
from hotmem.consolidation.evolution import draft_subcategories
from hotmem.core.centroids import nearest_centroids
from hotmem.models import CachedEncoder, Language, encode_tokens
from hotmem.options import EvolutionOptions
from hotmem.portability.jsonl import SKIPPED_TYPES, record_type
from hotmem.storage import queries
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.maintenance import (
    DecisionsArguments,
    EvolveArguments,
    NoArguments,
    UndoArguments,
    evolve_categories,
    memory_decisions,
    memory_stats,
    undo_decision,
    validate_storage,
)
from hotmem.tools.registry import tool
from hotmem.types import Category, DecisionAction, Kind, NewMemory
from hotmem.understanding.facts.tags import extract_tags
from tests.conversation import START, said

LEAST, MOST = 5, 10

TAUGHT = ("plant care", "sleep and energy", "personal finance")
"""Topics of the category learnings."""


def statements(topic: str) -> list[str]:
    """Statements on a topic, written by hand."""
    with TOPICS.open(encoding="utf-8", newline="") as lines:
        return [
            row["text"]
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["topic"] == topic
        ]


async def store(memory: Memory, *texts: str, category: Category = Category.LEARNINGS) -> list[str]:
    """Store statements in a category; return their ids."""
    readings = encode_tokens(memory.runtime.recall.encoder, texts)
    notes = [
        NewMemory(text, Kind.FACT, category, 3, found_tags=extract_tags(doc))
        for text, doc in zip(texts, memory.runtime.recall.language.parse(texts), strict=True)
    ]
    return [
        await memory.runtime.storage.database.write_all(
            queries.embedding.insert_memory,
            memory.runtime.write.encoder_id,
            "ana",
            note,
            one.vector,
            one.token_signs,
            START,
            "a test",
        )
        for note, one in zip(notes, readings, strict=True)
    ]


async def evolved(memory: Memory) -> None:
    """Store statements on three topics and evolve the category learnings."""
    for topic in TAUGHT:
        await store(memory, *statements(topic)[:12])
    await memory.evolve("ana")


async def placed(memory: Memory) -> dict[str, str | None]:
    """The subcategory of each memory, by its text."""
    user = await memory.runtime.storage.database.read_all(queries.users.find, "ana")
    assert user is not None
    return {
        record.text: record.subcategory
        for _, record in await memory.runtime.storage.database.read(
            queries.export_rows.memories, user, 0, 10_000, 10**9
        )
    }


def around(centres: int, each: int, spread: float, seed: int = 0) -> NDArray[np.float32]:
    """Unit rows around some axes."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.eye(centres, 32), each, axis=0) + rng.normal(
        scale=spread, size=(centres * each, 32)
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows, dtype=np.float32)


def test_dense_rows_are_a_cluster() -> None:
    centroids, places = cluster(around(4, 20, 0.08), LEAST, MOST)
    assert len(centroids) == 4
    assert [len(set(places[start : start + 20])) for start in range(0, 80, 20)] == [1, 1, 1, 1]
    np.testing.assert_allclose(np.linalg.norm(centroids, axis=1), 1, rtol=1e-5)


def test_maximum_number_of_clusters() -> None:
    centroids, places = cluster(around(12, 10, 0.08), LEAST, 5)
    assert len(centroids) == 5 and set(places) == set(range(5))


def test_too_few_rows_give_no_cluster() -> None:
    centroids, places = cluster(around(1, 9, 0.1), LEAST, MOST)
    assert centroids.shape == (0, 32) and len(places) == 0


def test_clustering_waits_for_recalls_at_each_step() -> None:
    ways: list[int] = []
    cluster(around(12, 40, 0.08), LEAST, 5, lambda: ways.append(1))
    blocks = -(-12 * 40 // BLOCK)
    assert len(ways) > SMOOTHING_STEPS * blocks + 2
    ways.clear()
    extract_keywords([[("rex", "dog")] * 3, [("fern", "shade")] * 4], lambda: ways.append(1))
    assert len(ways) == 2


@given(st.integers(0, 60), st.integers(2, 8), st.integers(1, 6), st.integers(0, 5))
def test_rows_are_in_the_nearest_cluster_and_no_cluster_is_small(
    count: int, least: int, most: int, seed: int
) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    centroids, places = cluster(rows, least, most)
    assert len(centroids) <= most and len(places) in (0, count)
    if len(centroids):
        np.testing.assert_array_equal(places, nearest_centroids(rows, centroids))
        assert np.bincount(places, minlength=len(centroids)).min() >= least


def test_the_common_mean_has_no_effect() -> None:
    rows, centroids = around(4, 20, 0.3), np.eye(4, 32, dtype=np.float32)
    shared = np.full(32, 2, dtype=np.float32)
    np.testing.assert_array_equal(
        nearest_centroids(rows + shared, centroids + shared), nearest_centroids(rows, centroids)
    )
    assert nearest_centroids(rows, centroids[:1]).tolist() == [0] * 80


def test_keywords_are_distinctive() -> None:
    dogs = [("rex", "night"), ("dog", "rex"), ("rex", "dog", "dogs", "night")]
    ferns = [("fern", "shade"), ("fern", "window", "night"), ("fern", "shade", "night")]
    assert extract_keywords([dogs, ferns]) == [("rex", "dog"), ("fern", "shade")]


def test_names_are_keywords_and_unique() -> None:
    assert assign_names(
        [("rex", "dog", "vet"), ("rex", "dog", "night"), (), ()], [None] * 4, "contexts"
    ) == [
        "rex and dog",
        "rex and night",
        "contexts 1",
        "contexts 2",
    ]
    assert assign_names([("rex", "dog"), ("fern",)], ["the old name", None], "contexts") == [
        "the old name",
        "fern",
    ]


def test_name_is_kept_while_most_members_stay() -> None:
    before = {"dogs": frozenset(range(10)), "ferns": frozenset(range(10, 20))}
    assert match_previous_names(
        before, [frozenset([*range(8), *range(100, 150)]), frozenset(range(8, 20))]
    ) == ["dogs", "ferns"]
    assert match_previous_names(
        before, [frozenset(range(5)), frozenset(range(5, 10)), frozenset(range(10, 20))]
    ) == [None, None, "ferns"]
    assert match_previous_names({}, [frozenset([1])]) == [None]


async def test_topics_become_subcategories_and_new_memories_are_placed(memory: Memory) -> None:
    await evolved(memory)
    parts = await memory.subcategories("ana")
    assert 3 <= len(parts) <= MOST and {part.category for part in parts} == {Category.LEARNINGS}
    assert sum(part.memories for part in parts) == 36
    assert all(
        part.memories >= LEAST and 1 <= len(part.digest) <= 3 and part.since == part.evolved_at
        for part in parts
    )
    assert 2 * sum(bool(part.keywords) for part in parts) > len(parts)
    where = await placed(memory)
    (plants,) = {where[text] for text in statements("plant care")[:12][:1]}
    fresh = statements("plant care")[20:30]
    await store(memory, *fresh)
    where = await placed(memory)
    at_home = [where[text] for text in statements("plant care")[:12]]
    assert None not in at_home and sum(where[text] in at_home for text in fresh) >= 8
    assert plants in {part.name for part in await memory.subcategories("ana")}
    found = await memory.search_memory(fresh[0], user_id="ana")
    assert found.results[0].subcategory == where[fresh[0]]
    assert (await memory_stats(memory, "ana", NoArguments())).by_subcategory[Category.LEARNINGS][
        plants or ""
    ] >= LEAST


async def test_facts_are_placed_when_they_are_embedded(memory: Memory) -> None:
    for number, text in enumerate(
        (
            "walnuts",
            "figs",
            "plums",
            "dates",
            "pears",
            "chess",
            "football",
            "tennis",
            "rowing",
            "judo",
        )
    ):
        await memory.remember(said(f"I like {text}.", minutes=number))
    await memory.settle()
    await memory.evolve("ana")
    if not await memory.subcategories("ana"):
        pytest.fail("ten likings fall into no group")
    await memory.remember(said("I like apricots.", minutes=20))
    await memory.settle()
    assert (await placed(memory))["Ana likes apricots."] is not None


async def test_names_stay_and_an_evolution_is_undone(memory: Memory) -> None:
    await evolved(memory)
    before, where = await memory.subcategories("ana"), await placed(memory)
    await store(memory, *statements("cooking tricks")[:15])
    (learnings,) = [
        one
        for one in (
            await evolve_categories(memory, "ana", EvolveArguments(category=Category.LEARNINGS))
        ).categories
        if one.decision
    ]
    after = {part.name: part for part in await memory.subcategories("ana")}
    assert learnings.memories == 51 and set(learnings.subcategories) == set(after) and learnings.new
    stayed = [part for part in before if part.name in after]
    assert 2 * len(stayed) > len(before) and all(
        after[part.name].since == part.since for part in stayed
    )
    latest, first = [
        one
        for one in (await memory_decisions(memory, "ana", DecisionsArguments())).decisions
        if one.action == "evolved"
    ]
    assert latest.id == learnings.decision and "51 memories of learnings" in latest.reason
    assert (await undo_decision(memory, "ana", UndoArguments(decision=latest.id))).restored == len(
        before
    )
    assert {part.name for part in await memory.subcategories("ana")} == {
        part.name for part in before
    }
    returned = await placed(memory)
    assert {text: returned[text] for text in where} == where and None not in returned.values()
    assert (await undo_decision(memory, "ana", UndoArguments(decision=first.id))).restored == 0
    assert await memory.subcategories("ana") == []
    with pytest.raises(InvalidInput, match="undone on"):
        await undo_decision(memory, "ana", UndoArguments(decision=first.id))
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_an_evolution_followed_by_another_cannot_be_undone(memory: Memory) -> None:
    await evolved(memory)
    (first,) = [
        one.id
        for one in (await memory_decisions(memory, "ana", DecisionsArguments())).decisions
        if one.action == "evolved"
    ]
    await memory.evolve("ana", category=Category.LEARNINGS)
    with pytest.raises(InvalidInput, match="evolved since"):
        await undo_decision(memory, "ana", UndoArguments(decision=first))


async def test_forgotten_words_are_removed(database: Path, memory: Memory) -> None:
    plants = statements("plant care")[:12]
    await store(
        memory,
        *statements("sleep and energy")[:12],
        *(f"Xylomander: {text}" for text in plants[:6]),
        *plants[6:],
    )
    await memory.evolve("ana")
    await store(memory, *statements("personal finance")[:12])
    await memory.evolve("ana")
    assert any("xylomander" in part.keywords for part in await memory.subcategories("ana"))
    await memory.forget(user_id="ana", entity="Xylomander")
    parts = await memory.subcategories("ana")
    assert parts and all(part.memories for part in parts)
    assert not [
        part
        for part in parts
        if "xylomander" in json.dumps((part.name, part.keywords, part.digest))
    ]
    await store(memory, "The ficus wants to stand by the window and be turned now and then.")
    assert None not in (await placed(memory)).values()
    await memory.close()
    held = await asyncio.to_thread(database.read_bytes)
    assert b"xyloman" not in held.lower()


async def test_forgetting_a_user_removes_subcategories(database: Path, memory: Memory) -> None:
    await evolved(memory)
    await memory.forget(user_id="ana", everything=True)
    await memory.close()
    conn = connect(database, read_only=True)
    assert [
        conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("evolutions", "subcategories", "subcategory_members")
    ] == [0, 0, 0]
    conn.close()


async def test_export_includes_subcategories(
    memory: Memory, tmp_path: Path, encoder: CachedEncoder, language: Language
) -> None:
    await evolved(memory)
    lines = [line async for line in memory.export("ana")]
    file = tmp_path / "export.jsonl"
    await asyncio.to_thread(file.write_text, "\n".join(lines), "utf-8")
    async with Memory.open(tmp_path / "second.db", encoder=encoder, language=language) as second:
        await second.import_records(file)
        await second.settle()
        kept = [line for line in lines if record_type(line) not in SKIPPED_TYPES]
        assert [line async for line in second.export("ana")] == kept
        assert await second.subcategories("ana") == await memory.subcategories("ana")
        await store(second, *statements("plant care")[20:25])
        assert None not in (await placed(second)).values()


async def evolutions(memory: Memory) -> int:
    """Number of evolutions of Ana's categories."""
    return [
        one.action
        for one in (await memory_decisions(memory, "ana", DecisionsArguments(limit=1000))).decisions
    ].count(DecisionAction.EVOLVED)


async def test_evolution_is_scheduled_by_time_and_growth(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    options = Options(evolution=EvolutionOptions(every_s=0.0))
    async with Memory.open(database, options, encoder=encoder, language=language) as memory:
        for topic in TAUGHT:
            await store(memory, *statements(topic)[:12])
        await memory.settle()
        parts = await memory.subcategories("ana")
        assert parts
        times = await evolutions(memory)
        await store(memory, "The basil wants water from below.")
        await memory.settle()
        assert await evolutions(memory) == times > 0, "one memory more is no growth"
    never = replace(options, evolution=EvolutionOptions(every_s=timedelta(hours=6).total_seconds()))
    async with Memory.open(
        database.with_name("other.db"), never, encoder=encoder, language=language
    ) as memory:
        await store(memory, *statements("plant care")[:20])
        await memory.settle()
        assert await memory.subcategories("ana") == []


async def test_one_topic_or_few_memories_give_no_subcategories(memory: Memory) -> None:
    await store(memory, *statements("plant care")[:4])
    (learnings,) = [one for one in await memory.evolve("ana") if one.memories]
    assert (learnings.subcategories, learnings.new, learnings.decision) == ((), (), None)
    assert await memory.evolve("nobody") == []


async def test_forgetting_during_an_evolution(memory: Memory) -> None:
    await evolved(memory)
    user = await memory.runtime.storage.database.read_all(queries.users.find, "ana")
    assert user is not None
    ids = await store(
        memory, *(f"Xylomander: {text}" for text in statements("cooking tricks")[:10])
    )
    members = await memory.runtime.storage.database.read(
        queries.evolutions.members, user, Category.LEARNINGS, 2000
    )
    drafts = draft_subcategories(members, Category.LEARNINGS, EvolutionOptions(), START)
    assert any("xylomander" in one.keywords for one in drafts)
    draft = await memory.runtime.storage.database.write(
        queries.evolutions.draft, user, Category.LEARNINGS, drafts, members, START
    )
    assert draft is not None
    before = await memory.subcategories("ana")
    await memory.forget(user_id="ana", memory_id=ids[0])
    assert (
        await memory.runtime.storage.database.write(queries.placement.assign_batch, user, draft, 0)
        is None
    )
    assert (
        await memory.runtime.storage.database.write(
            queries.evolutions.adopt, user, draft, "too late", START
        )
        is None
    )
    assert (
        await memory.runtime.storage.database.write(
            queries.evolutions.draft, user, Category.LEARNINGS, drafts, members, START
        )
        is None
    )
    assert {part.name for part in await memory.subcategories("ana")} == {
        part.name for part in before
    }


async def test_tools(memory: Memory) -> None:
    for topic in TAUGHT:
        await store(memory, *statements(topic)[:12])
    answer = await tool("evolve_categories").call(memory, "ana", {"category": "learnings"})
    listed = await tool("memory_subcategories").call(memory, "ana", {})
    assert set(answer["categories"][0]["new"]) == {part["name"] for part in listed["subcategories"]}
    with pytest.raises(InvalidInput, match="'contexts'"):
        await tool("evolve_categories").call(memory, "ana", {"category": "songs"})
    with pytest.raises(InvalidInput, match="contexts, projects"):
        await memory.evolve("ana", category="songs")  # type: ignore[arg-type]
