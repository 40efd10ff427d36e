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
from hotmem.consolidation.evolution import (
    choose_topics,
    cluster,
    draft_subcategories,
    extract_keywords,
    match_previous_names,
    shared_name,
)
from hotmem.consolidation.topic_names import Topics, common_topics, encode_topics
from hotmem.core.vector_math import NEAR, nearest_centroids, remove_direction
from hotmem.models import CachedEncoder, encode_tokens
from hotmem.options import EvolutionOptions
from hotmem.portability.jsonl import SKIPPED_TYPES, record_type
from hotmem.storage import queries
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.maintenance import (
    EvolveArguments,
    NoArguments,
    evolve_categories,
    memory_stats,
    validate_storage,
)
from hotmem.tools.registry import tool
from hotmem.types import Category, DecisionAction, Kind, NewMemory
from hotmem.understanding.facts.tags import extract_tags
from tests.conversation import START, OpenMemory, decisions, remember, said, undo, user_of

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
    write, insert = memory.runtime.database.write_all, queries.embedding.insert_memory
    encoder = memory.runtime.write.encoder_id
    return [
        await write(insert, encoder, "ana", note, one.vector, one.token_signs, START, "a test")
        for note, one in zip(notes, readings, strict=True)
    ]


async def evolved(memory: Memory) -> None:
    """Store statements on three topics and evolve the category learnings."""
    for topic in TAUGHT:
        await store(memory, *statements(topic)[:12])
    await memory.subcategories.evolve("ana")


async def placed(memory: Memory) -> dict[str, str | None]:
    """The subcategory of each memory, by its text."""
    user = await user_of(memory.runtime.database)
    return {
        record.text: record.subcategory
        for _, record in await memory.runtime.database.read(
            queries.export_rows.memories, user, 0, 10_000, 10**9
        )
    }


@pytest.fixture(scope="module")
def topics(encoder: CachedEncoder) -> dict[Category, Topics]:
    return encode_topics(encoder)


