"""Ordered steps from an empty database to today's schema, all in one transaction under a lock.

The schema is made from the catalogue. Every table of a user's data has the user's row number. It is
part of every key, so that tables can be distributed by it; a statement that does not name it gets
the user of the transaction. Text is compared by code point, as SQLite does.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

import psycopg

from hotmem.core.logs import log
from hotmem.errors import StoreReadOnly, StoreTooNew, StoreUnusable
from hotmem.storage.postgres.connection import (
    CONNECT_S,
    OPTIONS,
    SCHEMA,
    Client,
    mapped_errors,
    parse,
)
from hotmem.storage.schema import OWNER, TABLES, Column, Table, text

APPLICATION: Final = "hotmem_app"
"""The role that has the rights of bots and workers, and owns nothing."""

GRANTS: Final = (
    f"GRANT USAGE ON SCHEMA {SCHEMA} TO {APPLICATION}",
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {APPLICATION}",
    f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {APPLICATION}",
)


class Isolation(NamedTuple):
    """How the rows of users are kept apart on a connection.

    Attributes:
        enforced: Whether the server keeps users apart.
        role: The role that transactions change to; None if they need not or cannot.
    """

    enforced: bool
    role: str | None


def grant(conn: "psycopg.Connection[Any]") -> None:
    """Gives the application role its rights, and creates it if this role may.

    Without the role nothing is done: one role may be owner and application.
    """
    superuser, may_create, exists = conn.execute(
        """SELECT rolsuper, rolsuper OR rolcreaterole, to_regrole(%s) IS NOT NULL
           FROM pg_catalog.pg_roles WHERE rolname = current_user""",
        (APPLICATION,),
    ).fetchone() or (False, False, False)
    if may_create and not exists:
        # roles belong to all databases of a server: another one may have created it meanwhile
        with (
            suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation),
            conn.transaction(),
        ):
            conn.execute(f"CREATE ROLE {APPLICATION} NOLOGIN")
        exists = True
        if not superuser:
            with suppress(psycopg.errors.InsufficientPrivilege), conn.transaction():
                conn.execute(f"GRANT {APPLICATION} TO current_user")
    if exists:
        for statement in GRANTS:
            conn.execute(statement.encode())


def isolation(conn: "psycopg.Connection[Any]") -> Isolation:
    """How users are kept apart on a connection, tried out."""
    row = conn.execute(
        "SELECT rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is None or not row[0]:
        return Isolation(enforced=True, role=None)
    errors = psycopg.errors
    with (
        suppress(errors.InsufficientPrivilege, errors.InvalidParameterValue),
        conn.transaction(force_rollback=True),
    ):
        conn.execute("SELECT set_config('role', %s, true)", (APPLICATION,))
        rights = conn.execute(
            f"""SELECT NOT rolsuper AND NOT rolbypassrls
                    AND has_table_privilege('{SCHEMA}.users', 'SELECT, INSERT, UPDATE, DELETE')
                FROM pg_catalog.pg_roles WHERE rolname = current_user"""
        ).fetchone()
        if rights is not None and rights[0]:
            return Isolation(enforced=True, role=APPLICATION)
    return Isolation(enforced=False, role=None)


def warn_if_bypassed(found: Isolation, location: str) -> None:
    """Logs that the server does not keep users apart."""
    if not found.enforced:
        log.warning(
            "row level security does not apply to this role: connect as an application role, see"
            " docs/deploy.md",
            location=location,
        )


OLDEST_SERVER: Final = 150000
"""The oldest server version: PostgreSQL 15 knows SET NULL of single columns."""

LOCK: Final = 0x484D454D
"""The advisory lock of migrations ("HMEM"). Writes share it: none is under way during one."""


TYPES: Final = {
    "INTEGER": "BIGINT",
    "TEXT": 'TEXT COLLATE "C"',
    "REAL": "DOUBLE PRECISION",
    "BLOB": "BYTEA",
}

OWNER_COLUMN: Final = f"{OWNER} BIGINT NOT NULL DEFAULT current_user_key()"

TABLES_HERE: Final = "-- [tables]\n"
"""The line of `postgres.sql` in whose place the tables are created."""


def _first(conn: Client) -> None:
    tables = "\n".join(map(_statement, TABLES.values()))
    conn.execute(text("postgres.sql").replace(TABLES_HERE, tables).encode())


def _statement(table: Table) -> str:
    return f"CREATE TABLE {table.name} ({', '.join(_lines(table))});\n{table.indexes}\n"


def _lines(table: Table) -> Iterator[str]:
    owner = next((one for one in table.columns if one.name == OWNER), None)
    owned = table.owned and (owner is None or owner.required or OWNER in table.primary)
    for column in table.columns:
        yield OWNER_COLUMN if owned and column.name == OWNER else _column(table, column)
    if owned and owner is None:
        yield OWNER_COLUMN
    yield f"PRIMARY KEY ({_with_owner(table.primary, owned=owned)})"
    for names in table.unique:
        yield f"UNIQUE ({_with_owner(names, owned=owned)})"
    for column in table.columns:
        if column.parent is None:
            continue
        if column.name == OWNER:
            yield f"FOREIGN KEY ({OWNER}) REFERENCES users ON DELETE CASCADE"
            continue
        of = f" ({column.name})" if column.on_delete == "SET NULL" else ""
        yield (
            f"FOREIGN KEY ({column.name}, {OWNER}) REFERENCES {column.parent} (id, {OWNER})"
            f" ON DELETE {column.on_delete}{of}"
        )


def _column(table: Table, column: Column) -> str:
    if table.primary == ("id",) == (column.name,) and not column.parent:
        return "id BIGINT GENERATED BY DEFAULT AS IDENTITY"
    required = " NOT NULL" if column.required else ""
    default = "" if column.default is None else f" DEFAULT {column.default}"
    return f"{column.name} {TYPES[column.kind]}{required}{default}"


def _with_owner(names: tuple[str, ...], *, owned: bool) -> str:
    return ", ".join(names if OWNER in names or not owned else (*names, OWNER))


STEPS: Final[tuple[Callable[[Client], None], ...]] = (_first,)
"""The step at place n brings a schema of version n to version n + 1."""


def migrate(conn: Client, location: str) -> None:
    """Brings the schema to the newest version; one that cannot be used is left as it is.

    Raises:
        StoreUnusable: If the server is too old, its encoding is not UTF-8, or the schema is
            another program's.
        StoreTooNew: If a newer HotMem wrote it.
        psycopg.Error: If the user may not create the schema, or the server cannot be reached.
    """
    if conn.info.server_version < OLDEST_SERVER:
        raise StoreUnusable(
            f"{location} is PostgreSQL {conn.info.server_version // 10000}; 15 or newer is needed."
        )
    encoding = conn.execute("SHOW server_encoding").fetchone()
    if encoding is None or encoding[0] != "UTF8":
        raise StoreUnusable(
            f"{location} has the encoding {encoding and encoding[0]}. Create a database with"
            " ENCODING 'UTF8'."
        )
    version = checked_version(conn, location)
    if version == len(STEPS):
        return
    conn.patience_s = None
    try:
        _migrate(conn, location)
    except psycopg.errors.InsufficientPrivilege:
        raise StoreUnusable(
            f"{location} has {f'schema {version}' if version else 'no schema yet'}, but this"
            f" version needs schema {len(STEPS)}, and this user may not create it. Run"
            " `hotmem migrate URL` as the owner."
        ) from None


def upgrade(url: str) -> int:
    """Creates or migrates the schema and gives the application role its rights. Blocking.

    Returns:
        The version of the schema.

    Raises:
        StoreReadOnly: If the server is a replica.
        StoreError: If it could not be migrated.
    """
    location, conninfo = parse(url)
    with mapped_errors(location), Client.connect(conninfo, **OPTIONS) as conn:
        conn.patience_s = CONNECT_S
        if conn.execute("SHOW transaction_read_only").fetchone() == ("on",):
            raise StoreReadOnly(f"{location} is a replica or set to read-only. Name the primary.")
        migrate(conn, location)
        with conn.transaction():
            grant(conn)
        warn_if_bypassed(isolation(conn), location)
    return len(STEPS)


def _migrate(conn: Client, location: str) -> None:
    with conn.transaction():
        conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        version = checked_version(conn, location)  # another program may have migrated meanwhile
        if conn.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,):
            conn.execute(f"CREATE SCHEMA {SCHEMA}")
        conn.execute(f"SET LOCAL search_path = {SCHEMA}, pg_catalog")
        for number in range(version, len(STEPS)):
            STEPS[number](conn)
        conn.execute(
            """INSERT INTO meta (key, value) VALUES ('version', %s)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value""",
            (str(len(STEPS)),),
        )
        grant(conn)


def checked_version(conn: Client, location: str) -> int:
    """The version of the schema; 0 if there is none.

    Raises:
        StoreUnusable: If the schema is another program's.
        StoreTooNew: If a newer HotMem wrote it.
    """
    has_meta, others = conn.execute(
        """SELECT to_regclass(%s) IS NOT NULL,
            (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(%s))""",
        (f"{SCHEMA}.meta", SCHEMA),
    ).fetchone() or (False, 0)
    if not has_meta:
        if others:
            raise StoreUnusable(
                f"{location}: the schema {SCHEMA} is another program's. Use another database."
            )
        return 0
    row = conn.execute(f"SELECT value FROM {SCHEMA}.meta WHERE key = 'version'").fetchone()
    version = int(row[0]) if row else 0
    check_not_newer(version, location)
    return version


def check_not_newer(version: int, location: str) -> None:
    """Checks the version of a schema.

    Raises:
        StoreTooNew: If a newer HotMem wrote it.
    """
    if version > len(STEPS):
        raise StoreTooNew(
            f"{location} has schema {version}, this HotMem knows up to {len(STEPS)}. Update HotMem:"
            " pip install -U pipecat-hotmem."
        )


def check_current(version: int, location: str) -> None:
    """Checks that the schema of a connection is today's: a migration may have replaced it.

    Raises:
        StoreTooNew: If a newer HotMem wrote it.
        StoreUnusable: If it is older.
    """
    check_not_newer(version, location)
    if version < len(STEPS):
        raise StoreUnusable(
            f"{location} has schema {version} now, {len(STEPS)} is needed. Run `hotmem migrate URL`"
            " as the owner."
        )
