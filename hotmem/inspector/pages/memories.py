"""Memories: the list with its filters, and one memory with its history and source turns."""

from datetime import UTC, datetime
from itertools import groupby
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from hotmem.core.validation import counted
from hotmem.errors import InvalidInput
from hotmem.inspector.changes import Site, cursor, found, key
from hotmem.ranking.relevance import SOURCE_TRUST, confidence, is_doubted, is_replaced
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection
from hotmem.storage.search.searches import LexicalSearch
from hotmem.text.truncation import MAX_QUERY_CHARACTERS, truncate
from hotmem.types import Category, Evidence, EvidenceKind, Kind
from hotmem.types.inspection import MemoryDetails, MemoryFilter, MemoryRow, Page

ROWS: Final = 50

MAX_MATCHES: Final = 200
"""Maximum memories found by words."""

VALIDITY: Final = {"": None, "now": True, "past": False}
"""Values of the filter by validity."""

T = TypeVar("T", Kind, Category)


async def list_page(site: Site, request: Request) -> Response:
    """Show the list."""
    rows, asked = await site.rows(), request.query_params
    words = asked.get("words", "").strip()
    wanted = MemoryFilter(
        now=datetime.now(UTC),
        kind=_one_of(Kind, asked.get("kind", "")),
        category=_one_of(Category, asked.get("category", "")),
        holds=VALIDITY.get(asked.get("standing", "")),
        tag=asked.get("tag", "").strip().lower() or None,
        keys=await _matching(site, rows, words) if words else None,
    )
    memories: Page[MemoryRow] = await rows.memories(wanted, cursor(request), ROWS)
    filters = {
        name: asked.get(name, "") for name in ("words", "kind", "category", "standing", "tag")
    }
    return site.show(
        "memories.html", memories=memories, filters=filters, now=wanted.now, done=asked.get("done")
    )


async def detail_page(site: Site, request: Request) -> Response:
    """Show one memory."""
    rows, now = await site.rows(), datetime.now(UTC)
    memory: MemoryDetails = found(await rows.memory(key(request)))
    evidence = await site.memory.runtime.database.read(
        queries.evidence.load, rows.user, {EvidenceKind.MEMORY: [memory.row.key]}
    )
    known = next(one for one in evidence if one.key == memory.row.key)
    return site.show(
        "memory.html",
        memory=memory,
        now=now,
        confidence=confidence(known, now),
        reasons=reasons(memory, known, now),
        done=request.query_params.get("done"),
    )


def reasons(memory: MemoryDetails, evidence: Evidence, now: datetime) -> list[str]:
    """Explain the confidence of a memory, in sentences."""
    sentences = [
        f"Statements extracted from speech start at {SOURCE_TRUST[EvidenceKind.MEMORY]:.0%}."
    ]
    if memory.hedged:
        sentences.append("It was hedged (“maybe”, “I think”), which lowers it.")
    if memory.changes:
        sentences.append("It can change with time, so confidence decreases every year.")
    if memory.confirmations:
        sentences.append(
            f"It was confirmed {counted(memory.confirmations, 'time')}, which raises it."
        )
    if is_replaced(evidence, now):
        sentences.append("It is no longer valid, which lowers it most.")
    elif is_doubted(evidence, now):
        sentences.append("Something said later may contradict it, which lowers it.")
    return sentences


async def _matching(site: Site, rows: Inspection, words: str) -> tuple[int, ...]:
    """Return the row numbers of memories that contain all words, best match first."""
    (ranked,) = await site.memory.runtime.storage.engine.search(
        rows.user,
        LexicalSearch(EvidenceKind.MEMORY, [truncate(words, MAX_QUERY_CHARACTERS)], MAX_MATCHES),
    )
    return tuple(key for key, _ in ranked)


def _one_of(kind: type[T], value: str) -> T | None:
    """Return the member of an enumeration; None for "".

    Raises:
        InvalidInput: If there is no such member.
    """
    if not value:
        return None
    if value not in tuple(kind):
        raise InvalidInput(
            f"{value[:40]!r} is not a {kind.__name__.lower()}. Use one of: {', '.join(kind)}."
        )
    return kind(value)


async def page(site: Site, request: Request) -> Response:
    """Show the page."""
    known = await site.memory.subcategories(site.user_id)
    return site.show(
        "subcategories.html",
        categories=[
            (category, list(own)) for category, own in groupby(known, lambda one: one.category)
        ],
        done=request.query_params.get("done"),
    )
