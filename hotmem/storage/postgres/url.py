"""URLs of PostgreSQL databases."""

from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hotmem.errors import StoreUnusable

CONNECT_S: Final = 5.0
"""Seconds to wait for a connection."""

OPTIONS: Final[dict[str, Any]] = {"autocommit": True, "prepare_threshold": None}
"""Of every connection. Statements are not prepared: behind PgBouncer in transaction mode the next
transaction may get another server connection, which does not know them."""


def parse(url: str) -> tuple[str, str]:
    """The URL without its password, for messages, and the connection string.

    Raises:
        StoreUnusable: If it is no URL of PostgreSQL.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreUnusable(
            "This is no URL of a PostgreSQL database. Write it as"
            " postgresql://user:password@host:5432/database."
        ) from None
    host, port = parts.get("host") or "localhost", parts.get("port")
    name = parts.get("dbname") or parts.get("user") or ""
    location = f"postgresql://{host}{f':{port}' if port else ''}/{name}"
    settings: dict[str, Any] = {
        "application_name": "hotmem",
        "connect_timeout": round(CONNECT_S),
    }
    return location, make_conninfo(**(settings | parts))
