"""Classification of foreign memories: one of HotMem's categories, and foreign categories as tags.

A foreign category with the meaning of one of HotMem's is mapped to it. For others ("sports",
"family") the text of the memory is classified as usual; uncertain results are reported.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from hotmem.models import Encoder, Language, encode_tokens
from hotmem.portability.messages import ForeignMemory, ImportNotes
from hotmem.types import Category, MemoryRecord, UserRecord
from hotmem.understanding.facts.classification import MIN_CONFIDENCE, classify
from hotmem.understanding.query.entities import find_entities

BATCH: Final = 32
"""Memories parsed and embedded at once."""

MAX_UNSURE_IDS: Final = 50
"""Maximum IDs of uncertain memories in the report."""

MAX_TAG: Final = 60
"""Characters of a tag."""

CATEGORY_SYNONYMS: Final[Mapping[str, Category]] = {
    name: category
    for category, names in {
        Category.CONTEXTS: (
            "context|contexts|personal details|personal information|profile|background|about me|"
            "user profile"
        ),
        Category.PROJECTS: "project|projects|work in progress|goals|plans",
        Category.LEARNINGS: "learning|learnings|insights|lessons|lessons learned",
        Category.REMINDERS: "reminder|reminders|tasks|todo|todos|to do|appointments|deadlines",
        Category.REFERENCES: "reference|references|documents|links|contacts|codes",
        Category.INTERACTIONS: "interaction|interactions|conversations|meetings",
        Category.SYSTEM: "system|rules|instructions|assistant instructions|assistant preferences",
    }.items()
    for name in names.split("|")
}
"""Foreign categories with the meaning of one of HotMem's. Topics are not included: a memory in
"family" may be a reminder."""


def classify_memories(
    memories: Iterable[ForeignMemory], encoder: Encoder, language: Language, notes: ImportNotes
) -> Iterator[UserRecord]:
    """Classify memories, in their order. Blocking: each text is parsed and embedded.

    Args:
        memories: Foreign memories.
        encoder: Encoder of the memory.
        language: Parser of the memory.
        notes: Collects category counts and uncertain results.
    """
    waiting = iter(memories)
    while batch := list(islice(waiting, BATCH)):
        texts = [one.text for one in batch]
        for one, doc, reading in zip(
            batch, language.parse(texts), encode_tokens(encoder, texts), strict=True
        ):
            found = classify(doc, reading.vector)
            mapped = next(
                (
                    CATEGORY_SYNONYMS[tag]
                    for name in one.categories
                    if (tag := _as_tag(name)) in CATEGORY_SYNONYMS
                ),
                None,
            )
            category, sure = (
                (found.category, found.confidence >= MIN_CONFIDENCE)
                if mapped is None
                else (mapped, True)
            )
            for name in one.categories or ("",):
                notes.categories[name][category] += 1
                notes.unsure[name] += not sure
            if not sure and len(notes.unsure_ids) < MAX_UNSURE_IDS:
                notes.unsure_ids.append(one.id)
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
                tags=tuple(dict.fromkeys(_as_tag(name)[:MAX_TAG] for name in one.categories)),
                entities=find_entities(doc),
            )
            yield UserRecord(one.user_id, record)


def _as_tag(name: str) -> str:
    """Return a category as a tag: lower case, words separated by spaces."""
    return re.sub(r"[\s_/-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()
