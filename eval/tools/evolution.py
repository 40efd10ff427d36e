"""Evolution of categories into subcategories, on statements by topic.

Every second statement of each topic is stored and the categories evolve; the others are then stored
and assigned one by one. A subcategory's topic is the most frequent one of its members. An
assignment is right if the topics match. All statements then evolve again, which gives the names.
The constants of `hotmem.consolidation.tagging` and the list of topics were chosen on
`topics.tsv` and on the half `dev` of the trial's file; its half `held` decides.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from eval.files import tsv_records
from eval.memories import temporary_memory
from eval.rows import mean
from hotmem import Memory
from hotmem.models import Encoder, Language, encode_tokens
from hotmem.storage import queries
from hotmem.types import Category, Kind, MemoryRecord, NewMemory
from hotmem.understanding.facts.tags import extract_tags

TOPICS: Final = Path(__file__).with_name("topics.tsv")
TRIAL: Final = Path(__file__).parents[1] / "data" / "trial" / "topics.tsv"
USER: Final = "topics"
ALL: Final = 10**6

FITTING: Final = 0.6
"""Cosine of a name and one that a person would accept, from which it counts as fitting: a proxy for
a person's judgement, chosen on the half `dev` of the trial's file."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, its topic, and names of the topic that a person would accept."""

    category: str
    topic: str
    text: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """A subcategory of all statements.

    Attributes:
        name: Its name.
        topic: The most frequent topic of its members.
        members: Number of its members.
        pure: Share of them that are on the topic.
        fitting: Largest cosine of the name and one that a person would accept; None if no such
            names are known.
    """

    name: str
    topic: str
    members: int
    pure: float
    fitting: float | None


@dataclass(frozen=True, slots=True)
class CategoryEvolved:
    """Results of a category.

    Attributes:
        subcategories: Number of subcategories of the first half.
        right: Share of the second half assigned rightly.
        right_of_placed: The same of those that were assigned at all; None if none was.
        covered: Share of the second half with a subcategory.
        topics: Share of the topics that have a subcategory.
        kept: Share of the first subcategories whose names remain in the second evolution; None
            without any.
        named: The subcategories of all statements.
    """

    subcategories: int
    right: float
    right_of_placed: float | None
    covered: float
    topics: float
    kept: float | None
    named: tuple[Named, ...]


def statements() -> list[Statement]:
    """Return the statements of `topics.tsv`, in the file's order."""
    return [Statement(row["category"], row["topic"], row["text"]) for row in tsv_records(TOPICS)]


def trial(half: str) -> list[Statement]:
    """Return the statements of a half of the trial, in the file's order."""
    return [
        Statement(
            row["category"], row["topic"], row["text"], tuple(row["name_examples"].split("|"))
        )
        for row in tsv_records(TRIAL)
        if row["half"] == half
    ]


async def measure(
    encoder: Encoder, language: Language, known: Sequence[Statement]
) -> tuple[dict[str, Any], dict[str, CategoryEvolved]]:
    """Store statements in a new memory, each in its category, and let it evolve.

    Returns:
        Number of statements; means over the categories of the share assigned at all and rightly,
        and rightly of those assigned; the share of the names that count as fitting, None if no
        acceptable ones are known. Then the results of each category.
    """
    by_topic: defaultdict[str, list[Statement]] = defaultdict(list)
    for one in known:
        by_topic[one.topic].append(one)
    first, second = (
        [one for topic in by_topic.values() for one in topic[half::2]] for half in (0, 1)
    )
    async with temporary_memory(encoder=encoder, language=language) as memory:
        await _store(memory, encoder, first)
        await memory.subcategories.evolve(USER)
        at_first = await _records(memory)
        await _store(memory, encoder, second)
        then = await _records(memory)
        await memory.subcategories.evolve(USER)
        again = await _records(memory)
    told = {one.text: one for one in known}
    by_category = {
        category: _judged(
            _of(at_first, category), _of(then, category), _of(again, category), told, encoder
        )
        for category in dict.fromkeys(one.category for one in first)
    }
    evolved = by_category.values()
    fitting = [one.fitting for part in evolved for one in part.named if one.fitting is not None]
    return {
        "memories": len(again),
        "covered": mean(one.covered for one in evolved),
        "right": mean(one.right for one in evolved),
        "right_of_placed": mean(one.right_of_placed for one in evolved),
        "fitting": mean(float(one >= FITTING) for one in fitting),
    }, by_category


async def _store(memory: Memory, encoder: Encoder, told: Sequence[Statement]) -> None:
    texts = [one.text for one in told]
    docs = memory.runtime.recall.language.parse(texts)
    for one, doc, reading in zip(told, docs, encode_tokens(encoder, texts), strict=True):
        tags = extract_tags(doc)
        note = NewMemory(one.text, Kind.FACT, Category(one.category), 3, found_tags=tags)
        await memory.runtime.database.write_all(
            queries.embedding.insert_memory,
            memory.runtime.write.encoder_id,
            USER,
            note,
            reading.vector,
            reading.token_signs,
            datetime.now(UTC),
            "measured",
        )


async def _records(memory: Memory) -> list[MemoryRecord]:
    """Return all memories with their subcategories."""
    user = await memory.runtime.database.read_all(queries.users.find, USER)
    assert user is not None
    return [
        record
        for _, record in await memory.runtime.database.read(
            queries.export_rows.memories, user, 0, ALL, 0
        )
    ]


def _of(records: Sequence[MemoryRecord], category: str) -> list[MemoryRecord]:
    return [one for one in records if one.category == category]


def _judged(
    at_first: Sequence[MemoryRecord],
    then: Sequence[MemoryRecord],
    again: Sequence[MemoryRecord],
    told: Mapping[str, Statement],
    encoder: Encoder,
) -> CategoryEvolved:
    """Return the results of one category from its memories at the three stages."""
    meant = {name: counts.most_common(1)[0][0] for name, counts in _topics(at_first, told).items()}
    known = {one.id for one in at_first}
    new = [one for one in then if one.id not in known]
    right = [meant.get(one.subcategory or "") == told[one.text].topic for one in new]
    placed = [one.subcategory is not None for one in new]
    later = _topics(again, told)
    accepted = {one.topic: one.names for one in told.values()}
    return CategoryEvolved(
        subcategories=len(meant),
        right=float(np.mean(right)),
        right_of_placed=sum(right) / sum(placed) if any(placed) else None,
        covered=float(np.mean(placed)),
        topics=len(set(meant.values())) / len({told[one.text].topic for one in at_first}),
        kept=mean(float(name in later) for name in meant),
        named=tuple(_named(name, counts, accepted, encoder) for name, counts in later.items()),
    )


def _topics(
    records: Sequence[MemoryRecord], told: Mapping[str, Statement]
) -> dict[str, Counter[str]]:
    """Return how often each topic occurs in each subcategory."""
    topics: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in records:
        if one.subcategory is not None:
            topics[one.subcategory][told[one.text].topic] += 1
    return dict(topics)


def _named(
    name: str, counts: Counter[str], accepted: Mapping[str, Sequence[str]], encoder: Encoder
) -> Named:
    (topic, most), *_ = counts.most_common(1)
    fitting = None
    if accepted[topic]:
        own, *others = encoder.encode([name, *accepted[topic]])
        fitting = max(float(own @ other) for other in others)
    return Named(name, topic, counts.total(), most / counts.total(), fitting)
