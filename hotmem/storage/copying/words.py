"""Builds the full-text indexes of a copy: what they store differs between the engines."""

from collections.abc import Callable
from typing import Final

from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.index_entries import WORDED
from hotmem.storage.queries.maintenance import TEXTS
from hotmem.text.stemming import terms
from hotmem.types import EvidenceKind, UserKey

BLOCK: Final = 2000
"""Rows of a transaction."""


async def index(database: Database, progress: Callable[[str, int, int], None]) -> None:
    """Adds the terms of all rows that have an entry in an index of a kind with terms."""
    whole = sum([await database.read_all(_count, kind) for kind in WORDED])
    done = 0
    for kind in WORDED:
        await database.write_all(_clear, kind)
        after = (0, 0)
        while page := await database.read_all(_page, kind, after):
            await database.write_all(_add, kind, page)
            after = page[-1][:2]
            done += len(page)
            progress("indexing", done, whole)


def _count(conn: Connection, kind: EvidenceKind) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {kind}_entries").fetchone()[0])


def _clear(conn: Connection, kind: EvidenceKind) -> None:
    conn.search.clear_terms(conn, kind)


def _page(
    conn: Connection, kind: EvidenceKind, after: tuple[int, int]
) -> list[tuple[int, int, str | None]]:
    """The next entries: user, row number, text."""
    return conn.execute(
        f"""SELECT e.user_key, e.id, f.text FROM (
                SELECT user_key, id FROM {kind}_entries WHERE (user_key, id) > (?, ?)
                ORDER BY user_key, id LIMIT ?) e
            LEFT JOIN ({TEXTS[kind]}) f ON f.id = e.id AND f.user_key = e.user_key
            ORDER BY e.user_key, e.id""",
        (*after, BLOCK),
    ).fetchall()


def _add(conn: Connection, kind: EvidenceKind, page: list[tuple[int, int, str | None]]) -> None:
    rows = [
        (UserKey(user), key, terms(text, conn.search.language))
        for user, key, text in page
        if text is not None
    ]
    conn.search.add_all_terms(conn, kind, rows)
