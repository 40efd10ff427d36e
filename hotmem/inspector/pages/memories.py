"""What is known: the list with its filters, and one memory with its history and the words behind it."""

from datetime import UTC, datetime
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from hotmem.errors import InvalidInput
from hotmem.inspector.site import Site, found, key, place
from hotmem.ranking.confidence import SOURCE_TRUST, confidence, is_replaced
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection
from hotmem.storage.search.searches import LexicalSearch
from hotmem.text.truncation import MAX_QUERY_CHARACTERS, truncate
from hotmem.types import Category, Evidence, EvidenceKind, Kind
from hotmem.types.inspection import MemoryDetails, MemoryFilter, MemoryRow, Page

ROWS: Final = 50

BEST: Final = 200
"""Memories that a search by words finds at most."""

STANDINGS: Final = {"": None, "now": True, "past": False}
"""What the filter by validity means."""

T = TypeVar("T", Kind, Category)


async def listed(site: Site, request: Request) -> Response:
    """The list."""
    rows, asked = await site.rows(), request.query_params
    words = asked.get("words", "").strip()
    wanted = MemoryFilter(
        now=datetime.now(UTC),
        kind=_one_of(Kind, asked.get("kind", "")),
        category=_one_of(Category, asked.get("category", "")),
        holds=STANDINGS.get(asked.get("standing", "")),
        tag=asked.get("tag", "").strip().lower() or None,
        keys=await _with_words(site, rows, words) if words else None,
    )
    memories: Page[MemoryRow] = await rows.memories(wanted, place(request), ROWS)
    filters = {
        name: asked.get(name, "") for name in ("words", "kind", "category", "standing", "tag")
    }
    return site.show(
        "memories.html", memories=memories, filters=filters, now=wanted.now, done=asked.get("done")
    )


async def one(site: Site, request: Request) -> Response:
    """One memory."""
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
    """Why a memory is trusted as far as it is, in sentences."""
    told = [
        f"What is read from speech starts at {SOURCE_TRUST[EvidenceKind.MEMORY]:.0%}.".replace(
            "%", " %"
        )
    ]
    if memory.hedged:
        told.append("It was said with doubt (“maybe”, “I think”), which lowers it.")
    if memory.changes:
        told.append(
            "It is of a sort that changes with time, so it is trusted a little less every year."
        )
    if memory.confirmations:
        told.append(
            f"It was said again {memory.confirmations} {'time' if memory.confirmations == 1 else 'times'}, which raises it."
        )
    if is_replaced(evidence, now):
        told.append("It does not hold any more, which lowers it most.")
    return told


async def _with_words(site: Site, rows: Inspection, words: str) -> tuple[int, ...]:
    """Row numbers of the memories that hold all the words, the best first.

    Whatever the words, they are looked up as words alone.
    """
    (ranked,) = await site.memory.runtime.storage.engine.search(
        rows.user, LexicalSearch(EvidenceKind.MEMORY, [truncate(words, MAX_QUERY_CHARACTERS)], BEST)
    )
    return tuple(key for key, _ in ranked)


def _one_of(kind: type[T], value: str) -> T | None:
    """The value of an enumeration, None for "".

    Raises:
        InvalidInput: If it is none.
    """
    if not value:
        return None
    if value not in tuple(kind):
        raise InvalidInput(
            f"{value[:40]!r} is no {kind.__name__.lower()}. There are: {', '.join(kind)}."
        )
    return kind(value)
