"""The language whose rules stem the words of a database's search index.

It is recorded when a memory is first opened. Every connection has it (`SearchPrimitives.language`),
as the words of a question must be stemmed like those in the index.
"""

from collections.abc import Iterable
from typing import Final

from hotmem.errors import StoreUnusable
from hotmem.storage.database import Connection
from hotmem.storage.queries import maintenance
from hotmem.storage.queries.index_entries import TABLES
from hotmem.storage.queries.turns import derived_columns
from hotmem.text.languages import ENGLISH
from hotmem.types import EvidenceKind

ENTRIES: Final = "SELECT key, value FROM {meta} WHERE key IN ('language', 'encoder')"
"""What `of_index` needs of the table `meta`."""


def of_index(entries: Iterable[tuple[str, str]], wanted: str | None, location: str) -> str:
    """The language of a database's index.

    Args:
        entries: The rows of `ENTRIES`.
        wanted: The language that is set; None for that of the database, English if it is new.
        location: The database, for the error.

    Raises:
        StoreUnusable: If it is another one than `wanted`.
    """
    found = recorded(entries)
    if None not in (found, wanted) and found != wanted:
        raise StoreUnusable(
            f"{location}: words are indexed in the language {found!r}, and HOTMEM_LANGUAGE is"
            f" {wanted!r}. Leave it empty, or index all words anew: `hotmem language {wanted}`."
        )
    return found or wanted or ENGLISH


def recorded(entries: Iterable[tuple[str, str]]) -> str | None:
    """The language of a database's index by the rows of `ENTRIES`; None before it is first used."""
    stored = dict(entries)
    return stored.get("language") or (ENGLISH if "encoder" in stored else None)


def is_recorded(conn: Connection) -> bool:
    """Whether the language of the index is recorded."""
    row = conn.execute("SELECT 1 FROM meta WHERE key = 'language'").fetchone()
    return row is not None


def record(conn: Connection, location: str) -> None:
    """Records the connection's language as the index's, unless one is recorded.

    Raises:
        StoreUnusable: If another program has recorded another one meanwhile.
    """
    _insert(conn, "NOTHING")
    of_index(conn.execute(ENTRIES.format(meta="meta")).fetchall(), conn.search.language, location)


def change(conn: Connection, language: str) -> int:
    """Indexes all words anew by the rules of another language; returns the number of entries.

    Programs that have the database open keep searching by those of the former one.
    """
    conn.search.language = language
    _insert(conn, "UPDATE SET value = excluded.value")
    rows = conn.execute(f"{maintenance.TEXTS[EvidenceKind.PASSAGE]} ORDER BY b.id").fetchall()
    conn.executemany(
        f"UPDATE {TABLES[EvidenceKind.PASSAGE]} SET terms = ? WHERE id = ?",
        [(derived_columns(text, language)[0], key) for key, _, _, text, _ in rows],
    )
    return maintenance.reindex(conn)


def _insert(conn: Connection, otherwise: str) -> None:
    conn.execute(
        f"""INSERT INTO meta (key, value) VALUES ('language', ?)
            ON CONFLICT (key) DO {otherwise}""",
        (conn.search.language,),
    )