def around(centres: int, each: int, spread: float, seed: int = 0) -> NDArray[np.float32]:
    """Unit rows around some axes."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.eye(centres, 32), each, axis=0) + rng.normal(
        scale=spread, size=(centres * each, 32)
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows, dtype=np.float32)


NO_ROWS = np.empty((0, 32), dtype=np.float32)
AXES = np.eye(32, dtype=np.float32)


def test_rows_around_topics_are_clusters() -> None:
    found = cluster(around(4, 20, 0.08), AXES, NO_ROWS, LEAST, MOST)
    assert sorted(filter(None, found.topics)) == [1, 2, 3] and 0 in found.topics
    assert [found.topics[place] for place in found.places] == [
        topic for topic in range(4) for _ in range(20)
    ]
    np.testing.assert_allclose(np.linalg.norm(found.centroids, axis=1), 1, rtol=1e-5)


def test_rows_near_no_topic_are_in_no_cluster() -> None:
    rows = np.concatenate([around(3, 20, 0.08), AXES[20:23]])
    assert cluster(rows, AXES[:8], NO_ROWS, LEAST, MOST).places[60:].tolist() == [-1] * 3


def test_a_cluster_that_is_not_clearly_about_its_topic_is_left_out() -> None:
    vague = np.random.default_rng(0).normal(size=(20, 32)).astype(np.float32)
    vague[:, :6] = 0
    vague = 0.9 * vague / np.linalg.norm(vague, axis=1, keepdims=True) + 0.13 * (AXES[4] + AXES[5])
    rows = np.concatenate([around(3, 20, 0.08), vague])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ AXES[:6].T
    chosen = choose_topics(cosines, np.empty((80, 0), dtype=np.float32), MOST)
    assert {4, 5} & set(chosen), "it is the best topic for them"
    assert set(cluster(rows, AXES[:6], NO_ROWS, LEAST, MOST).topics) == {0, 1, 2}


def test_maximum_number_of_clusters() -> None:
    found = cluster(around(12, 10, 0.08), AXES, NO_ROWS, LEAST, 5)
    assert 1 <= len(found.centroids) <= 5


def test_too_few_rows_give_no_cluster() -> None:
    found = cluster(around(1, 9, 0.1), AXES, NO_ROWS, LEAST, MOST)
    assert found.centroids.shape == (0, 32) and found.places.tolist() == [-1] * 9


def test_a_fixed_cluster_keeps_its_centroid_and_needs_no_topic() -> None:
    found = cluster(around(4, 20, 0.08), AXES[1:], AXES[:1], LEAST, MOST)
    assert found.topics[0] is None and set(found.topics[1:]) == {0, 1, 2}
    np.testing.assert_array_equal(found.centroids[0], AXES[0])
    assert found.places[:20].tolist() == [0] * 20


def test_each_chosen_topic_is_the_nearest_of_some_rows() -> None:
    cosines = np.array([[0.5, 0.0, 0.3], [0.5, 0.0, 0.3], [0.0, 0.6, 0.3]], dtype=np.float32)
    nothing = np.empty((3, 0), dtype=np.float32)
    assert choose_topics(cosines, nothing, 2) == [0, 1]
    assert choose_topics(cosines, nothing, 1) == [0], "2/3 * 0.4 is more than 0.2"
    assert choose_topics(cosines * 0.1, nothing, 2) == [], "nothing is related"
    assert choose_topics(cosines, cosines[:, :1], 3) == [1], "the first cluster exists already"


def test_clustering_waits_for_recalls_at_each_step() -> None:
    ways: list[int] = []
    cluster(around(12, 40, 0.08), AXES, NO_ROWS, LEAST, 5, lambda: ways.append(1))
    assert len(ways) > 5 + 10
    ways.clear()
    extract_keywords([[("rex", "dog")] * 3, [("fern", "shade")] * 4], lambda: ways.append(1))
    assert len(ways) == 2


@given(st.integers(0, 60), st.integers(2, 8), st.integers(1, 6), st.integers(0, 5))
def test_rows_are_in_the_nearest_cluster(count: int, least: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, topics = (rng.normal(size=(size, 8)).astype(np.float32) for size in (count, 20))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    found = cluster(rows, topics, topics[:0], least, most)
    assert len(found.centroids) == len(found.topics) == len(set(found.topics)) <= most
    np.testing.assert_array_equal(
        found.places, nearest_centroids(rows, found.centroids, found.centre)
    )


def test_what_all_share_has_no_effect_on_the_nearest_centroid() -> None:
    rows, shared = around(4, 20, 0.3), AXES[31]
    rows = remove_direction(rows, shared)
    mixed = (rows + 2 * shared) / np.sqrt(np.float32(5))
    centroids = (AXES[:4] + shared) / np.sqrt(np.float32(2))
    np.testing.assert_array_equal(
        nearest_centroids(mixed, centroids, shared), nearest_centroids(rows, AXES[:4], shared)
    )


def test_a_row_must_be_near_a_centroid() -> None:
    rows = np.array([[NEAR + 0.01, 0, 1], [NEAR - 0.05, 0, 1]], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    axes = np.eye(3, dtype=np.float32)
    assert nearest_centroids(rows, axes[:1], axes[1]).tolist() == [0, -1]
    assert nearest_centroids(rows, axes[:0], axes[1]).tolist() == [-1, -1]


def test_topics_have_distinct_names_of_few_words(topics: dict[Category, Topics]) -> None:
    names = [one.name for one in common_topics()]
    assert len(set(names)) == len(names) and max(len(name.split()) for name in names) <= 4
    assert all(one.words and one.categories for one in common_topics())
    for category, own in topics.items():
        assert own.names == tuple(one.name for one in common_topics() if category in one.categories)
        assert len(own.names) > MOST
        np.testing.assert_allclose(np.linalg.norm(own.rows, axis=1), 1, rtol=1e-5)


def test_a_topic_is_near_its_memories(
    topics: dict[Category, Topics], encoder: CachedEncoder
) -> None:
    own = topics[Category.CONTEXTS]
    told = encoder.encode(["Our tomcat hates the vet.", "The landlord raised our rent."])
    near = (told @ own.rows.T).argsort(axis=1)[:, -3:]
    assert "cats" in {own.names[place] for place in near[0]}
    assert "rent and landlord" in {own.names[place] for place in near[1]}


def test_keywords_are_distinctive() -> None:
    dogs = [("rex", "night"), ("dog", "rex"), ("rex", "dog", "dogs", "night")]
    ferns = [("fern", "shade"), ("fern", "window", "night"), ("fern", "shade", "night")]
    assert extract_keywords([dogs, ferns]) == [("rex", "dog"), ("fern", "shade")]


def test_a_name_that_most_memories_contain() -> None:
    texts = ["Bellwether pays in June.", "A shop for Bellwether.", "The bellwether site is done."]
    tags = [("bellwether",), ("bellwether", "shop"), ("bellwether", "site")]
    assert shared_name(["bellwether", "shop"], tags, texts) == "Bellwether"
    assert shared_name(["shop"], tags, texts) is None, "rare"
    assert shared_name(["fund"], [("fund",)] * 2, ["My fund.", "The fund grows."]) is None
    assert shared_name([], tags, texts) is None


def test_name_is_kept_while_most_members_stay() -> None:
    before = {"dogs": frozenset(range(10)), "ferns": frozenset(range(10, 20))}
    assert match_previous_names(
        before, [frozenset([*range(8), *range(100, 107)]), frozenset(range(8, 20))]
    ) == ["dogs", "ferns"]
    assert match_previous_names(before, [frozenset([*range(8), *range(100, 108)])]) == [None]
    assert match_previous_names(
        before, [frozenset(range(5)), frozenset(range(5, 10)), frozenset(range(10, 20))]
    ) == [None, None, "ferns"]
    assert match_previous_names({}, [frozenset([1])]) == [None]


async def test_topics_become_subcategories_and_new_memories_are_placed(memory: Memory) -> None:
    await evolved(memory)
    parts = await memory.subcategories.of_user("ana")
    assert 3 <= len(parts) <= MOST and {part.category for part in parts} == {Category.LEARNINGS}
    assert 30 <= sum(part.memories for part in parts) <= 36
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
    assert at_home.count(None) <= 2 and sum(where[text] in at_home for text in fresh) >= 8
    assert plants in {part.name for part in await memory.subcategories.of_user("ana")}
    found = await memory.search_memory(fresh[0], user_id="ana")
    assert found.results[0].subcategory == where[fresh[0]]
    assert (await memory_stats(memory, "ana", NoArguments())).by_subcategory[Category.LEARNINGS][
        plants or ""
    ] >= LEAST


async def test_facts_are_placed_when_they_are_embedded(memory: Memory) -> None:
    fruit = "walnuts figs plums oranges pears bananas melons"
    sports = "chess football tennis rowing judo cricket skiing"
    for number, text in enumerate(f"{fruit} {sports}".split()):
        await memory.remember(said(f"I like {text}.", minutes=number))
    await memory.settle()
    await memory.subcategories.evolve("ana")
    await remember(memory, said("I like apricots.", minutes=20))
    where = await placed(memory)
    assert where["Ana likes apricots."] == where["Ana likes plums."] is not None
    assert where["Ana likes tennis."] not in (None, where["Ana likes plums."])


async def test_names_stay_and_an_evolution_is_undone(memory: Memory) -> None:
    await evolved(memory)
    before, where = await memory.subcategories.of_user("ana"), await placed(memory)
    await store(memory, *statements("cooking tricks")[:15])
    (learnings,) = [
        one
        for one in (
            await evolve_categories(memory, "ana", EvolveArguments(category=Category.LEARNINGS))
        ).categories
        if one.decision
    ]
    after = {part.name: part for part in await memory.subcategories.of_user("ana")}
    assert learnings.memories == 51 and set(learnings.subcategories) == set(after) and learnings.new
    stayed = [part for part in before if part.name in after]
    assert 2 * len(stayed) >= len(before) and all(
        after[part.name].since == part.since for part in stayed
    )
    latest, first = await decisions(memory, DecisionAction.EVOLVED)
    assert latest.id == learnings.decision and "51 memories of learnings" in latest.reason
    assert (await undo(memory, latest.id)).restored == len(before)
    assert {part.name for part in await memory.subcategories.of_user("ana")} == {
        part.name for part in before
    }
    returned = await placed(memory)
    assert {text: returned[text] for text in where} == where
    assert (await undo(memory, first.id)).restored == 0
    assert await memory.subcategories.of_user("ana") == []
    with pytest.raises(InvalidInput, match="undone on"):
        await undo(memory, first.id)
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_an_evolution_followed_by_another_cannot_be_undone(memory: Memory) -> None:
    await evolved(memory)
    (first,) = [one.id for one in await decisions(memory) if one.action == "evolved"]
    await memory.subcategories.evolve("ana", category=Category.LEARNINGS)
    with pytest.raises(InvalidInput, match="evolved since"):
        await undo(memory, first)


async def test_forgotten_words_are_removed(database: Path, memory: Memory) -> None:
    plants = statements("plant care")[:12]
    await store(
        memory,
        *statements("sleep and energy")[:12],
        *(f"Xylomander: {text}" for text in plants[:6]),
        *plants[6:],
    )
    await memory.subcategories.evolve("ana")
    await store(memory, *statements("personal finance")[:12])
    await memory.subcategories.evolve("ana")
    assert any("xylomander" in part.keywords for part in await memory.subcategories.of_user("ana"))
    await memory.forget(user_id="ana", entity="Xylomander")
    parts = await memory.subcategories.of_user("ana")
    assert parts and all(part.memories for part in parts)
    assert not [
        part
        for part in parts
        if "xylomander" in json.dumps((part.name, part.keywords, part.digest))
    ]
    ficus = "The ficus wants to stand by the window and be turned now and then."
    await store(memory, ficus)
    assert (await placed(memory))[ficus] in {part.name for part in parts} | {None}
    await memory.close()
    held = await asyncio.to_thread(database.read_bytes)
    assert b"xyloman" not in held.lower()


async def test_forgetting_a_user_removes_subcategories(database: Path, memory: Memory) -> None:
    await evolved(memory)
    await memory.forget(user_id="ana", everything=True)
    await memory.close()
    conn = connect(database, read_only=True)
    assert [
        conn.scalar(f"SELECT count(*) FROM {table}")
        for table in ("evolutions", "subcategories", "subcategory_members")
    ] == [0, 0, 0]
    conn.close()


async def test_export_includes_subcategories(
    memory: Memory, tmp_path: Path, open_memory: OpenMemory
) -> None:
    await evolved(memory)
    lines = [line async for line in memory.export("ana")]
    file = tmp_path / "export.jsonl"
    await asyncio.to_thread(file.write_text, "\n".join(lines), "utf-8")
    async with open_memory(tmp_path / "second.db") as second:
        await second.import_records(file)
        await second.settle()
        kept = [line for line in lines if record_type(line) not in SKIPPED_TYPES]
        assert [line async for line in second.export("ana")] == kept
        assert await second.subcategories.of_user("ana") == await memory.subcategories.of_user(
            "ana"
        )
        fresh = statements("plant care")[20:25]
        await store(second, *fresh)
        await store(memory, *fresh)
        assert await placed(second) == await placed(memory)


async def evolutions(memory: Memory) -> int:
    """Number of evolutions of Ana's categories."""
    return [one.action for one in await decisions(memory)].count(DecisionAction.EVOLVED)


