"""Fills a file fast, with the rows that the background work would leave, and copies it to a server.

The measured user's rows are written by the storage operations (`eval.bench.history`). Other users
are copies of one of them: rows are inserted from rows, under other keys.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from rich.progress import Progress, TaskID

from eval.bench.history import BATCH, SentenceCache, batches, write_batch
from eval.bench.synthetic import SyntheticConversations
from hotmem.core.location import locate
from hotmem.storage import open_storage, queries, steps
from hotmem.storage.copying import copy_database
from hotmem.storage.database import Connection, Database
from hotmem.text.stemming import terms
from hotmem.types import EvidenceKind, Turn, UserKey

OTHER: Final = "other"
"""The user that is copied; the copies have a number appended."""

OTHER_TURNS: Final = 100
"""Turns of each other user."""

COPIES: Final = 50
"""Users copied in one transaction."""

SHIFTED: Final[dict[str, tuple[str, ...]]] = {
    "users": ("id",),
    "sessions": ("id",),
    "turns": ("id", "session"),
    "speakers": (),
    "passages": ("id", "session", "turn"),
    "memories": ("id", "superseded_by", "amends", "merged_into"),
    "sources": ("memory", "turn"),
    "entities": ("id",),
    "turn_entities": ("turn", "entity"),
    "memory_entities": ("memory", "entity"),
    "summaries": ("id", "through"),
    "summary_sentences": ("summary", "turn"),
    "summary_topics": ("summary",),
    "passage_entries": ("id", "session"),
    "memory_entries": ("id",),
    "summary_entries": ("id", "session"),
    "passage_signs": ("passage",),
    "memory_signs": ("memory",),
    "tags": ("id", "merged_into"),
    "memory_tags": ("memory", "tag"),
    "event_times": ("turn",),
    "correction_counts": ("turn",),
}
"""Tables of a user's rows, and their columns that hold row numbers; rows after those they name."""

NUMBERED: Final = ("users", "sessions", "turns", "passages", "memories", "entities", "tags")
"""Tables whose rows the database numbers."""

OWNERS: Final = {
    "memory": "memories",
    "turn": "turns",
    "summary": "summaries",
    "passage": "passages",
}
"""Tables that say whose a row is where SQLite's schema has no user in it, by the column."""


@asynccontextmanager
async def opened(location: str) -> AsyncIterator[Database]:
    """Yield the database of a file or server."""
    database = (await asyncio.to_thread(open_storage, locate(location))).database
    try:
        yield database
    finally:
        await database.close()


async def load(
    database: Database, history: Iterable[Turn], reading: SentenceCache, tell: Callable[[int], None]
) -> None:
    """Store whole sessions; `tell` is called with the number of turns of each batch."""
    await steps.adopt_encoder(database, reading.encoder.name, reading.encoder.dimension)
    for batch in batches(history, BATCH):
        await database.write_all(write_batch, batch, reading)
        tell(len(batch))


async def copy_memory(source: str, target: str, progress: Progress) -> dict[str, int]:
    """Copy a memory to an empty one; returns the rows of each table."""
    bars: dict[str, TaskID] = {}

    def tell(stage: str, done: int, whole: int) -> None:
        if stage not in bars:
            bars[stage] = progress.add_task(f"{stage} rows", total=whole)
        progress.update(bars[stage], completed=done)

    async with opened(source) as ours, opened(target) as theirs:
        return await copy_database(ours, theirs, tell)


async def add_others(
    database: Database, number: int, reading: SentenceCache, tell: Callable[[int], None]
) -> None:
    """Add users with `OTHER_TURNS` turns each to a file; `tell` gets the number of each batch."""
    if not number:
        return
    template = SyntheticConversations(user=OTHER).turns(OTHER_TURNS)
    await load(database, template, reading, lambda _: None)
    tell(1)
    stride = 1 + await database.read_all(_last_row)
    for copies in batches(range(1, number), COPIES):
        await database.write_all(_copy, copies, stride)
        tell(len(copies))


def _last_row(conn: Connection) -> int:
    """The highest row number of all tables."""
    return max(
        int(conn.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
        for table in NUMBERED
    )


def _copy(conn: Connection, copies: Sequence[int], stride: int) -> None:
    """Copies the rows of `OTHER` for each number, with row numbers shifted by its multiple."""
    user = queries.users.find(conn, OTHER)
    assert user is not None
    for table, shifted in SHIFTED.items():
        _copy_rows(conn, table, shifted, user, copies, stride)
    _copy_words(conn, user, copies, stride)


def _copy_rows(
    conn: Connection,
    table: str,
    shifted: Sequence[str],
    user: UserKey,
    copies: Sequence[int],
    stride: int,
) -> None:
    columns = [name for name, _ in conn.table_columns(table)]
    values = [_copied(name, shifted, stride) for name in columns]
    if table == "users":
        whose = "t.id = ?"
    elif "user_key" in columns:
        whose = "t.user_key = ?"
    else:
        whose = f"t.{shifted[0]} IN (SELECT id FROM {OWNERS[shifted[0]]} WHERE user_key = ?)"
    conn.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM {table} AS t, unnest(?) AS k (value) WHERE {whose}",
        (list(copies), user),
    )


def _copied(column: str, shifted: Sequence[str], stride: int) -> str:
    """The expression of a column of a copy."""
    match column:
        case "public_id":
            return "t.public_id || '-' || k.value"
        case _ if column == "user_key" or column in shifted:
            return f"t.{column} + k.value * {stride}"
    return f"t.{column}"


def _copy_words(conn: Connection, user: UserKey, copies: Sequence[int], stride: int) -> None:
    """Adds the terms of copied passages and memories to SQLite's index."""
    passages = conn.execute(
        """SELECT p.id, substr(t.text, p.start + 1, p.stop - p.start) FROM passages p
           JOIN turns t ON t.id = p.turn WHERE p.user_key = ?""",
        (user,),
    ).fetchall()
    memories = conn.execute("SELECT id, text FROM memories WHERE user_key = ?", (user,)).fetchall()
    for kind, rows in ((EvidenceKind.PASSAGE, passages), (EvidenceKind.MEMORY, memories)):
        for key, text in rows:
            words = terms(text)
            for copy in copies:
                shift = copy * stride
                conn.search.add_terms(conn, UserKey(user + shift), kind, key + shift, words)
