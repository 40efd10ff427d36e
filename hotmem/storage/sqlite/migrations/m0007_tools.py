"""Version 7: memories that were noted and not said, their tags, and a record of what was decided about them.

A memory that says the same as another is merged into it: it keeps its row, so that the decision can
be taken back, and loses its index entry, so that nothing finds it. A tag that means the same as
another is merged into it likewise. The record names memories and holds no words of theirs, so that
forgetting need not search it.
"""

from hotmem.storage.sqlite.connection import Connection

STATEMENTS = (
    "ALTER TABLE memories ADD COLUMN noted_at INTEGER",
    "ALTER TABLE memories ADD COLUMN origin TEXT",
    "ALTER TABLE memories ADD COLUMN remark TEXT",
    "ALTER TABLE memories ADD COLUMN merged_into INTEGER REFERENCES memories ON DELETE CASCADE",
    "CREATE INDEX memories_merged ON memories (merged_into) WHERE merged_into IS NOT NULL",
    """CREATE TABLE tags (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        name TEXT NOT NULL,
        used_at INTEGER NOT NULL,
        archived INTEGER NOT NULL DEFAULT 0,
        merged_into INTEGER REFERENCES tags ON DELETE SET NULL,
        vector BLOB,
        UNIQUE (user, name)
    )""",
    "CREATE INDEX tags_merged ON tags (merged_into) WHERE merged_into IS NOT NULL",
    """CREATE TABLE memory_tags (
        memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
        tag INTEGER NOT NULL REFERENCES tags ON DELETE CASCADE,
        PRIMARY KEY (memory, tag)
    ) WITHOUT ROWID""",
    "CREATE INDEX memory_tags_of_tag ON memory_tags (tag)",
    """CREATE TABLE decisions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        name TEXT NOT NULL UNIQUE,
        action TEXT NOT NULL,
        reason TEXT NOT NULL,
        decided_at INTEGER NOT NULL,
        undone_at INTEGER
    )""",
    "CREATE INDEX decisions_of_user ON decisions (user, decided_at)",
    """CREATE TABLE decided (
        decision INTEGER NOT NULL REFERENCES decisions ON DELETE CASCADE,
        memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
        into_memory INTEGER REFERENCES memories ON DELETE CASCADE,
        PRIMARY KEY (decision, memory)
    ) WITHOUT ROWID""",
    "CREATE INDEX decided_memory ON decided (memory)",
    """CREATE TABLE decided_tags (
        decision INTEGER NOT NULL REFERENCES decisions ON DELETE CASCADE,
        tag INTEGER NOT NULL REFERENCES tags ON DELETE CASCADE,
        into_tag INTEGER REFERENCES tags ON DELETE CASCADE,
        PRIMARY KEY (decision, tag)
    ) WITHOUT ROWID""",
    "CREATE INDEX decided_tag ON decided_tags (tag)",
    "CREATE INDEX decided_into_tag ON decided_tags (into_tag) WHERE into_tag IS NOT NULL",
    "CREATE INDEX decided_into ON decided (into_memory) WHERE into_memory IS NOT NULL",
)


def apply(conn: Connection) -> None:
    """Adds the columns and tables."""
    for statement in STATEMENTS:
        conn.execute(statement)
