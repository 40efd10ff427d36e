"""Subcategories: drafted in portions, live in one step, and where each new memory is placed.

A memory is placed when it is embedded. A centroid that is not there, as after an import or with
another encoder, is the mean of all that is placed under it, once that is embedded.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.centroids import nearest_centroids
from hotmem.storage.database import Connection
from hotmem.storage.queries import jobs, reembedding
from hotmem.storage.queries.decisions import EVOLVED, record
from hotmem.storage.queries.imports import TAKEN, Import
from hotmem.storage.queries.order import BEHIND
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.search.vectors import from_bytes, nearest_rows, to_bytes
from hotmem.text.labels import KEYWORD_SEPARATOR, propose_names
from hotmem.text.stemming import terms
from hotmem.types import (
    Category,
    CategoryMembers,
    EvidenceKind,
    EvolutionRecord,
    JobKind,
    QueryVectors,
    Subcategory,
    SubcategoryDraft,
    SubcategoryRecord,
    UserKey,
)

DRAFT, LIVE, PAST, UNDONE, NOTHING = "draft", "live", "past", "undone", "nothing"
"""States of an evolution; one that found nothing is kept for its time."""

KEPT: Final = 3
"""Past evolutions of a category that can be returned to, one after the other."""

PORTION: Final = 1000
"""Memories placed in one transaction, some 20 ms."""

GROWTH: Final = 0.1
"""Share by which a category must have grown to evolve anew by itself."""

UNPLACED: Final = """
    SELECT m.id, m.vector FROM memories m
    WHERE m.user_key = :user AND m.category = :category AND m.merged_into IS NULL
        AND m.vector NOT NULL AND m.id > :after
        AND NOT EXISTS (SELECT 1 FROM subcategory_members x JOIN subcategories s
            ON s.id = x.subcategory WHERE x.memory = m.id AND s.evolution = :evolution)
    ORDER BY m.id LIMIT :portion"""

OF_MEMORY: Final = """
    SELECT s.name FROM subcategory_members x JOIN subcategories s ON s.id = x.subcategory
        JOIN evolutions e ON e.id = s.evolution
    WHERE x.memory = m.id AND e.state = 'live'"""
"""The name of the live subcategory of a memory `m`."""

NOT_HELD: Final = jobs.NOT_HELD.format(work=JobKind.CATEGORY, key="m.category", user="m.user_key")

LIVE_OF: Final = "SELECT id FROM evolutions WHERE user_key = ? AND category = ? AND state = 'live'"


def due(
    conn: Connection, now: datetime, every: timedelta, least: int
) -> tuple[UserKey, Category] | None:
    """A user's category whose time has come to evolve, and that has grown enough.

    None of a user with an import that is not finished, and none whose evolution failed and is left
    alone.

    Args:
        conn: A connection.
        now: The wall clock, UTC.
        every: Time between two evolutions of a category; what never evolved waits from when the
            file knew of evolution, and what evolved by a clock that was ahead waits no longer.
        least: Memories that a category must have gained.
    """
    row = conn.execute(
        f"""SELECT m.user_key, m.category FROM (
               SELECT user_key, category, count(*) AS memories FROM memories
                   WHERE merged_into IS NULL GROUP BY user_key, category) m
           LEFT JOIN evolutions e ON e.id = (SELECT max(id) FROM evolutions
               WHERE user_key = m.user_key AND category = m.category AND state <> 'draft')
           WHERE coalesce(e.evolved_at, (SELECT 1000000 * value FROM meta
               WHERE key = 'evolution')) NOT BETWEEN ? AND ?
               AND m.memories >= coalesce(e.memories, 0) + max(?, ? * coalesce(e.memories, 0))
               AND m.user_key NOT IN (SELECT user_key FROM imports WHERE state <> ?) AND {NOT_HELD}
                   LIMIT 1""",
        (to_stored(now - every) + 1, to_stored(now) + BEHIND, least, GROWTH, TAKEN),
    ).fetchone()
    return None if row is None else (UserKey(row[0]), Category(row[1]))


def members(conn: Connection, user: UserKey, category: Category, limit: int) -> CategoryMembers:
    """The embedded memories of a category, spread evenly over all of them if there are more than `limit`.

    Those that still have vectors of the former encoder, which cannot be compared with the others,
    are left out.
    """
    (total,) = conn.execute(
        "SELECT count(*) FROM memories WHERE user_key = ? AND category = ? AND merged_into IS NULL",
        (user, category),
    ).fetchone()
    rows = conn.execute(
        """SELECT id, public_id, text, vector FROM (
               SELECT id, public_id, text, vector, row_number() OVER (ORDER BY id) - 1 AS place
                   FROM memories
               WHERE user_key = ? AND category = ? AND merged_into IS NULL AND vector NOT NULL
                   AND id > ?)
           WHERE place % ? = 0 ORDER BY id""",
        (
            user,
            category,
            reembedding.boundary(conn, EvidenceKind.MEMORY),
            max(-(-total // limit), 1),
        ),
    ).fetchall()
    named = conn.execute(
        f"""SELECT s.name, s.since, json_group_array(x.memory) FROM subcategories s
            JOIN subcategory_members x ON x.subcategory = s.id """
        f"WHERE s.evolution = ({LIVE_OF}) GROUP BY s.id",
        (user, category),
    )
    return CategoryMembers(
        keys=tuple(row[0] for row in rows),
        ids=tuple(row[1] for row in rows),
        texts=tuple(row[2] for row in rows),
        rows=from_bytes([row[3] for row in rows]) if rows else np.empty((0, 0), dtype=np.float32),
        named={
            name: (frozenset(json.loads(keys)), from_stored(since)) for name, since, keys in named
        },
        total=total,
    )


def draft(
    conn: Connection,
    user: UserKey,
    category: Category,
    drafts: Sequence[SubcategoryDraft],
    members: CategoryMembers,
    now: datetime,
) -> int | None:
    """Writes an evolution down without making it live. A draft that was left behind goes.

    Returns:
        Its row number; None, and nothing is written, if some of the members, or a name that they
        had, was forgotten since they were read.
    """
    conn.execute(
        "DELETE FROM evolutions WHERE user_key = ? AND category = ? AND state = 'draft'",
        (user, category),
    )
    there = {
        row[0]
        for row in conn.execute(
            "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(members.keys),),
        )
    }
    named = {
        row[0]
        for row in conn.execute(
            f"SELECT name FROM subcategories WHERE evolution = ({LIVE_OF})", (user, category)
        )
    }
    if not (there.issuperset(members.keys) and named.issuperset(members.named)):
        return None
    evolution = _evolution(conn, user, category, DRAFT if drafts else NOTHING, members.total, now)
    for one in drafts:
        key = _subcategory(
            conn,
            evolution,
            SubcategoryRecord(one.name, one.keywords, one.examples, one.since),
            to_bytes(one.centroid),
        )
        conn.executemany(
            "INSERT INTO subcategory_members (subcategory, memory) VALUES (?, ?)",
            [(key, member) for member in one.members],
        )
    return evolution


def place_more(conn: Connection, evolution: int, after: int) -> int | None:
    """Places the next portion of the category's memories after a row number.

    Returns the last one's, or None if there are no more.
    """
    owner = conn.execute(
        "SELECT user_key, category FROM evolutions WHERE id = ?", (evolution,)
    ).fetchone()
    if owner is None:
        return None
    rows = conn.execute(
        UNPLACED,
        {
            "user": owner[0],
            "category": owner[1],
            "after": after,
            "evolution": evolution,
            "portion": PORTION,
        },
    ).fetchall()
    _place(conn, evolution, rows)
    return rows[-1][0] if len(rows) == PORTION else None


def adopt(conn: Connection, evolution: int, reason: str, now: datetime) -> str | None:
    """Makes a draft live, places what came meanwhile, and records it.

    Returns:
        The decision's id; None if the draft went because something was forgotten.
    """
    owner = conn.execute(
        "SELECT user_key, category FROM evolutions WHERE id = ?", (evolution,)
    ).fetchone()
    if owner is None:
        return None
    conn.execute(
        """UPDATE evolutions SET state = 'past' WHERE user_key = ? AND category = ?
            AND state = 'live'""",
        owner,
    )
    name = record(conn, owner[0], EVOLVED, reason, [], now)
    conn.execute(
        """UPDATE evolutions SET state = 'live', decision = (SELECT id FROM decisions
            WHERE public_id = ?) WHERE id = ?""",
        (name, evolution),
    )
    _place_all(conn, evolution)
    conn.execute(
        """DELETE FROM evolutions WHERE user_key = ? AND category = ?
               AND state IN ('past', 'undone', 'nothing') AND id NOT IN (
               SELECT id FROM evolutions WHERE user_key = ? AND category = ? AND state = 'past'
                   ORDER BY id DESC LIMIT ?)""",
        (*owner, *owner, KEPT),
    )
    return name


def place(conn: Connection, memories: Iterable[int]) -> None:
    """Places embedded memories that are in no live subcategory of their category under the nearest."""
    for memory in memories:
        row = conn.execute(
            """SELECT e.id, m.vector FROM memories m JOIN evolutions e ON e.user_key = m.user_key
               AND e.category = m.category AND e.state = 'live'
               WHERE m.id = ? AND m.merged_into IS NULL AND m.vector NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM subcategory_members x JOIN subcategories s ON s.id = x.subcategory
                       WHERE x.memory = m.id AND s.evolution = e.id)""",
            (memory,),
        ).fetchone()
        if row is not None:
            _place(conn, row[0], [(memory, row[1])])


def place_unplaced(conn: Connection, user: UserKey) -> None:
    """Places what is in no live subcategory of its category, as after a decision was taken back."""
    for (evolution,) in conn.execute(
        "SELECT id FROM evolutions WHERE user_key = ? AND state = 'live'", (user,)
    ).fetchall():
        _place_all(conn, evolution)


def place_everyones(conn: Connection) -> None:
    """Places what is in no live subcategory of its category, of all users."""
    for (evolution,) in conn.execute("SELECT id FROM evolutions WHERE state = 'live'").fetchall():
        _place_all(conn, evolution)


def of_user(conn: Connection, user: UserKey) -> list[Subcategory]:
    """The user's subcategories, by category, the largest first."""
    rows = conn.execute(
        """SELECT e.category, s.name, s.keywords, s.since, e.evolved_at,
               (SELECT count(*) FROM subcategory_members x JOIN memories m ON m.id = x.memory
                   WHERE x.subcategory = s.id AND m.merged_into IS NULL) AS held,
               (SELECT json_group_array(m.text) FROM json_each(s.examples) j JOIN memories m
                   ON m.public_id = j.value)
           FROM evolutions e JOIN subcategories s ON s.evolution = e.id
           WHERE e.user_key = ? AND e.state = 'live' ORDER BY e.category, held DESC, s.name""",
        (user,),
    )
    return [
        Subcategory(
            Category(category),
            name,
            tuple(json.loads(words)),
            held,
            tuple(json.loads(texts)),
            from_stored(since),
            from_stored(evolved_at),
        )
        for category, name, words, since, evolved_at, held, texts in rows
    ]


