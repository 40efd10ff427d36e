"""Evolutions: drafts of the subcategories of a category, the live ones, and past ones.

A draft is written in batches and made live in one transaction.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import nearest_centroids, normalize_rows
from hotmem.storage.database import Connection
from hotmem.storage.queries import job_failures, reembedding
from hotmem.storage.queries.decisions import record
from hotmem.storage.queries.imports import FINISHED, Import
from hotmem.storage.queries.times import BEHIND, from_stored, to_stored
from hotmem.storage.search.vectors import from_bytes, to_bytes
from hotmem.types import (
    Category,
    CategoryMembers,
    DecisionAction,
    EvidenceKind,
    EvolutionDraft,
    EvolutionRecord,
    JobKind,
    SubcategoryRecord,
    SubcategoryState,
    UserKey,
    Vector,
)

BATCH: Final = 1000
"""Memories assigned in one transaction."""


CENTRE_MEMORIES: Final = 2000
"""Latest memories of a category of which the centre is computed."""


UNASSIGNED: Final = """
    SELECT m.id, m.vector FROM memories m
    WHERE m.user_key = :user AND m.category = (
            SELECT category FROM evolutions WHERE id = :evolution AND user_key = :user)
        AND m.merged_into IS NULL
        AND m.vector IS NOT NULL AND m.id > :after
        AND NOT EXISTS (SELECT 1 FROM subcategory_members x JOIN subcategories s
            ON s.id = x.subcategory WHERE x.memory = m.id AND s.evolution = :evolution)
    ORDER BY m.id LIMIT :portion"""
"""Embedded memories that are in no subcategory of an evolution."""


LIVE_EVOLUTION: Final = (
    "SELECT id FROM evolutions WHERE user_key = ? AND category = ? AND state = 'live'"
)
"""The live evolution of a user's category."""


def assign_batch(conn: Connection, user: UserKey, evolution: int, after: int) -> int | None:
    """Assigns the user's next memories of the evolution's category after a row number.

    Returns:
        The last one's row number; None at the end.
    """
    values = {"user": user, "evolution": evolution, "after": after, "portion": BATCH}
    rows = conn.execute(UNASSIGNED, values).fetchall()
    _assign_nearest(conn, user, evolution, rows)
    return rows[-1][0] if len(rows) == BATCH else None


def assign(conn: Connection, memories: Iterable[int]) -> None:
    """Assigns memories with a vector that are in no live subcategory to the nearest one."""
    for memory in memories:
        row = conn.execute(
            """SELECT e.id, m.vector, m.user_key FROM memories m JOIN evolutions e
               ON e.user_key = m.user_key AND e.category = m.category AND e.state = 'live'
               WHERE m.id = ? AND m.merged_into IS NULL AND m.vector IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM subcategory_members x JOIN subcategories s ON s.id = x.subcategory
                       WHERE x.memory = m.id AND s.evolution = e.id)""",
            (memory,),
        ).fetchone()
        if row is not None:
            evolution, vector, user = row
            conn.lock_user(user)
            _assign_nearest(conn, user, evolution, [(memory, vector)])


def assign_remaining(conn: Connection, user: UserKey) -> None:
    """Assigns a user's unassigned memories, as after a decision was undone."""
    of_user = "SELECT id FROM evolutions WHERE user_key = ? AND state = 'live'"
    for evolution in conn.column(of_user, (user,)):
        assign_evolution(conn, user, evolution)


def assign_all_users(conn: Connection) -> None:
    """Assigns the unassigned memories of all users."""
    users = "SELECT DISTINCT user_key FROM evolutions WHERE state = 'live' ORDER BY user_key"
    for user in map(UserKey, conn.column(users)):
        conn.lock_user(user)
        assign_remaining(conn, user)


def assign_by_name(
    conn: Connection, user: UserKey, memory: int, category: Category, name: str
) -> None:
    """Assigns a memory to the live subcategory of a name, if there is one."""
    conn.execute(
        f"""INSERT INTO subcategory_members (subcategory, memory)
            SELECT id, CAST(? AS BIGINT) FROM subcategories
            WHERE evolution = ({LIVE_EVOLUTION}) AND name = ?""",
        (memory, user, category, name),
    )


def assign_evolution(conn: Connection, user: UserKey, evolution: int) -> None:
    """Assigns all unassigned memories of an evolution's category."""
    after: int | None = 0
    while after is not None:
        after = assign_batch(conn, user, evolution, after)


