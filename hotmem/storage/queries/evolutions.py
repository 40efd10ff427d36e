"""Evolutions: drafts of the subcategories of a category, the live ones, and past ones.

A draft is written in batches and made live in one transaction.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from hotmem.storage.database import Connection
from hotmem.storage.queries import job_failures, reembedding
from hotmem.storage.queries.decisions import record
from hotmem.storage.queries.imports import FINISHED, Import
from hotmem.storage.queries.placement import LIVE_EVOLUTION, assign_evolution
from hotmem.storage.queries.times import BEHIND, from_stored, to_stored
from hotmem.storage.search.vectors import from_bytes, to_bytes
from hotmem.types import (
    Category,
    CategoryMembers,
    DecisionAction,
    EvidenceKind,
    EvolutionDraft,
    EvolutionRecord,
    FormerSubcategory,
    JobKind,
    SubcategoryDraft,
    SubcategoryRecord,
    UserKey,
)

DRAFT, LIVE, PAST, UNDONE, EMPTY = "draft", "live", "past", "undone", "nothing"
"""States of an evolution; an empty one is stored for its time."""


PAST_KEPT: Final = 3
"""Past evolutions of a category that can be restored."""


GROWTH: Final = 0.1
"""Share by which a category must have grown before it evolves again."""


NOT_HELD: Final = job_failures.NOT_HELD.format(
    work=JobKind.CATEGORY, key="m.category", user="m.user_key"
)


def due(
    conn: Connection, now: datetime, every: timedelta, least: int
) -> tuple[UserKey, Category] | None:
    """A user's category whose evolution is due and that has grown enough.

    Users with an unfinished import, and categories whose evolution failed and waits, are left out.

    Args:
        conn: A connection.
        now: The wall clock, UTC.
        every: Time between two evolutions of a category. One that never evolved counts from the
            migration that added evolutions; one dated after the clock does not wait.
        least: Memories that a category must have gained.
    """
    migrated = conn.execute("SELECT value FROM meta WHERE key = 'evolution'").fetchone()
    row = conn.execute(
        f"""SELECT m.user_key, m.category FROM (
               SELECT user_key, category, count(*) AS memories FROM memories
                   WHERE merged_into IS NULL GROUP BY user_key, category) m
           LEFT JOIN evolutions e ON e.id = (SELECT max(id) FROM evolutions
               WHERE user_key = m.user_key AND category = m.category AND state <> 'draft')
           WHERE coalesce(e.evolved_at, ?) NOT BETWEEN ? AND ?
               AND m.memories >= coalesce(e.memories, 0) + greatest(?, ? * coalesce(e.memories, 0))
               AND m.user_key NOT IN (SELECT user_key FROM imports WHERE state <> ?) AND {NOT_HELD}
                   LIMIT 1""",
        (
            1_000_000 * int(migrated[0]),
            to_stored(now - every) + 1,
            to_stored(now) + BEHIND,
            least,
            GROWTH,
            FINISHED,
        ),
    ).fetchone()
    return None if row is None else (UserKey(row[0]), Category(row[1]))


def members(conn: Connection, user: UserKey, category: Category, limit: int) -> CategoryMembers:
    """The embedded memories of a category, sampled evenly if there are more than `limit`.

    Memories with vectors of the former encoder cannot be compared with the others and are left out.
    """
    (total,) = conn.execute(
        "SELECT count(*) FROM memories WHERE user_key = ? AND category = ? AND merged_into IS NULL",
        (user, category),
    ).fetchone()
    rows = conn.execute(
        """SELECT id, public_id, text, vector, (
                   SELECT json_group_array(t.name) FROM memory_tags x JOIN tags t ON t.id = x.tag
                   WHERE x.memory = placed.id) FROM (
               SELECT id, public_id, text, vector, row_number() OVER (ORDER BY id) - 1 AS place
                   FROM memories
               WHERE user_key = ? AND category = ? AND merged_into IS NULL AND vector IS NOT NULL
                   AND id > ?) placed
           WHERE place % ? = 0 ORDER BY id""",
        (
            user,
            category,
            reembedding.boundary(conn, EvidenceKind.MEMORY),
            max(-(-total // limit), 1),
        ),
    ).fetchall()
    named = conn.execute(
        f"""SELECT s.name, s.since, s.keywords, s.pinned, s.centroid, coalesce((
                SELECT json_group_array(x.memory) FROM subcategory_members x
                WHERE x.subcategory = s.id), '[]')
            FROM subcategories s WHERE s.evolution = ({LIVE_EVOLUTION}) ORDER BY s.id""",
        (user, category),
    )
    return CategoryMembers(
        keys=tuple(row[0] for row in rows),
        ids=tuple(row[1] for row in rows),
        texts=tuple(row[2] for row in rows),
        tags=tuple(tuple(json.loads(row[4])) for row in rows),
        rows=from_bytes([row[3] for row in rows]) if rows else np.empty((0, 0), dtype=np.float32),
        named={
            name: FormerSubcategory(
                frozenset(json.loads(keys)),
                from_stored(since),
                tuple(json.loads(words)),
                bool(pinned),
                None if centroid is None else from_bytes([centroid])[0],
            )
            for name, since, words, pinned, centroid, keys in named
        },
        total=total,
    )


def draft(
    conn: Connection,
    user: UserKey,
    category: Category,
    drafted: EvolutionDraft,
    members: CategoryMembers,
    now: datetime,
) -> int | None:
    """Writes an evolution without making it live, and deletes a draft that was abandoned.

    Returns:
        Its row number; None, with nothing written, if a member or the name of a subcategory was
        forgotten since they were read.
    """
    conn.execute(
        "DELETE FROM evolutions WHERE user_key = ? AND category = ? AND state = 'draft'",
        (user, category),
    )
    keys = {*members.keys, *(key for one in drafted.subcategories for key in one.members)}
    there = {
        row[0]
        for row in conn.execute(
            "SELECT id FROM memories WHERE user_key = ? AND id = ANY(?)", (user, list(keys))
        )
    }
    named = {
        row[0]
        for row in conn.execute(
            f"SELECT name FROM subcategories WHERE evolution = ({LIVE_EVOLUTION})", (user, category)
        )
    }
    if not (there.issuperset(keys) and named.issuperset(members.named)):
        return None
    evolution = _insert_evolution(
        conn, user, category, DRAFT if drafted.subcategories else EMPTY, members.total, now
    )
    if drafted.subcategories:
        conn.execute(
            "UPDATE evolutions SET centre = ? WHERE id = ? AND user_key = ?",
            (to_bytes(drafted.centre), evolution, user),
        )
    for one in drafted.subcategories:
        insert_draft(conn, evolution, one, one.members)
    return evolution


def insert_draft(
    conn: Connection, evolution: int, drafted: SubcategoryDraft, members: Iterable[int]
) -> None:
    """Stores a subcategory of an evolution with these members."""
    key = _insert_subcategory(
        conn,
        evolution,
        SubcategoryRecord(
            drafted.name, drafted.keywords, drafted.examples, drafted.since, drafted.pinned
        ),
        to_bytes(drafted.centroid),
    )
    conn.executemany(
        "INSERT INTO subcategory_members (subcategory, memory) VALUES (?, ?)",
        [(key, member) for member in members],
    )


def adopt(
    conn: Connection, user: UserKey, evolution: int, reason: str, now: datetime
) -> str | None:
    """Makes a draft live, assigns memories added meanwhile, and records the decision.

    Returns:
        The decision's id; None if the draft was deleted because something was forgotten.
    """
    row = conn.execute(
        "SELECT category FROM evolutions WHERE id = ? AND user_key = ?", (evolution, user)
    ).fetchone()
    if row is None:
        return None
    return make_live(conn, user, Category(row[0]), evolution, DecisionAction.EVOLVED, reason, now)


def make_live(
    conn: Connection,
    user: UserKey,
    category: Category,
    evolution: int,
    action: DecisionAction,
    reason: str,
    now: datetime,
) -> str:
    """Makes an evolution live, assigns memories that are in none, and records the decision.

    Returns:
        The decision's id.
    """
    owner = (user, category)
    conn.execute(
        """UPDATE evolutions SET state = 'past' WHERE user_key = ? AND category = ?
            AND state = 'live'""",
        owner,
    )
    name = record(conn, user, action, reason, [], now)
    conn.execute(
        """UPDATE evolutions SET state = 'live', decision = (SELECT id FROM decisions
            WHERE user_key = ? AND public_id = ?) WHERE user_key = ? AND id = ?""",
        (user, name, user, evolution),
    )
    assign_evolution(conn, user, evolution)
    conn.execute(
        """DELETE FROM evolutions WHERE user_key = ? AND category = ?
               AND state IN ('past', 'undone', 'nothing') AND id NOT IN (
               SELECT id FROM evolutions WHERE user_key = ? AND category = ? AND state = 'past'
                   ORDER BY id DESC LIMIT ?)""",
        (*owner, *owner, PAST_KEPT),
    )
    return name


def records(conn: Connection, user: UserKey) -> list[EvolutionRecord]:
    """The subcategories of each category for export, none if they were undone or not found."""
    found = []
    latest = conn.execute(
        """SELECT (SELECT max(l.id) FROM evolutions l WHERE l.user_key = e.user_key
                AND l.category = e.category AND l.state = 'live'), category, evolved_at, memories
            FROM evolutions e WHERE user_key = :user AND id IN (SELECT max(id) FROM evolutions
                WHERE user_key = :user AND state <> 'draft' GROUP BY category)
            ORDER BY category""",
        {"user": user},
    )
    for evolution, category, evolved_at, memories in latest.fetchall():
        rows = conn.execute(
            """SELECT name, keywords, examples, since, pinned FROM subcategories
                WHERE evolution = ? ORDER BY id""",
            (evolution,),
        )
        parts = tuple(
            SubcategoryRecord(
                name,
                tuple(json.loads(words)),
                tuple(json.loads(ids)),
                from_stored(at),
                bool(pinned),
            )
            for name, words, ids, at, pinned in rows
        )
        found.append(EvolutionRecord(Category(category), from_stored(evolved_at), memories, parts))
    return found


def insert_imported(conn: Connection, source: Import, evolution: EvolutionRecord) -> bool:
    """Stores the subcategories of a category from an import; False if it has some.

    A category without any, such as one whose subcategories were undone, evolves once it has grown.
    """
    states = {
        state
        for (state,) in conn.execute(
            """SELECT DISTINCT state FROM evolutions
                WHERE user_key = ? AND category = ? AND state <> 'draft'""",
            (source.user, evolution.category),
        ).fetchall()
    }
    if LIVE in states or (states and not evolution.subcategories):
        return False
    key = _insert_evolution(
        conn,
        source.user,
        evolution.category,
        LIVE if evolution.subcategories else EMPTY,
        evolution.memories,
        evolution.evolved_at,
    )
    conn.execute(
        "UPDATE evolutions SET import = ? WHERE id = ? AND user_key = ?",
        (source.key, key, source.user),
    )
    for one in evolution.subcategories:
        _insert_subcategory(conn, key, one, None)
    return True


def _insert_evolution(
    conn: Connection, user: UserKey, category: Category, state: str, memories: int, at: datetime
) -> int:
    key: int = conn.execute(
        """INSERT INTO evolutions (user_key, category, state, evolved_at, memories)
            VALUES (?, ?, ?, ?, ?) RETURNING id""",
        (user, category, state, to_stored(at), memories),
    ).fetchone()[0]
    return key


def _insert_subcategory(
    conn: Connection, evolution: int, one: SubcategoryRecord, centroid: bytes | None
) -> int:
    key: int = conn.execute(
        """INSERT INTO subcategories
            (evolution, name, keywords, examples, since, centroid, pinned)
            VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id""",
        (
            evolution,
            one.name,
            json.dumps(one.keywords),
            json.dumps(one.examples),
            to_stored(one.since),
            centroid,
            int(one.pinned),
        ),
    ).fetchone()[0]
    return key
