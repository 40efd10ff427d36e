"""Version 2: searches read entries, a few bytes a row, and terms that are each user's own.

Before, a search by meaning went through a vec0 table of all users, and every row was in the word
index under its user's mark: both grew with all rows of the file. `revisions` counts, for each user
and kind, the changes that an index in memory cannot follow by reading the entries behind its last:
removals, changed vectors, and entries that come out of order.
"""

import numpy as np

from hotmem.storage.queries import index_entries
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import EvidenceKind, UserKey

TEXTS = {
    EvidenceKind.PASSAGE: """SELECT p.user, p.id, p.session, substr(t.text, p.start + 1, p.stop - p.start), p.vector
        FROM passages p JOIN turns t ON t.id = p.turn ORDER BY p.id""",
    EvidenceKind.MEMORY: "SELECT user, id, 0, text, vector FROM memories ORDER BY id",
    EvidenceKind.SUMMARY: "SELECT user, id, id, '', vector FROM summaries ORDER BY id",
}


def apply(conn: Connection) -> None:
    """Replaces the indexes and fills the new ones."""
    conn.execute(
        "CREATE TABLE revisions (user INTEGER, kind TEXT, number INTEGER NOT NULL, PRIMARY KEY (user, kind)) WITHOUT ROWID"
    )
    for kind, table in index_entries.TABLES.items():
        conn.execute(f"DROP TRIGGER {table}_words_gone")
        conn.execute(f"DROP TRIGGER IF EXISTS {kind}_vectors_gone")
        conn.execute(f"DROP TABLE {kind}_words")
        conn.execute(f"DROP TABLE IF EXISTS {kind}_vectors")
        _create(conn, kind, table)
        for user, key, session, text, vector in conn.execute(TEXTS[kind]).fetchall():
            index_entries.add(conn, kind, UserKey(user), key, session, text)
            if vector is not None:
                index_entries.sign(
                    conn, kind, UserKey(user), key, np.frombuffer(vector, dtype=np.int8)
                )


def _create(conn: Connection, kind: EvidenceKind, table: str) -> None:
    conn.execute(
        f"""CREATE TABLE {kind}_entries (user INTEGER, id INTEGER, session INTEGER NOT NULL, length INTEGER NOT NULL, bits BLOB,
            PRIMARY KEY (user, id)) WITHOUT ROWID"""
    )
    gone = f"DELETE FROM {kind}_entries WHERE user = old.user AND id = old.id;"
    if kind in index_entries.WORDED:
        conn.execute(
            f"CREATE VIRTUAL TABLE {kind}_words USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')"
        )
        conn.execute(f"INSERT INTO {kind}_words ({kind}_words, rank) VALUES ('secure-delete', 1)")
        gone += f" DELETE FROM {kind}_words WHERE rowid = old.id;"
    conn.execute(f"CREATE TRIGGER {table}_gone AFTER DELETE ON {table} BEGIN {gone} END")
    revise = f"INSERT INTO revisions VALUES ({{0}}.user, '{kind}', 1) ON CONFLICT DO UPDATE SET number = number + 1;"
    conn.execute(
        f"CREATE TRIGGER {kind}_entry_gone AFTER DELETE ON {kind}_entries BEGIN {revise.format('old')} END"
    )
    conn.execute(
        f"""CREATE TRIGGER {kind}_entry_changed AFTER UPDATE OF bits ON {kind}_entries WHEN old.bits IS NOT NULL
            BEGIN {revise.format("old")} END"""
    )
    conn.execute(
        f"""CREATE TRIGGER {kind}_entry_late AFTER INSERT ON {kind}_entries
            WHEN EXISTS (SELECT 1 FROM {kind}_entries WHERE user = new.user AND id > new.id) BEGIN {revise.format("new")} END"""
    )