def _assign_nearest(
    conn: Connection, user: UserKey, evolution: int, memories: Sequence[tuple[int, bytes]]
) -> None:
    """Assigns memories, each with its vector, to the nearest centroid, if it is near enough.

    Does nothing while a centroid is unknown.
    """
    if reembedding.boundary(conn, EvidenceKind.MEMORY):
        # Vectors of two encoders have no mean: all are assigned once the change of encoder ends.
        return
    keys, centroids = _centroids(conn, evolution)
    if memories and len(keys):
        places = nearest_centroids(
            from_bytes([vector for _, vector in memories]),
            centroids,
            _centre(conn, user, evolution),
        ).tolist()
        under = [
            (keys[place], memory)
            for place, (memory, _) in zip(places, memories, strict=True)
            if place >= 0
        ]
        conn.executemany(
            "INSERT INTO subcategory_members (subcategory, memory) VALUES (?, ?)", under
        )


def _centre(conn: Connection, user: UserKey, evolution: int) -> NDArray[np.float32]:
    """The direction that the memories of an evolution's category share, a unit row.

    If it is unknown, it is computed from at most `CENTRE_MEMORIES` of them and stored.
    """
    stored = conn.scalar(
        "SELECT centre FROM evolutions WHERE id = ? AND user_key = ?", (evolution, user)
    )
    if stored is None:
        vectors = conn.column(
            """SELECT m.vector FROM memories m JOIN evolutions e
                ON e.user_key = m.user_key AND e.category = m.category
                WHERE e.id = ? AND m.merged_into IS NULL AND m.vector IS NOT NULL
                ORDER BY m.id DESC LIMIT ?""",
            (evolution, CENTRE_MEMORIES),
        )
        stored = to_bytes(normalize_rows(from_bytes(vectors).mean(axis=0)))
        conn.execute(
            "UPDATE evolutions SET centre = ? WHERE id = ? AND user_key = ?",
            (stored, evolution, user),
        )
    return np.asarray(from_bytes([stored])[0], dtype=np.float32)


def _centroids(conn: Connection, evolution: int) -> tuple[list[int], NDArray[np.float32]]:
    """Row numbers and centroids of the subcategories, float32 (subcategories, dimension).

    Rows have unit length. Both are empty while a centroid is unknown.
    """
    rows = conn.execute(
        "SELECT id, centroid FROM subcategories WHERE evolution = ? ORDER BY id", (evolution,)
    ).fetchall()
    known = [
        (key, update_centroid(conn, key) if centroid is None else centroid)
        for key, centroid in rows
    ]
    if not known or any(centroid is None for _, centroid in known):
        return [], from_bytes([])
    return [key for key, _ in known], from_bytes(
        [centroid for _, centroid in known if centroid is not None]
    )


def update_centroid(conn: Connection, subcategory: int) -> bytes | None:
    """Stores the mean of the assigned memories' vectors as the centroid, and returns it.

    None while one of them waits to be embedded.
    """
    sql = """SELECT m.vector FROM subcategory_members x JOIN memories m ON m.id = x.memory
        WHERE x.subcategory = ?"""
    mean = _mean(conn.column(sql, (subcategory,)))
    centroid = None if mean is None else to_bytes(mean)
    conn.execute("UPDATE subcategories SET centroid = ? WHERE id = ?", (centroid, subcategory))
    return centroid


def mean_vector(conn: Connection, user: UserKey, memories: Iterable[int]) -> Vector | None:
    """The mean of the vectors of memories; None while one of them waits to be embedded."""
    sql = "SELECT vector FROM memories WHERE user_key = ? AND id = ANY(?)"
    return _mean(conn.column(sql, (user, list(memories))))


def _mean(vectors: Sequence[bytes | None]) -> Vector | None:
    known = [vector for vector in vectors if vector is not None]
    if not known or len(known) < len(vectors):
        return None
    return np.asarray(from_bytes(known).mean(axis=0), dtype=np.float32)


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
    migrated = conn.scalar("SELECT value FROM meta WHERE key = 'evolution'")
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
            1_000_000 * int(migrated),
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
    total = conn.scalar(
        "SELECT count(*) FROM memories WHERE user_key = ? AND category = ? AND merged_into IS NULL",
        (user, category),
    )
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
    return CategoryMembers(
        keys=tuple(row[0] for row in rows),
        ids=tuple(row[1] for row in rows),
        texts=tuple(row[2] for row in rows),
        tags=tuple(tuple(json.loads(row[4])) for row in rows),
        rows=from_bytes([row[3] for row in rows]),
        named=live(conn, user, category),
        total=total,
    )