def in_digests(
    conn: Connection, user: UserKey, sought: QueryVectors, looked_into: int
) -> list[tuple[int, float]]:
    """Row numbers and cosines of the memories that stand for the live subcategories nearest to a vector, nearest first."""
    boundary = reembedding.boundary(conn, EvidenceKind.MEMORY)
    live = conn.execute(
        """SELECT s.id, s.centroid, s.examples FROM evolutions e
           JOIN subcategories s ON s.evolution = e.id
           WHERE e.user_key = ? AND e.state = 'live' AND s.centroid IS NOT NULL""",
        (user,),
    ).fetchall()
    examples = {key: names for key, _, names in live}
    nearest = nearest_rows([row[:2] for row in live], sought, 0, looked_into)
    names = [name for key, _ in nearest for name in json.loads(examples[key])]
    rows = conn.execute(
        """SELECT id, vector FROM memories
           WHERE public_id IN (SELECT value FROM json_each(?)) AND user_key = ?
               AND merged_into IS NULL AND vector IS NOT NULL""",
        (json.dumps(names), user),
    ).fetchall()
    return nearest_rows(rows, sought, boundary, len(rows))


def records(conn: Connection, user: UserKey) -> list[EvolutionRecord]:
    """The user's live evolutions, whole."""
    found = []
    live = conn.execute(
        """SELECT id, category, evolved_at, memories FROM evolutions WHERE user_key = ?
            AND state = 'live' ORDER BY category""",
        (user,),
    )
    for evolution, category, evolved_at, memories in live.fetchall():
        rows = conn.execute(
            """SELECT name, keywords, examples, since FROM subcategories WHERE evolution = ?
                ORDER BY id""",
            (evolution,),
        )
        parts = tuple(
            SubcategoryRecord(
                name, tuple(json.loads(words)), tuple(json.loads(ids)), from_stored(at)
            )
            for name, words, ids, at in rows
        )
        found.append(EvolutionRecord(Category(category), from_stored(evolved_at), memories, parts))
    return found


