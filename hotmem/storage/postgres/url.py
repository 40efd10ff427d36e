"""URLs of PostgreSQL databases."""

from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hotmem.core.location import ServerUrl
from hotmem.errors import StoreUnusable

CONNECT_S: Final = 5.0
"""Seconds to wait for a connection."""

OPTIONS: Final[dict[str, Any]] = {"autocommit": True, "prepare_threshold": None}
"""Of every connection. Those of the pool prepare statements unless there is a pooler between."""


SETTINGS: Final[dict[str, Any]] = {
    "application_name": "hotmem",
    "connect_timeout": round(CONNECT_S),
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""Of every connection, unless the URL sets them: a server that no longer answers is noticed."""


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
    return str(ServerUrl(url)), make_conninfo(**(SETTINGS | parts))