def live(conn: Connection, user: UserKey, category: Category) -> dict[str, SubcategoryState]:
    """The live subcategories of a category by name, in the order of row numbers."""
    rows = conn.execute(
        f"""SELECT s.name, s.keywords, s.examples, s.since, s.centroid, coalesce((
                SELECT json_group_array(x.memory) FROM subcategory_members x
                WHERE x.subcategory = s.id), '[]'), s.pinned
            FROM subcategories s WHERE s.evolution = ({LIVE_EVOLUTION}) ORDER BY s.id""",
        (user, category),
    )
    return {
        name: SubcategoryState(
            name,
            tuple(json.loads(words)),
            tuple(json.loads(examples)),
            from_stored(since),
            None if centroid is None else from_bytes([centroid])[0],
            frozenset(json.loads(members)),
            bool(pinned),
        )
        for name, words, examples, since, centroid, members, pinned in rows
    }


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
    known = "SELECT id FROM memories WHERE user_key = ? AND id = ANY(?)"
    there = set(conn.column(known, (user, list(keys))))
    names = f"SELECT name FROM subcategories WHERE evolution = ({LIVE_EVOLUTION})"
    named = set(conn.column(names, (user, category)))
    if not (there.issuperset(keys) and named.issuperset(members.named)):
        return None
    row = {
        "user_key": user,
        "category": category,
        "state": DRAFT if drafted.subcategories else EMPTY,
        "evolved_at": to_stored(now),
        "memories": members.total,
        "centre": to_bytes(drafted.centre) if drafted.subcategories else None,
    }
    evolution: int = conn.insert("evolutions", row)
    for one in drafted.subcategories:
        insert_draft(conn, evolution, one)
    return evolution


def insert_draft(conn: Connection, evolution: int, drafted: SubcategoryState) -> None:
    """Stores a subcategory of an evolution with its members."""
    centroid = None if drafted.centroid is None else to_bytes(drafted.centroid)
    key = _insert_subcategory(conn, evolution, drafted, centroid)
    conn.executemany(
        "INSERT INTO subcategory_members (subcategory, memory) VALUES (?, ?)",
        [(key, member) for member in sorted(drafted.members)],
    )


def adopt(
    conn: Connection, user: UserKey, evolution: int, reason: str, now: datetime
) -> str | None:
    """Makes a draft live, assigns memories added meanwhile, and records the decision.

    Returns:
        The decision's id; None if the draft was deleted because something was forgotten.
    """
    category = conn.scalar(
        "SELECT category FROM evolutions WHERE id = ? AND user_key = ?", (evolution, user)
    )
    if category is None:
        return None
    return make_live(conn, user, Category(category), evolution, DecisionAction.EVOLVED, reason, now)


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
        """SELECT category, evolved_at, memories
            FROM evolutions WHERE user_key = :user AND id IN (SELECT max(id) FROM evolutions
                WHERE user_key = :user AND state <> 'draft' GROUP BY category)
            ORDER BY category""",
        {"user": user},
    )
    for category, evolved_at, memories in latest.fetchall():
        parts = tuple(
            SubcategoryRecord(one.name, one.keywords, one.examples, one.since, one.pinned)
            for one in live(conn, user, category).values()
        )
        found.append(EvolutionRecord(Category(category), from_stored(evolved_at), memories, parts))
    return found


def insert_imported(conn: Connection, source: Import, evolution: EvolutionRecord) -> bool:
    """Stores the subcategories of a category from an import; False if it has some.

    A category without any, such as one whose subcategories were undone, evolves once it has grown.
    """
    states = conn.column(
        """SELECT DISTINCT state FROM evolutions
            WHERE user_key = ? AND category = ? AND state <> 'draft'""",
        (source.user, evolution.category),
    )
    if LIVE in states or (states and not evolution.subcategories):
        return False
    row = {
        "user_key": source.user,
        "category": evolution.category,
        "state": LIVE if evolution.subcategories else EMPTY,
        "evolved_at": to_stored(evolution.evolved_at),
        "memories": evolution.memories,
        "import": source.key,
    }
    key = conn.insert("evolutions", row)
    for one in evolution.subcategories:
        _insert_subcategory(conn, key, one, None)
    return True


def _insert_subcategory(
    conn: Connection,
    evolution: int,
    one: SubcategoryRecord | SubcategoryState,
    centroid: bytes | None,
) -> int:
    row = {
        "evolution": evolution,
        "name": one.name,
        "keywords": json.dumps(one.keywords),
        "examples": json.dumps(one.examples),
        "since": to_stored(one.since),
        "centroid": centroid,
        "pinned": int(one.pinned),
    }
    key: int = conn.insert("subcategories", row)
    return key