def take_in(conn: Connection, source: Import, evolution: EvolutionRecord) -> bool:
    """Stores a category's subcategories as they were; False if it has some."""
    if conn.execute(LIVE_OF, (source.user, evolution.category)).fetchone():
        return False
    key = _evolution(
        conn, source.user, evolution.category, LIVE, evolution.memories, evolution.evolved_at
    )
    conn.execute("UPDATE evolutions SET import = ? WHERE id = ?", (source.key, key))
    for one in evolution.subcategories:
        _subcategory(conn, key, one, None)
    return True


def put_in(conn: Connection, user: UserKey, memory: int, category: Category, name: str) -> None:
    """Places a memory under the live subcategory of a name, if there is one."""
    conn.execute(
        f"""INSERT INTO subcategory_members (subcategory, memory) SELECT id, ? FROM subcategories
            WHERE evolution = ({LIVE_OF}) AND name = ?""",
        (memory, user, category, name),
    )


def lose_words(conn: Connection, user: UserKey, categories: Iterable[Category]) -> None:
    """After memories of these categories went.

    Past evolutions go too, and no subcategory keeps a word that none of its memories holds.
    """
    for category in categories:
        conn.execute(
            """DELETE FROM evolutions WHERE user_key = ? AND category = ?
                AND state IN ('draft', 'past', 'undone')""",
            (user, category),
        )
        rows = conn.execute(
            f"""SELECT id, name, keywords FROM subcategories WHERE evolution = ({LIVE_OF})
                ORDER BY id""",
            (user, category),
        ).fetchall()
        taken = {name for _, name, _ in rows}
        for key, name, held in rows:
            if not conn.execute(
                "SELECT 1 FROM subcategory_members WHERE subcategory = ?", (key,)
            ).fetchone():
                conn.execute("DELETE FROM subcategories WHERE id = ?", (key,))
                continue
            words = [word for word in json.loads(held) if _holds(conn, user, key, word)]
            numbered = name.startswith(f"{category} ")
            if not numbered and not all(
                _holds(conn, user, key, word) for word in name.split(KEYWORD_SEPARATOR)
            ):
                name = next(fresh for fresh in propose_names(words, category) if fresh not in taken)
                taken.add(name)
            conn.execute(
                "UPDATE subcategories SET name = ?, keywords = ?, centroid = NULL WHERE id = ?",
                (name, json.dumps(words), key),
            )
            _mean(conn, key)


