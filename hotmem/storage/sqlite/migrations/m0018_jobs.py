"""Version 18: background work in turn from all users, and what of it failed.

What is `held` failed, and is left alone until it is tried again; `failures` tells when that is,
never if it is set aside.
"""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

EMBEDDED: Final = {"passages": "passage", "memories": "memory", "summaries": "summary"}

STATEMENTS: Final = (
    """CREATE TABLE failures (
        kind TEXT NOT NULL,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        key NOT NULL,
        tries INTEGER NOT NULL,
        error TEXT NOT NULL,
        failed_at INTEGER NOT NULL,
        again_at INTEGER,
        PRIMARY KEY (kind, key, user)
    ) WITHOUT ROWID""",
    "CREATE INDEX failures_of_user ON failures (user)",
    "CREATE INDEX failures_following ON failures (again_at, failed_at)",
    "DROP INDEX pending_following",
    "ALTER TABLE pending DROP COLUMN attempts",
    "ALTER TABLE pending ADD COLUMN user INTEGER NOT NULL DEFAULT 0",
    "UPDATE pending SET user = (SELECT t.user FROM turns t WHERE t.id = pending.turn)",
    *(
        f"ALTER TABLE {table} ADD COLUMN held INTEGER NOT NULL DEFAULT 0"
        for table in ("pending", "sessions", *EMBEDDED)
    ),
    "CREATE INDEX pending_following ON pending (import, user, turn) WHERE held = 0",
    "CREATE INDEX pending_of_user ON pending (user)",
    *(f"DROP INDEX {table}_waiting" for table in EMBEDDED),
    *(
        f"CREATE INDEX {table}_waiting ON {table} (import, user, id) WHERE vector IS NULL AND held = 0"
        for table in EMBEDDED
    ),
    "CREATE INDEX passages_unread ON passages (session) WHERE vector IS NULL AND held = 0",
    "DROP INDEX sessions_due",
    "CREATE INDEX sessions_idle ON sessions (touched_at) WHERE summary_due = 1 AND held = 0",
    "CREATE INDEX sessions_due ON sessions (user, touched_at) WHERE summary_due = 2 AND held = 0",
    *(
        f"CREATE TRIGGER {kind}_failure_gone AFTER DELETE ON {table} BEGIN DELETE FROM failures WHERE kind = '{kind}' AND key = old.{key}; END"
        for kind, table, key in (
            ("turn", "pending", "turn"),
            ("session", "sessions", "id"),
            ("import", "imports", "id"),
            *((kind, table, "id") for table, kind in EMBEDDED.items()),
        )
    ),
    *(
        f"""CREATE TRIGGER {kind}_embedded AFTER UPDATE OF vector ON {table} WHEN new.vector NOT NULL
            BEGIN DELETE FROM failures WHERE kind = '{kind}' AND key = old.id; END"""
        for table, kind in EMBEDDED.items()
    ),
    """CREATE TRIGGER session_summarised AFTER UPDATE OF summary_due ON sessions WHEN new.summary_due = 0
        BEGIN DELETE FROM failures WHERE kind = 'session' AND key = old.id; END""",
)


def apply(conn: Connection) -> None:
    """Adds the table, and whose each piece of work is."""
    for statement in STATEMENTS:
        conn.execute(statement)
