"""Statistics, timeline, checks, language and reindexing of a database."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Final

import numpy as np

from hotmem.errors import StoreUnusable
from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    damage,
    index_entries,
    model_calls,
    reembedding,
    subcategories,
)
from hotmem.storage.queries.index_entries import TABLES, WORDED
from hotmem.storage.queries.tags import SHOWN_TAGS
from hotmem.storage.queries.times import from_stored, span, to_stored
from hotmem.storage.queries.turns import derived_columns
from hotmem.text.languages import ENGLISH
from hotmem.types import EvidenceKind, Fault, Period, Stats, UserKey

TEXTS: Final = {
    EvidenceKind.PASSAGE: """SELECT b.id, b.user_key, b.session,
        substr(t.text, b.start + 1, b.stop - b.start) AS text, b.vector
        FROM passages b JOIN turns t ON t.id = b.turn""",
    EvidenceKind.MEMORY: """SELECT b.id, b.user_key, 0 AS session, b.text, b.vector FROM memories b
        WHERE b.merged_into IS NULL""",
    EvidenceKind.SUMMARY: """SELECT b.id, b.user_key, b.id AS session, '' AS text, b.vector
        FROM summaries b""",
}
"""The source of each index: row number, user, session, text, vector."""

LENGTHS: Final = {"day": 10, "month": 7, "year": 4}
"""Length of the ISO date prefix that names a period."""

YEAR_1: Final = -to_stored(datetime.min.replace(tzinfo=UTC))
"""Microseconds from the beginning of year 1 to 1970. Added to a time they make it positive, so that
every engine rounds its day down."""

DAY: Final = f"(r.{{moment}} + {YEAR_1}) / 86400000000 + 1"
"""The day of a time, as `date.toordinal` counts."""

TURNS_BY_DAY: Final = f"""
    SELECT {DAY.format(moment="spoken_at")}, count(*) FROM turns r
    WHERE r.user_key = :user AND r.spoken_at >= :first AND r.spoken_at < :last {{mentioning}}
    GROUP BY 1"""

MEMORIES_BY_DAY: Final = f"""
    SELECT {DAY.format(moment="said_at")}, r.text FROM memories r
    WHERE r.user_key = :user AND r.merged_into IS NULL
        AND r.said_at >= :first AND r.said_at < :last {{mentioning}}
    ORDER BY r.said_at, r.id"""

MENTIONING: Final = """AND r.id IN (SELECT x.{row} FROM entities e JOIN {row}_entities x
        ON x.entity = e.id WHERE e.user_key = :user AND e.key = :key)"""


def stats(conn: Connection, user: UserKey) -> Stats:
    """Counts of a user's rows."""

    def counted(column: str) -> dict[str, int]:
        rows = conn.execute(
            f"""SELECT {column}, count(*) FROM memories WHERE user_key = ? AND merged_into IS NULL
                GROUP BY 1 ORDER BY 2 DESC, 1""",
            (user,),
        )
        return {str(name): count for name, count in rows}

    def number_of(table: str, condition: str = "") -> int:
        sql = f"SELECT count(*) FROM {table} WHERE user_key = ? {condition}"
        return int(conn.scalar(sql, (user,)))

    evolved: dict[str, dict[str, int]] = {}
    for one_of in subcategories.of_user(conn, user):
        evolved.setdefault(one_of.category, {})[one_of.name] = one_of.memories
    first, last = conn.execute(
        "SELECT min(spoken_at), max(spoken_at) FROM turns WHERE user_key = ?", (user,)
    ).fetchone()
    return Stats(
        turns=number_of("turns"),
        sessions=number_of("sessions"),
        memories=number_of("memories", "AND merged_into IS NULL"),
        ended=number_of("memories", "AND merged_into IS NULL AND valid_until IS NOT NULL"),
        merged=number_of("memories", "AND merged_into <> id"),
        stored=number_of("memories", "AND merged_into IS NULL AND stored_at IS NOT NULL"),
        never_used=number_of("memories", "AND merged_into IS NULL AND accesses = 0"),
        entities=number_of("entities"),
        summaries=number_of("summaries"),
        waiting=number_of("pending_turns"),
        failed=number_of("failures", "AND again_at IS NULL"),
        by_category=counted("category"),
        by_kind=counted("kind"),
        by_importance=counted("importance"),
        by_subcategory=evolved,
        tags=dict(
            conn.execute(
                f"""SELECT g.name, count(DISTINCT x.memory) FROM memory_tags x
                    JOIN memories m ON m.id = x.memory AND m.merged_into IS NULL
                    JOIN tags o ON o.id = x.tag JOIN tags g ON g.id = coalesce(o.merged_into, o.id)
                    WHERE g.user_key = ? AND g.archived = 0
                    GROUP BY g.id, g.name {SHOWN_TAGS} ORDER BY 2 DESC, 1""",
                (user,),
            ).fetchall()
        ),
        first_said=None if first is None else from_stored(first),
        last_said=None if last is None else from_stored(last),
        file_bytes=conn.size_bytes(user),
        extraction=model_calls.costs(conn, user),
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
    first, last = span(after, before)
    asked: dict[str, int | str] = {"user": user, "first": first, "last": last}
    mentioning = ""
    if about is not None:
        mentioning, asked["key"] = MENTIONING, about.strip().casefold()

    def period(day: int) -> str:
        return date.fromordinal(day).isoformat()[: LENGTHS[length]]

    spoken: Counter[str] = Counter()
    sql = TURNS_BY_DAY.format(mentioning=mentioning.format(row="turn"))
    for day, count in conn.execute(sql, asked):
        spoken[period(day)] += count
    learnt: defaultdict[str, list[str]] = defaultdict(list)
    sql = MEMORIES_BY_DAY.format(mentioning=mentioning.format(row="memory"))
    for day, text in conn.execute(sql, asked):
        learnt[period(day)].append(text)
    return [
        Period(name, spoken[name], tuple(learnt[name]))
        for name in sorted(spoken.keys() | learnt.keys())
    ]


def faults(conn: Connection) -> list[Fault]:
    """Faults of the database; empty for a sound one."""
    found = [*conn.integrity_faults(), *damage.faults(conn)]
    dimension = reembedding.dimension(conn)
    size = "NULL" if dimension is None else (dimension + 7) // 8
    for kind, sql in TEXTS.items():
        same = "e.user_key = f.user_key AND e.id = f.id AND e.session = f.session"
        counts: dict[str, int] = {}
        for rows, what in (
            (
                f"({sql}) f WHERE NOT EXISTS (SELECT 1 FROM {kind}_entries e WHERE {same})",
                "that no search finds",
            ),
            (
                f"{kind}_entries e WHERE NOT EXISTS (SELECT 1 FROM ({sql}) f WHERE {same})",
                "in the index that are not there any more",
            ),
            (
                f"""({sql}) f JOIN {kind}_entries e ON {same}
                    WHERE (f.vector IS NULL) <> (e.bits IS NULL) OR length(e.bits) <> {size}""",
                "not found by their meaning",
            ),
        ):
            counts[what] = conn.scalar(f"SELECT count(*) FROM {rows}")
        if kind in WORDED:
            texts = set(conn.column(f"SELECT f.id FROM ({sql}) f"))
            worded = conn.search.worded(conn, kind)
            counts["not found by their words"] = len(texts - worded)
            counts["in the full-text index that are not there any more"] = len(worded - texts)
        found += [
            Fault("index", count, f"{TABLES[kind]} {what}")
            for what, count in counts.items()
            if count
        ]
    return found


def repair(conn: Connection) -> int:
    """Mends damaged rows and rebuilds all index entries; returns how many."""
    damage.mend(conn)
    return reindex(conn)


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


ENTRIES: Final = "SELECT key, value FROM {meta} WHERE key IN ('language', 'encoder')"
"""What `of_index` needs of the table `meta`."""


def of_index(entries: Iterable[tuple[str, str]], wanted: str | None, location: str) -> str:
    """The language of a database's index.

    Args:
        entries: The rows of `ENTRIES`.
        wanted: The language that is set; None for that of the database, English if it is new.
        location: The database, for the error.

    Raises:
        StoreUnusable: If it is another one than `wanted`.
    """
    found = recorded(entries)
    if None not in (found, wanted) and found != wanted:
        raise StoreUnusable(
            f"{location}: words are indexed in the language {found!r}, and HOTMEM_LANGUAGE is"
            f" {wanted!r}. Leave it empty, or index all words anew: `hotmem language {wanted}`."
        )
    return found or wanted or ENGLISH


def recorded(entries: Iterable[tuple[str, str]]) -> str | None:
    """The language of a database's index by the rows of `ENTRIES`; None before it is first used."""
    stored = dict(entries)
    return stored.get("language") or (ENGLISH if "encoder" in stored else None)


def is_recorded(conn: Connection) -> bool:
    """Whether the language of the index is recorded."""
    return conn.exists("SELECT 1 FROM meta WHERE key = 'language'")


def record(conn: Connection, location: str) -> None:
    """Records the connection's language as the index's, unless one is recorded.

    Raises:
        StoreUnusable: If another program has recorded another one meanwhile.
    """
    _insert(conn, "NOTHING")
    of_index(conn.execute(ENTRIES.format(meta="meta")).fetchall(), conn.search.language, location)


def change(conn: Connection, language: str) -> int:
    """Indexes all words anew by the rules of another language; returns the number of entries.

    Programs that have the database open keep searching by those of the former one.
    """
    conn.search.language = language
    _insert(conn, "UPDATE SET value = excluded.value")
    rows = conn.execute(f"{TEXTS[EvidenceKind.PASSAGE]} ORDER BY b.id").fetchall()
    conn.executemany(
        f"UPDATE {TABLES[EvidenceKind.PASSAGE]} SET terms = ? WHERE id = ?",
        [(derived_columns(text, language)[0], key) for key, _, _, text, _ in rows],
    )
    return reindex(conn)


def _insert(conn: Connection, otherwise: str) -> None:
    conn.execute(
        f"""INSERT INTO meta (key, value) VALUES ('language', ?)
            ON CONFLICT (key) DO {otherwise}""",
        (conn.search.language,),
    )