def _evolution(
    conn: Connection, user: UserKey, category: Category, state: str, memories: int, at: datetime
) -> int:
    key: int = conn.execute(
        """INSERT INTO evolutions (user_key, category, state, evolved_at, memories)
            VALUES (?, ?, ?, ?, ?) RETURNING id""",
        (user, category, state, to_stored(at), memories),
    ).fetchone()[0]
    return key


def _subcategory(
    conn: Connection, evolution: int, one: SubcategoryRecord, centroid: bytes | None
) -> int:
    key: int = conn.execute(
        """INSERT INTO subcategories (evolution, name, keywords, examples, since, centroid)
            VALUES (?, ?, ?, ?, ?, ?) RETURNING id""",
        (
            evolution,
            one.name,
            json.dumps(one.keywords),
            json.dumps(one.examples),
            to_stored(one.since),
            centroid,
        ),
    ).fetchone()[0]
    return key


def _place_all(conn: Connection, evolution: int) -> None:
    after: int | None = 0
    while after is not None:
        after = place_more(conn, evolution, after)


def _place(conn: Connection, evolution: int, memories: Sequence[tuple[int, bytes]]) -> None:
    """Places memories, given with their vectors, under the nearest centroids.

    None while one of these is not known.
    """
    if reembedding.boundary(conn, EvidenceKind.MEMORY):
        # vectors of two encoders have no mean; all are placed when the last is embedded anew
        return
    keys, centroids = _centroids(conn, evolution)
    if memories and len(keys):
        places = nearest_centroids(
            from_bytes([vector for _, vector in memories]), centroids
        ).tolist()
        under = [(keys[place], memory) for place, (memory, _) in zip(places, memories, strict=True)]
        conn.executemany(
            "INSERT INTO subcategory_members (subcategory, memory) VALUES (?, ?)", under
        )


