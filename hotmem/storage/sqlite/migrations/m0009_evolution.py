"""Version 9: the subcategories that categories evolve into.

An evolution of a category is one set of subcategories with the memories placed in them. It is
drafted in portions and then goes live in one step, in which the one before it becomes past; taking
it back makes that one live again. Digests are no words of their own: they are the ids of memories.
What has never evolved waits from the time in `meta`, in seconds since 1970.
"""

from hotmem.storage.sqlite.connection import Connection

STATEMENTS = (
    """CREATE TABLE evolutions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        category TEXT NOT NULL,
        state TEXT NOT NULL,
        evolved_at INTEGER NOT NULL,
        memories INTEGER NOT NULL,
        decision INTEGER REFERENCES decisions ON DELETE SET NULL
    )""",
    "CREATE INDEX evolutions_of_user ON evolutions (user, category, state)",
    "CREATE INDEX evolutions_decided ON evolutions (decision) WHERE decision IS NOT NULL",
    """CREATE TABLE subcategories (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        evolution INTEGER NOT NULL REFERENCES evolutions ON DELETE CASCADE,
        name TEXT NOT NULL,
        keywords TEXT NOT NULL,
        examples TEXT NOT NULL,
        since INTEGER NOT NULL,
        centroid BLOB,
        UNIQUE (evolution, name)
    )""",
    """CREATE TABLE placements (
        subcategory INTEGER NOT NULL REFERENCES subcategories ON DELETE CASCADE,
        memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
        PRIMARY KEY (subcategory, memory)
    ) WITHOUT ROWID""",
    "CREATE INDEX placements_of_memory ON placements (memory)",
    "CREATE INDEX memories_by_category ON memories (user, category) WHERE merged_into IS NULL",
    "INSERT INTO meta (key, value) VALUES ('evolution', unixepoch())",
)


def apply(conn: Connection) -> None:
    """Adds the tables."""
    for statement in STATEMENTS:
        conn.execute(statement)
