"""What a transaction knows of the server when it begins, and what became of it.

A connection that is lost while COMMIT is on its way leaves it open whether the transaction was
committed. The server that ran it knows by the transaction's id, and is asked on another connection.
"""

import time
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.client import Client
from hotmem.storage.postgres.connection import SCHEMA

VERSION: Final = f"(SELECT value FROM {SCHEMA}.meta WHERE key = 'version')"
"""The schema's version, read in each transaction: a migration may have changed it meanwhile."""

STATE: Final = f"""
    SELECT {VERSION}, pg_postmaster_start_time()::TEXT,
        CASE current_setting('transaction_read_only') WHEN 'off'
            THEN pg_current_xact_id()::TEXT END""".encode()
"""A server that is read-only gives no transaction id."""

STATUS: Final = "SELECT pg_postmaster_start_time()::TEXT, pg_xact_status(%s::TEXT::xid8)"
"""The outcome of a transaction. After a restart or a failover its id may be another's."""

IN_PROGRESS: Final = "in progress"
"""The status of a transaction whose server has not noticed yet that its client is gone."""

PAUSE_S: Final = 0.05
"""Seconds between two looks at such a transaction."""


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """A write that has begun.

    Attributes:
        raw: Its connection.
        server: When the server was started, which tells it from every other.
        transaction: Its id.
    """

    raw: Client
    server: str
    transaction: str


def begun(raw: Client, state: "psycopg.Cursor[Any]", location: str) -> Begun:
    """What is known of a write that begins.

    Args:
        raw: Its connection, which is closed if the server is read-only.
        state: The result of `STATE`.
        location: The URL without its password, for errors.

    Raises:
        StoreTooNew: If the schema is not today's any more.
        psycopg.errors.ReadOnlySqlTransaction: If the server is read-only.
    """
    version, server, transaction = state.fetchone() or (None, "", None)
    migrations.check_current(int(version or 0), location)
    if transaction is None:
        raw.close()  # a new connection may reach the new primary
        raise psycopg.errors.ReadOnlySqlTransaction
    return Begun(raw, server, transaction)


def status(raw: Client, write: Begun) -> str | None:
    """What became of a write: "committed", "aborted" or "in progress"; None if it is not known."""
    try:
        server, found = raw.execute(STATUS, (write.transaction,)).fetchone() or ("", None)
    except psycopg.OperationalError:
        raise
    except psycopg.Error:  # an id that this server has not given yet
        return None
    if server != write.server:
        return None
    if found == IN_PROGRESS:
        time.sleep(PAUSE_S)
    return found