def _centroids(conn: Connection, evolution: int) -> tuple[list[int], NDArray[np.float32]]:
    """The subcategories' row numbers and centroids, unit rows, float32 (subcategories, dimension).

    Nothing while one cannot be known.
    """
    rows = conn.execute(
        "SELECT id, centroid FROM subcategories WHERE evolution = ? ORDER BY id", (evolution,)
    ).fetchall()
    known = [(key, _mean(conn, key) if centroid is None else centroid) for key, centroid in rows]
    if not known or any(centroid is None for _, centroid in known):
        return [], np.empty((0, 0), dtype=np.float32)
    return [key for key, _ in known], from_bytes(
        [centroid for _, centroid in known if centroid is not None]
    )


def _mean(conn: Connection, subcategory: int) -> bytes | None:
    """The centroid as the mean of all that is placed under it, which is kept.

    None while some of that waits to be embedded.
    """
    vectors = [
        row[0]
        for row in conn.execute(
            """SELECT m.vector FROM subcategory_members x JOIN memories m ON m.id = x.memory
                WHERE x.subcategory = ?""",
            (subcategory,),
        )
    ]
    if not vectors or None in vectors:
        return None
    centroid = to_bytes(from_bytes(vectors).mean(axis=0))
    conn.execute("UPDATE subcategories SET centroid = ? WHERE id = ?", (centroid, subcategory))
    return centroid


def _holds(conn: Connection, user: UserKey, subcategory: int, word: str) -> bool:
    """Whether any memory placed under it holds the word in this form.

    The index tells which hold its stem.
    """
    lists = [conn.search.postings(conn, user, EvidenceKind.MEMORY, term, 0) for term in terms(word)]
    if not lists:
        return False
    keys = reduce(np.intersect1d, lists).tolist()
    found = conn.execute(
        """SELECT 1 FROM subcategory_members x JOIN memories m ON m.id = x.memory
           WHERE x.subcategory = ? AND m.id IN (SELECT value FROM json_each(?))
               AND instr(lower(m.text), ?) > 0 LIMIT 1""",
        (subcategory, json.dumps(keys), word),
    )
    return found.fetchone() is not None
