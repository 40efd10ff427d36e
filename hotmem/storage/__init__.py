"""Durable storage: engines, query functions and search indexes.

database.py   what an engine offers: connections that run SQL, databases that run query functions
queries/      the query functions: each takes a connection and runs SQL, once for all engines
search/       search over one user's rows, in Python: BM25, vectors, token signs
dialect.py    what differs between the engines' SQL
sqlite/       the SQLite engine
postgres/     the PostgreSQL engine
inspection/   what the inspector shows, one page at a time
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from hotmem.core.location import EncryptionKey, Location, ServerUrl
from hotmem.errors import ExtraMissing
from hotmem.storage.database import Database, InlineDatabase
from hotmem.storage.search.engine import SearchEngine
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.storage.sqlite.migrations import STEPS
from hotmem.storage.steps import Forgetting

__all__ = ["Storage", "migrate_storage", "open_storage"]


@dataclass(frozen=True, slots=True)
class Storage:
    """An open database with what belongs to it.

    Attributes:
        database: Runs query functions in threads of its own.
        inline: Runs reads in the calling thread; for recalls.
        engine: Searches users' rows and keeps their indexes in memory.
        forgetting: Forgets and restores.
    """

    database: Database
    inline: InlineDatabase
    engine: SearchEngine
    forgetting: Forgetting

    @classmethod
    def of(cls, database: Database) -> "Storage":
        """The parts for an open database."""
        inline = database.inline()
        engine = SearchEngine(database, inline)
        return cls(database, inline, engine, Forgetting(database, engine))


def open_storage(
    location: Location, key: EncryptionKey | None = None, language: str | None = None
) -> Storage:
    """Opens or creates a SQLite file or the schema of a PostgreSQL database. Blocking.

    Args:
        location: The file, or the URL.
        key: Encrypts the file. A server's disk is encrypted by its operator.
        language: The language whose rules stem indexed words; None for the one recorded in it, or
            English if there is none.

    Raises:
        ExtraMissing: If the extra `postgres` is needed and not installed.
        StoreUnusable: If another language is recorded.
        StoreError: If the database cannot be used.
    """
    if isinstance(location, Path):
        return Storage.of(SqliteDatabase.open(location, key, language))
    try:
        from hotmem.storage.postgres.database import PostgresDatabase  # an extra
    except ImportError as error:
        raise _extra_missing(location) from error
    return Storage.of(PostgresDatabase.open(location.url, language))


def migrate_storage(location: Location, key: EncryptionKey | None = None) -> int:
    """Creates or migrates the schema of a file or database; returns its version. Blocking.

    Raises:
        ExtraMissing: If the extra `postgres` is needed and not installed.
        StoreError: If it could not be migrated.
    """
    if isinstance(location, Path):
        asyncio.run(SqliteDatabase.open(location, key).close())
        return len(STEPS)
    try:
        from hotmem.storage.postgres.migrations import upgrade  # an extra
    except ImportError as error:
        raise _extra_missing(location) from error
    return upgrade(location.url)


def _extra_missing(location: ServerUrl) -> ExtraMissing:
    return ExtraMissing(
        f"{location} needs the extra `postgres`: pip install 'pipecat-hotmem[postgres]'."
    )
