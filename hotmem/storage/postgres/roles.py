"""The application role, to which row level security applies, and its rights.

Superusers and roles with BYPASSRLS see all rows whatever the policies say. Transactions of such a
connection therefore run as the application role, which `deploy/roles.sql` or a migration creates.
"""

from contextlib import suppress
from typing import Any, Final, NamedTuple

import psycopg

from hotmem.core.logs import log
from hotmem.storage.postgres.connection import SCHEMA

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
        bypassed: Whether row level security does not apply to the connection's own role.
        role: The role that transactions change to; None if they need not or cannot.
    """

    bypassed: bool
    role: str | None

    @property
    def enforced(self) -> bool:
        """Whether the server keeps users apart."""
        return not self.bypassed or self.role is not None


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
        return Isolation(False, None)
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
            return Isolation(True, APPLICATION)
    return Isolation(True, None)


def warn_if_bypassed(found: Isolation, location: str) -> None:
    """Logs that the server does not keep users apart."""
    if not found.enforced:
        log.warning(
            "row level security does not apply to this role: connect as an application role, see"
            " docs/deploy.md",
            location=location,
        )
