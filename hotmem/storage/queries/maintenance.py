"""Statistics, checks, reindexing, backup and restore of a database."""

import json
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.output_files import new_file
from hotmem.errors import StoreUnusable
from hotmem.storage.queries import index_entries, subcategories
from hotmem.storage.queries.index_entries import TABLES, WORDED
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import APPLICATION_ID
from hotmem.types import EvidenceKind, Fault, Period, Stats, UserKey

PAGES: Final = 2000
"""Pages copied at once in a backup; others may write in between."""

TEXTS: Final = {
    EvidenceKind.PASSAGE: """SELECT b.id, b.user_key, b.session,
        substr(t.text, b.start + 1, b.stop - b.start), b.vector
        FROM passages b JOIN turns t ON t.id = b.turn""",
    EvidenceKind.MEMORY: """SELECT b.id, b.user_key, 0, b.text, b.vector FROM memories b
        WHERE b.merged_into IS NULL""",
    EvidenceKind.SUMMARY: "SELECT b.id, b.user_key, b.id, '', b.vector FROM summaries b",
}
"""The source of each index: row number, user, session, text, vector."""

LENGTHS: Final = {"day": 10, "month": 7, "year": 4}
"""Length of the ISO date prefix that names a period."""

IN_PERIODS: Final = """
    SELECT substr(datetime(r.{moment} / 1000000, 'unixepoch'), 1, :length), {counted} FROM {table} r
    WHERE r.user_key = :user AND r.{moment} >= :first AND r.{moment} < :last
        AND (:key IS NULL OR r.id IN (SELECT x.{entity} FROM entities e JOIN {entity}_entities x
            ON x.entity = e.id
                                      WHERE e.user_key = :user AND e.key = :key))
    GROUP BY 1"""


def stats(conn: Connection, user: UserKey) -> Stats:
    """Counts of a user's rows."""

    def counted(column: str) -> dict[str, int]:
        rows = conn.execute(
            f"""SELECT {column}, count(*) FROM memories WHERE user_key = ? AND merged_into IS NULL
                GROUP BY 1 ORDER BY 2 DESC, 1""",
            (user,),
        )
        return {str(name): count for name, count in rows}

    def one(sql: str) -> int:
        return int(conn.execute(sql, (user,)).fetchone()[0])

    evolved: dict[str, dict[str, int]] = {}
    for one_of in subcategories.of_user(conn, user):
        evolved.setdefault(one_of.category, {})[one_of.name] = one_of.memories
    first, last = conn.execute(
        "SELECT min(spoken_at), max(spoken_at) FROM turns WHERE user_key = ?", (user,)
    ).fetchone()
    return Stats(
        turns=one("SELECT count(*) FROM turns WHERE user_key = ?"),
        sessions=one("SELECT count(*) FROM sessions WHERE user_key = ?"),
        memories=one("SELECT count(*) FROM memories WHERE user_key = ? AND merged_into IS NULL"),
        ended=one(
            """SELECT count(*) FROM memories WHERE user_key = ? AND merged_into IS NULL
                AND valid_until IS NOT NULL"""
        ),
        merged=one("SELECT count(*) FROM memories WHERE user_key = ? AND merged_into IS NOT NULL"),
        stored=one("SELECT count(*) FROM memories WHERE user_key = ? AND stored_at IS NOT NULL"),
        never_used=one(
            """SELECT count(*) FROM memories WHERE user_key = ? AND merged_into IS NULL
                AND accesses = 0"""
        ),
        entities=one("SELECT count(*) FROM entities WHERE user_key = ?"),
        summaries=one("SELECT count(*) FROM summaries WHERE user_key = ?"),
        waiting=one("SELECT count(*) FROM pending_turns WHERE user_key = ?"),
        failed=one("SELECT count(*) FROM failures WHERE user_key = ? AND again_at IS NULL"),
        by_category=counted("category"),
        by_kind=counted("kind"),
        by_importance=counted("importance"),
        by_subcategory=evolved,
        tags=dict(
            conn.execute(
                """SELECT g.name, count(DISTINCT x.memory) FROM memory_tags x JOIN tags o
                   ON o.id = x.tag
                       JOIN tags g ON g.id = coalesce(o.merged_into, o.id) WHERE g.user_key = ?
                           AND NOT g.archived
                   GROUP BY g.id ORDER BY 2 DESC, 1""",
                (user,),
            ).fetchall()
        ),
        first_said=None if first is None else from_stored(first),
        last_said=None if last is None else from_stored(last),
        file_bytes=int(
            conn.execute(
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            ).fetchone()[0]
        ),
    )


