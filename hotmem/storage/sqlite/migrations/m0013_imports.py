"""Version 13: imports, each with how far it has come, what came with it, and what it changed of what was there.

`import` is the number of the import that a row came with. It is no reference: none is left when an
import's row goes, and to look for them would be to read whole tables. What came with an import
waits behind what was said, so that its number stands first in the indexes of what waits.
"""

from hotmem.storage.sqlite.connection import Connection

MARKED = ("turns", "passages", "memories", "summaries", "pending", "evolutions", "speakers")

STATEMENTS = (
    """CREATE TABLE imports (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        source TEXT NOT NULL,
        state TEXT NOT NULL,
        begun_at INTEGER NOT NULL,
        new_user INTEGER NOT NULL,
        records INTEGER NOT NULL DEFAULT 0,
        turns INTEGER NOT NULL DEFAULT 0,
        memories INTEGER NOT NULL DEFAULT 0,
        known INTEGER NOT NULL DEFAULT 0,
        others INTEGER NOT NULL DEFAULT 0,
        decision INTEGER REFERENCES decisions ON DELETE SET NULL
    )""",
    "CREATE INDEX imports_of_user ON imports (user)",
    "CREATE INDEX imports_of_source ON imports (source, user)",
    "CREATE INDEX imports_decided ON imports (decision) WHERE decision IS NOT NULL",
    """CREATE TABLE import_changes (
        import INTEGER NOT NULL REFERENCES imports ON DELETE CASCADE,
        what TEXT NOT NULL,
        key TEXT NOT NULL,
        before TEXT NOT NULL,
        PRIMARY KEY (import, what, key)
    ) WITHOUT ROWID""",
    *(f"ALTER TABLE {table} ADD COLUMN import INTEGER" for table in MARKED),
    "CREATE INDEX turns_of_import ON turns (import) WHERE import IS NOT NULL",
    "CREATE INDEX memories_of_import ON memories (import) WHERE import IS NOT NULL",
    "CREATE INDEX summaries_of_import ON summaries (import) WHERE import IS NOT NULL",
    "CREATE INDEX pending_following ON pending (import, turn)",
    *(f"DROP INDEX {table}_waiting" for table in ("passages", "memories", "summaries")),
    *(
        f"CREATE INDEX {table}_waiting ON {table} (import, id) WHERE vector IS NULL"
        for table in ("passages", "memories", "summaries")
    ),
)


def apply(conn: Connection) -> None:
    """Adds the tables and the columns."""
    for statement in STATEMENTS:
        conn.execute(statement)