async def test_evolution_is_scheduled_by_time_and_growth(
    database: Path, open_memory: OpenMemory
) -> None:
    options = Options(evolution=EvolutionOptions(every_s=0.0))
    never = replace(options, evolution=EvolutionOptions(every_s=timedelta(hours=6).total_seconds()))
    async with open_memory(database, never) as memory:
        for topic in TAUGHT:
            await store(memory, *statements(topic)[:12])
        await memory.settle()
        assert await evolutions(memory) == 0
    async with open_memory(database, options) as memory:
        await memory.settle()
        parts = await memory.subcategories.of_user("ana")
        assert parts
        times = await evolutions(memory)
        await store(memory, "The basil wants water from below.")
        await memory.settle()
        assert await evolutions(memory) == times > 0, "one memory more is no growth"


async def test_one_topic_or_few_memories_give_no_subcategories(memory: Memory) -> None:
    await store(memory, *statements("plant care")[:4])
    (learnings,) = [one for one in await memory.subcategories.evolve("ana") if one.memories]
    assert (learnings.subcategories, learnings.new, learnings.decision) == ((), (), None)
    assert await memory.subcategories.evolve("nobody") == []


async def test_forgetting_during_an_evolution(
    memory: Memory, topics: dict[Category, Topics]
) -> None:
    await evolved(memory)
    user = await user_of(memory.runtime.database)
    ids = await store(
        memory, *(f"Xylomander: {text}" for text in statements("cooking tricks")[:10])
    )
    members = await memory.runtime.database.read(
        queries.evolutions.members, user, Category.LEARNINGS, 2000
    )
    drafts = draft_subcategories(members, topics[Category.LEARNINGS], EvolutionOptions(), START)
    assert any("xylomander" in one.keywords for one in drafts.subcategories)
    draft = await memory.runtime.database.write(
        queries.evolutions.draft, user, Category.LEARNINGS, drafts, members, START
    )
    assert draft is not None
    before = await memory.subcategories.of_user("ana")
    await memory.forget(user_id="ana", memory_id=ids[0])
    assert (
        await memory.runtime.database.write(queries.evolutions.assign_batch, user, draft, 0) is None
    )
    assert (
        await memory.runtime.database.write(
            queries.evolutions.adopt, user, draft, "too late", START
        )
        is None
    )
    assert (
        await memory.runtime.database.write(
            queries.evolutions.draft, user, Category.LEARNINGS, drafts, members, START
        )
        is None
    )
    assert {part.name for part in await memory.subcategories.of_user("ana")} == {
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
        await memory.subcategories.evolve("ana", category="songs")  # type: ignore[arg-type]