def timeline(
    conn: Connection,
    user: UserKey,
    length: str,
    about: str | None,
    after: datetime | None,
    before: datetime | None,
) -> list[Period]:
    """Number of turns and memories of each period that has any, the earliest first.

    Args:
        conn: A connection.
        user: The user.
        length: "day", "month" or "year", in UTC.
        about: Only what mentions this name; None for everything.
        after: Said at or after.
        before: Said before.
    """
    asked = {
        "user": user,
        "key": None if about is None else about.strip().casefold(),
        "first": -(2**62) if after is None else to_stored(after),
        "last": 2**62 if before is None else to_stored(before),
        "length": LENGTHS[length],
    }
    spoken = dict(
        conn.execute(
            IN_PERIODS.format(counted="count(*)", table="turns", moment="spoken_at", entity="turn"),
            asked,
        ).fetchall()
    )
    memories = "(SELECT * FROM memories WHERE merged_into IS NULL)"
    learnt = dict(
        conn.execute(
            IN_PERIODS.format(
                counted="json_group_array(r.text)",
                table=memories,
                moment="said_at",
                entity="memory",
            ),
            asked,
        ).fetchall()
    )
    return [
        Period(name, spoken.get(name, 0), tuple(json.loads(learnt.get(name, "[]"))))
        for name in sorted(spoken.keys() | learnt.keys())
    ]


def faults(conn: Connection) -> list[Fault]:
    """Faults of the database; empty for a sound one."""
    # A query makes the index reload the file first: its own check would report what others rewrote
    # since as damage.
    for kind in WORDED:
        conn.execute(
            f"SELECT rowid FROM {kind}_words WHERE {kind}_words MATCH 'u0x' LIMIT 1"
        ).fetchone()
    found = [
        Fault("file", 1, str(row[0]))
        for row in conn.execute("PRAGMA integrity_check")
        if row[0] != "ok"
    ]
    dangling = conn.execute("PRAGMA foreign_key_check").fetchall()
    if dangling:
        found.append(Fault("references", len(dangling), "rows that refer to rows that are gone"))
    for kind, sql in TEXTS.items():
        entry = f"{kind}_entries e WHERE e.user_key = f.user_key AND e.id = f.id"
        unfound = _count(
            conn, f"SELECT count(*) FROM ({sql}) f WHERE NOT EXISTS (SELECT 1 FROM {entry})"
        )
        stray = _count(
            conn,
            f"""SELECT count(*) FROM {kind}_entries e WHERE
                NOT EXISTS (SELECT 1 FROM ({sql}) f WHERE f.id = e.id)""",
        )
        unsigned = _count(
            conn,
            f"""SELECT count(*) FROM ({sql}) f WHERE f.vector IS NOT NULL AND
                EXISTS (SELECT 1 FROM {entry} AND e.bits IS NULL)""",
        )
        for count, what in (
            (unfound, "that no search finds"),
            (stray, "in the index that are not there any more"),
            (unsigned, "not found by their meaning"),
        ):
            if count:
                found.append(Fault("index", count, f"{TABLES[kind]} {what}"))
    return found


def reindex(conn: Connection) -> int:
    """Rebuilds all index entries from the stored texts; returns how many."""
    made = 0
    for kind, sql in TEXTS.items():
        conn.execute(f"DELETE FROM {kind}_entries")
        if kind in WORDED:
            conn.search.clear_terms(conn, kind)
        for key, user, session, text, vector in conn.execute(f"{sql} ORDER BY b.id").fetchall():
            index_entries.add(conn, user, kind, key, session, text)
            if vector is not None:
                index_entries.sign(conn, user, kind, key, np.frombuffer(vector, dtype=np.int8))
            made += 1
    return made


def backup(conn: Connection, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copies the database as of one moment, while others read and write.

    The copy of an encrypted database has its key.

    Args:
        conn: A connection.
        target: Path of the copy, which must not exist.
        progress: Called now and then with the pages left and the total.

    Raises:
        InvalidInput: If the target exists.
        StoreError: If it cannot be written.
    """
    files.check_path(target)
    with new_file(target) as making, mapped_errors(target):
        conn.execute(
            "SELECT 1 FROM sqlite_master"
        ).fetchone()  # all pages are of one snapshot, whatever others write
        with closing(connect(making, key=conn.key)) as made:
            connection.copy(conn, made, PAGES, progress)


def restore(source: Path, target: Path, key: EncryptionKey | None = None) -> None:
    """Creates a database from a backup, which is not changed. Blocking.

    Args:
        source: The backup.
        target: Path of the database, which must not exist.
        key: Key of the backup and of the database.

    Raises:
        InvalidInput: If the target exists.
        StoreError: If one of them cannot be used.
    """
    with mapped_errors(source), closing(connect(source, key=key, read_only=True)) as conn:
        if conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreUnusable(f"{source} is no copy of a memory. Name a file that a backup made.")
        connection.check(conn, source)
        backup(conn, target, lambda _left, _whole: None)


def _count(conn: Connection, sql: str) -> int:
    return int(conn.execute(sql).fetchone()[0])
