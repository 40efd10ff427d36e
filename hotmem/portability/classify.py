"""Foreign memories in our own form.

Each filed under one of our seven categories, with what it was filed under as tags.

A foreign category that means one of ours is that one. Of others ("sports", "family") the words of
the memory decide, as they do of what is stored here; where they do not tell enough, the import says
so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from hotmem.models import Encoder, Language, encode_tokens
from hotmem.portability.foreign_records import ForeignMemory, Notes
from hotmem.types import Category, MemoryRecord, UserRecord
from hotmem.understanding.facts.classification import MIN_CONFIDENCE, classify
from hotmem.understanding.query.entities import find_entities

BATCH: Final = 32
"""Memories read at once."""

MOST_IDS: Final = 50
"""Ids of unsure memories that are told."""

LONGEST_TAG: Final = 60
"""Characters of a tag."""

MEANT: Final[Mapping[str, Category]] = {
    name: category
    for category, names in {
        Category.CONTEXTS: "context|contexts|personal details|personal information|profile|background|about me|user profile",
        Category.PROJECTS: "project|projects|work in progress|goals|plans",
        Category.LEARNINGS: "learning|learnings|insights|lessons|lessons learned",
        Category.REMINDERS: "reminder|reminders|tasks|todo|todos|to do|appointments|deadlines",
        Category.REFERENCES: "reference|references|documents|links|contacts|codes",
        Category.INTERACTIONS: "interaction|interactions|conversations|meetings",
        Category.SYSTEM: "system|rules|instructions|assistant instructions|assistant preferences",
    }.items()
    for name in names.split("|")
}
"""Names that other programs give to what one of our categories is. Topics are none: what is
filed under "family" may be a reminder."""


def records(
    memories: Iterable[ForeignMemory], encoder: Encoder, language: Language, notes: Notes
) -> Iterator[UserRecord]:
    """The memories in their order. Blocking: a parse and an embedding each, some 10 ms.

    Args:
        memories: What was read of a foreign file.
        encoder: Texts → vectors.
        language: Texts → parses.
        notes: Takes where each category went and what was unsure.
    """
    waiting = iter(memories)
    while batch := list(islice(waiting, BATCH)):
        texts = [one.text for one in batch]
        for one, doc, reading in zip(
            batch, language.parse(texts), encode_tokens(encoder, texts), strict=True
        ):
            found = classify(doc, reading.vector)
            meant = next(
                (MEANT[plain] for name in one.categories if (plain := _plain(name)) in MEANT), None
            )
            category, sure = (
                (found.category, found.confidence >= MIN_CONFIDENCE)
                if meant is None
                else (meant, True)
            )
            for name in one.categories or ("",):
                notes.filed[name][category] += 1
                notes.unsure[name] += not sure
            if not sure and len(notes.ids) < MOST_IDS:
                notes.ids.append(one.id)
            record = MemoryRecord(
                id=one.id,
                text=one.text,
                subject="",
                relation="",
                object=one.text,
                kind=found.kind,
                category=category,
                importance=found.importance,
                hedged=False,
                negated=False,
                changes=False,
                single=False,
                said_at=one.said_at,
                valid_until=one.expires_at,
                stored_at=one.stored_at,
                source="mem0",
                note=one.note,
                tags=tuple(dict.fromkeys(_plain(name)[:LONGEST_TAG] for name in one.categories)),
                entities=find_entities(doc),
            )
            yield UserRecord(one.user_id, record)


def _plain(name: str) -> str:
    """A category's name as a tag: lower case, words apart."""
    return re.sub(r"[\s_/-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()
