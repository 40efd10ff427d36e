"""Takes an import back, a few rows at a time.

What came with it goes, what it changed is as it was, and what was said since stays.

What is known of the rest is put right with it. A memory that went into one that goes stands alone
again, one that was ended by it holds again, and one of the import that was said, or stored, once
more since stays as what was said then. What was read from turns that go, and from no others, goes
too.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, imports, job_failures, order, quality, subcategories
from hotmem.storage.queries.cascade import column
from hotmem.storage.queries.jobs import WHEN_ENDED
from hotmem.types import Category, JobKind, QualityRecord, UserKey

AT_ONCE: Final = 16
"""Rows taken back between two looks at the clock."""

USER_TABLES: Final = ("turns", "memories", "recalls", "weights", "imports")
"""Tables of which a user that was not known before has nothing, if they are not to be known
after."""

QUALITY: Final = TypeAdapter(QualityRecord)

REPEATED: Final = """
    SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:keys)) AND (
        EXISTS (SELECT 1 FROM sources x JOIN turns t ON t.id = x.turn WHERE x.memory = m.id
            AND t.import IS NOT :import)
        OR EXISTS (SELECT 1 FROM decision_memories x JOIN decisions d ON d.id = x.decision
            WHERE x.memory = m.id AND d.action = 'confirmed'))"""
"""Memories that were said in other turns than those of the import, or stored once more."""

DETACH_REPEATED: Final = """
    UPDATE memories AS m SET import = NULL, confirmations = max(0,
        -1 + s.times + (SELECT count(DISTINCT x.turn) FROM sources x JOIN turns t
            ON t.id = x.turn WHERE x.memory = m.id AND t.import IS NOT :import)),
        stored_at = CASE WHEN s.times THEN coalesce(m.stored_at, s.at) ELSE m.stored_at END
    FROM (SELECT k.value AS id, count(d.id) AS times, max(d.decided_at) AS at
        FROM json_each(:keys) k LEFT JOIN decision_memories x ON x.memory = k.value
          LEFT JOIN decisions d ON d.id = x.decision AND d.action = 'confirmed' GROUP BY k.value) s
    WHERE s.id = m.id"""
"""Makes memories of an import those of who said them again."""

STALE_RECALLS: Final = """
    DELETE FROM recalls WHERE user_key = :user AND asked_at >= :begun AND id IN (
        SELECT r.id FROM recalls r JOIN recall_items u ON u.recall = r.id WHERE r.user_key = :user
            AND (
            (u.memory IS NOT NULL AND NOT EXISTS (SELECT 1 FROM memories m
                WHERE m.public_id = u.memory))
            OR EXISTS (SELECT 1 FROM json_each(u.turns) j WHERE
                NOT EXISTS (SELECT 1 FROM turns t WHERE t.user_key = :user
                AND t.public_id = j.value))))"""


class RollbackState(NamedTuple):
    """An import that is taken back.

    Attributes:
        key: Its number.
        user: Whose memory it went into.
        undone: Whether somebody took it back; else it failed.
        new_user: Whether nothing was known of the user before.
        begun_at: When it began.
        decision: The decision that tells of it.
    """

    key: int
    user: UserKey
    undone: bool
    new_user: bool
    begun_at: int
    decision: int | None


DUE: Final = f"""state IN (?, ?)
    AND {job_failures.NOT_HELD.format(work=JobKind.IMPORT, key="imports.id", user="imports.user_key")}
    ORDER BY id LIMIT 1"""


def due(conn: Connection) -> int | None:
    """The number of the next import to take back.

    None without one, and of those that failed to be and are left alone.
    """
    row = conn.execute(
        f"SELECT id FROM imports WHERE {DUE}", (imports.UNDONE, imports.FAILED)
    ).fetchone()
    return None if row is None else int(row[0])


def roll_back(conn: Connection, limit_s: float) -> bool:
    """Takes imports back for so many seconds; False if there is none to take back."""
    until = monotonic() + limit_s
    row = conn.execute(
        f"SELECT id, user_key, state = ?, new_user, begun_at, decision FROM imports WHERE {DUE}",
        (imports.UNDONE, imports.UNDONE, imports.FAILED),
    ).fetchone()
    if row is None:
        return False
    one = RollbackState(*row)
    for step in STEPS:
        while step(conn, one):
            if monotonic() > until:
                return True
    _finish(conn, one)
    return True


def _delete_memories(conn: Connection, one: RollbackState) -> bool:
    keys = column(
        conn,
        "SELECT id FROM memories WHERE import = ? ORDER BY id DESC LIMIT ?",
        (one.key, AT_ONCE),
    )
    _delete_imported(conn, one, keys)
    return bool(keys)


def _delete_summaries(conn: Connection, one: RollbackState) -> bool:
    keys = column(conn, "SELECT id FROM summaries WHERE import = ? LIMIT ?", (one.key, AT_ONCE))
    conn.executemany("DELETE FROM summaries WHERE id = ?", [(key,) for key in keys])
    return bool(keys)


def _delete_turns(conn: Connection, one: RollbackState) -> bool:
    """Removes some turns, with what was read from them alone."""
    keys = column(
        conn, "SELECT id FROM turns WHERE import = ? ORDER BY id DESC LIMIT ?", (one.key, AT_ONCE)
    )
    turns = json.dumps(keys)
    among = "IN (SELECT value FROM json_each(?))"
    told = conn.execute(
        f"SELECT memory, count(DISTINCT turn) FROM sources WHERE turn {among} GROUP BY memory",
        (turns,),
    ).fetchall()
    entities = column(
        conn, f"SELECT DISTINCT entity FROM turn_entities WHERE turn {among}", (turns,)
    )
    sessions = column(conn, f"SELECT DISTINCT session FROM turns WHERE id {among}", (turns,))
    conn.execute(f"DELETE FROM turns WHERE id {among}", (turns,))
    conn.executemany(
        """UPDATE memories AS m SET confirmations = max(confirmations - ?, 0),
               said_at = coalesce((SELECT max(t.spoken_at) FROM sources x JOIN turns t
                   ON t.id = x.turn WHERE x.memory = m.id), said_at),
               order_time = coalesce((SELECT max(t.order_time) FROM sources x JOIN turns t
                   ON t.id = x.turn WHERE x.memory = m.id), order_time)
           WHERE id = ?""",
        [(times, memory) for memory, times in told],
    )
    untold = json.dumps([memory for memory, _ in told])
    sourceless = f"""id {among} AND stored_at IS NULL AND
        NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = memories.id)"""
    _delete_imported(
        conn, one, column(conn, f"SELECT id FROM memories WHERE {sourceless}", (untold,))
    )
    _delete_unmentioned(conn, entities)
    for session in sessions:
        _update_session(conn, one, session)
    return bool(keys)


def _restore_changes(conn: Connection, one: RollbackState) -> bool:
    """Brings some of what the import changed back to what it was, where nobody has changed it since."""
    rows = conn.execute(
        "SELECT what, key, before FROM import_changes WHERE import = ? LIMIT ?", (one.key, AT_ONCE)
    ).fetchall()
    for what, key, before in rows:
        RESTORE[what](conn, one, key, json.loads(before))
        conn.execute(
            "DELETE FROM import_changes WHERE import = ? AND what = ? AND key = ?",
            (one.key, what, key),
        )
    return bool(rows)


STEPS: Final = (_delete_memories, _delete_summaries, _delete_turns, _restore_changes)
"""What goes, in this order; each removes a few rows, and tells whether there were any."""


def _delete_imported(conn: Connection, one: RollbackState, keys: Sequence[int]) -> None:
    """Removes memories, but for those that were said again since."""
    kept = column(conn, REPEATED, {"keys": json.dumps(keys), "import": one.key})
    conn.execute(DETACH_REPEATED, {"keys": json.dumps(kept), "import": one.key})
    conn.execute(
        """DELETE FROM sources WHERE memory IN (SELECT value FROM json_each(?))
               AND EXISTS (SELECT 1 FROM turns t WHERE t.id = sources.turn AND t.import = ?)""",
        (json.dumps(kept), one.key),
    )
    going = {"keys": json.dumps([key for key in keys if key not in kept])}
    among = "IN (SELECT value FROM json_each(:keys))"
    for key in column(
        conn, f"SELECT id FROM memories WHERE merged_into {among} AND id NOT {among}", going
    ):
        decisions.unmerge(conn, one.user, key)
    conn.execute(f"UPDATE memories SET amends = NULL WHERE amends {among}", going)
    conn.execute(
        f"UPDATE memories SET valid_until = NULL, superseded_by = NULL WHERE superseded_by {among}",
        going,
    )
    conn.execute(
        f"""UPDATE memories SET confirmations = max(confirmations - 1, 0) WHERE id IN (
                SELECT x.into_memory FROM decision_memories x JOIN decisions d ON d.id = x.decision
                WHERE x.memory {among} AND d.action = '{decisions.MERGED}'
                    AND d.undone_at IS NULL)""",
        going,
    )
    decided = column(
        conn,
        f"""SELECT decision FROM decision_memories WHERE memory {among} UNION SELECT decision
            FROM decision_memories WHERE into_memory {among}""",
        going,
    )
    tags = column(conn, f"SELECT DISTINCT tag FROM memory_tags WHERE memory {among}", going)
    entities = column(
        conn, f"SELECT DISTINCT entity FROM memory_entities WHERE memory {among}", going
    )
    conn.execute(f"DELETE FROM memories WHERE id {among}", going)
    _delete_unreferenced(
        conn, "decisions", decided, "SELECT 1 FROM decision_memories x WHERE x.decision = :key"
    )
    _delete_unreferenced(
        conn,
        "tags",
        tags,
        """SELECT 1 FROM memory_tags x WHERE x.tag = :key UNION ALL SELECT 1 FROM tags o
            WHERE o.merged_into = :key""",
    )
    _delete_unmentioned(conn, entities)


def _delete_unmentioned(conn: Connection, entities: Sequence[int]) -> None:
    """Removes those of the entities that nothing mentions any more."""
    mentioned = """SELECT 1 FROM turn_entities x WHERE x.entity = :key UNION ALL SELECT 1
        FROM memory_entities x WHERE x.entity = :key"""
    _delete_unreferenced(conn, "entities", entities, mentioned)


def _delete_unreferenced(conn: Connection, table: str, keys: Sequence[int], needed: str) -> None:
    """Removes those rows of a table that nothing needs."""
    conn.executemany(
        f"DELETE FROM {table} WHERE id = :key AND NOT EXISTS ({needed})",
        [{"key": key} for key in keys],
    )


def _update_session(conn: Connection, one: RollbackState, session: int) -> None:
    """Puts a session right that turns of the import have gone from, once all have.

    One that is left empty goes.
    """
    if conn.execute(
        "SELECT 1 FROM turns WHERE session = ? AND import = ?", (session, one.key)
    ).fetchone():
        return
    first, last, told = conn.execute(
        "SELECT min(spoken_at), max(spoken_at), max(order_time) FROM turns WHERE session = ?",
        (session,),
    ).fetchone()
    if first is None:
        conn.execute("DELETE FROM sessions WHERE id = ?", (session,))
        return
    conn.execute(
        """UPDATE sessions SET started_at = ?, last_at = ?, order_time = ?,
               passages = (SELECT coalesce(max(position) + 1, 0) FROM passages p
                   WHERE p.session = sessions.id) WHERE id = ?""",
        (first, last, told, session),
    )
    if one.undone:
        conn.execute("DELETE FROM summaries WHERE id = ?", (session,))
        conn.execute("UPDATE sessions SET summary_due = ? WHERE id = ?", (WHEN_ENDED, session))


def _restore_session(
    conn: Connection, one: RollbackState, key: str, before: Sequence[int | None]
) -> None:
    """When it was touched and, unless its summary is made anew, whether that is due."""
    touched_at, due, last = before
    conn.execute(
        """UPDATE sessions SET touched_at = ?, summary_due = iif(?, summary_due, ?)
           WHERE id = ? AND (SELECT max(t.id) FROM turns t WHERE t.session = sessions.id) IS ?""",
        (touched_at, one.undone, due, int(key), last),
    )


def _restore_tag(
    conn: Connection, _: RollbackState, key: str, before: Sequence[int | None]
) -> None:
    used_at, archived, last = before
    conn.execute(
        """UPDATE tags SET used_at = ?, archived = ? WHERE id = ?
            AND (SELECT max(x.memory) FROM memory_tags x WHERE x.tag = tags.id) IS ?""",
        (used_at, archived, int(key), last),
    )


def _restore_weights(conn: Connection, one: RollbackState, _: str, step: int) -> None:
    if (
        conn.execute(
            "SELECT max(id) FROM weight_history WHERE user_key = ?", (one.user,)
        ).fetchone()[0]
        == step
    ):
        conn.execute("DELETE FROM weights WHERE user_key = ?", (one.user,))
    conn.execute("DELETE FROM weight_history WHERE id = ?", (step,))


def _restore_quality(conn: Connection, one: RollbackState, _: str, cell: object) -> None:
    quality.subtract(conn, one.user, QUALITY.validate_python(cell))


RESTORE: Final[Mapping[str, Callable[[Connection, RollbackState, str, Any], None]]] = {
    "session": _restore_session,
    "tag": _restore_tag,
    "weights": _restore_weights,
    "quality": _restore_quality,
}


def _finish(conn: Connection, one: RollbackState) -> None:
    """Removes what is left of an import, and the import."""
    conn.execute("DELETE FROM evolutions WHERE user_key = ? AND import = ?", (one.user, one.key))
    evolved = column(
        conn,
        "SELECT DISTINCT category FROM evolutions WHERE user_key = ? AND evolved_at >= ?",
        (one.user, one.begun_at),
    )
    subcategories.remove_stale_words(conn, one.user, map(Category, evolved))
    conn.execute(
        """DELETE FROM speakers WHERE user_key = ? AND import = ? AND
            NOT EXISTS (SELECT 1 FROM turns t WHERE t.user_key = speakers.user_key
            AND t.speaker = name)""",
        (one.user, one.key),
    )
    conn.execute(
        "UPDATE speakers SET import = NULL WHERE user_key = ? AND import = ?", (one.user, one.key)
    )
    conn.execute(STALE_RECALLS, {"user": one.user, "begun": one.begun_at})
    order.note_anew(conn, one.user)
    imports.remove(conn, one.key, None if one.undone else one.decision)
    if one.new_user and not one.undone:
        _delete_unreferenced(
            conn,
            "users",
            [one.user],
            " UNION ALL ".join(
                f"SELECT 1 FROM {table} WHERE user_key = :key" for table in USER_TABLES
            ),
        )
