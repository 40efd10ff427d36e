"""Evolution of categories into subcategories, on statements by topic (`topics.tsv`).

Every second statement of each topic is stored and the categories evolve; the others are then stored
and assigned one by one. A subcategory's topic is the most frequent one of its members. An
assignment is right if the topics match; no assignment is wrong. All statements then evolve again.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from hotmem import Memory
from hotmem.models import Encoder, Language, encode_tokens
from hotmem.storage import queries
from hotmem.types import Category, Kind, MemoryRecord, NewMemory
from hotmem.understanding.facts.tags import extract_tags

TOPICS: Final = Path(__file__).with_name("topics.tsv")
USER: Final = "topics"
ALL: Final = 10**6

CHOSEN_ON: Final = ("contexts", "learnings", "references", "system")
"""Categories used to choose the constants of `hotmem.consolidation.clustering`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and its topic."""

    category: str
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class CategoryEvolved:
    """Results of a category.

    Attributes:
        subcategories: Number of subcategories of the first half.
        right: Share of the second half assigned rightly.
        purity: Share of the first half with the topic of its subcategory.
        covered: Share of the second half with a subcategory.
        topics: Share of the topics that have a subcategory.
        again: Number of subcategories of all statements.
        kept: Share of the first subcategories whose names remain in the second evolution.
    """

    subcategories: int
    right: float
    purity: float
    covered: float
    topics: float
    again: int
    kept: float


@dataclass(frozen=True, slots=True)
class Evolution:
    """Results of all categories.

    Attributes:
        memories: Number of statements.
        by_category: Results of each category.
        right: Mean share assigned rightly.
        right_where_chosen: The same for the categories used to choose the constants.
        right_elsewhere: The same for the others.
    """

    memories: int
    by_category: Mapping[str, CategoryEvolved]
    right: float
    right_where_chosen: float
    right_elsewhere: float


def statements() -> list[Statement]:
    """Return all statements, in the file's order."""
    with TOPICS.open(encoding="utf-8", newline="") as lines:
        return [
            Statement(**row)
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


async def measure(encoder: Encoder, language: Language) -> Evolution:
    """Store the statements in a new memory, each in its category, and let it evolve."""
    by_topic: defaultdict[str, list[Statement]] = defaultdict(list)
    for one in statements():
        by_topic[one.topic].append(one)
    first, second = (
        [one for topic in by_topic.values() for one in topic[half::2]] for half in (0, 1)
    )
    with TemporaryDirectory(prefix="hotmem-evolution-") as folder:
        async with Memory.open(
            Path(folder) / "topics.db", encoder=encoder, language=language
        ) as memory:
            await _store(memory, encoder, first)
            await memory.evolve(USER)
            at_first = await _records(memory)
            await _store(memory, encoder, second)
            then = await _records(memory)
            await memory.evolve(USER)
            again = await _records(memory)
    topic_of = {one.text: one.topic for one in (*first, *second)}
    by_category = {
        category: _judged(
            _of(at_first, category), _of(then, category), _of(again, category), topic_of
        )
        for category in dict.fromkeys(one.category for one in first)
    }
    return Evolution(
        memories=len(again),
        by_category=by_category,
        right=float(np.mean([one.right for one in by_category.values()])),
        right_where_chosen=float(
            np.mean([one.right for name, one in by_category.items() if name in CHOSEN_ON])
        ),
        right_elsewhere=float(
            np.mean([one.right for name, one in by_category.items() if name not in CHOSEN_ON])
        ),
    )


async def _store(memory: Memory, encoder: Encoder, told: Sequence[Statement]) -> None:
    texts = [one.text for one in told]
    docs = memory.runtime.recall.language.parse(texts)
    for one, doc, reading in zip(told, docs, encode_tokens(encoder, texts), strict=True):
        tags = extract_tags(doc)
        note = NewMemory(one.text, Kind.FACT, Category(one.category), 3, found_tags=tags)
        await memory.runtime.storage.database.write_all(
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
    user = await memory.runtime.storage.database.read_all(queries.users.find, USER)
    assert user is not None
    return [
        record
        for _, record in await memory.runtime.storage.database.read(
            queries.export_rows.memories, user, 0, ALL, 0
        )
    ]


def _of(records: Sequence[MemoryRecord], category: str) -> list[MemoryRecord]:
    return [one for one in records if one.category == category]


def _judged(
    at_first: Sequence[MemoryRecord],
    then: Sequence[MemoryRecord],
    again: Sequence[MemoryRecord],
    topic_of: Mapping[str, str],
) -> CategoryEvolved:
    """Return the results of one category from its memories at the three stages."""
    topics: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in at_first:
        if one.subcategory is not None:
            topics[one.subcategory][topic_of[one.text]] += 1
    meant = {name: counts.most_common(1)[0][0] for name, counts in topics.items()}
    known = {one.id for one in at_first}
    new = [one for one in then if one.id not in known]
    later = {one.subcategory for one in again}
    return CategoryEvolved(
        subcategories=len(meant),
        right=float(
            np.mean([meant.get(one.subcategory or "") == topic_of[one.text] for one in new])
        ),
        purity=sum(counts.most_common(1)[0][1] for counts in topics.values()) / len(at_first),
        covered=float(np.mean([one.subcategory is not None for one in new])),
        topics=len(set(meant.values())) / len({topic_of[one.text] for one in at_first}),
        again=len(later - {None}),
        kept=float(np.mean([name in later for name in meant])),
    )
