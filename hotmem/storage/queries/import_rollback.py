"""Rolls an import back, a few rows at a time.

Rows of the import are deleted and values it changed are restored; what was said since stays.
A memory merged into a deleted one is unmerged, and memories of the import that were stored again
since stay as stored then. Turns that repeated or corrected a memory of the import are read again,
and what is left is derived again (`derivation`), as if the import had never been.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    cascade,
    decisions,
    effects,
    imports,
    job_failures,
    quality,
    subcategories,
    times,
)
from hotmem.storage.queries.effects import Group
from hotmem.storage.queries.imports import Import
from hotmem.storage.queries.jobs import WHEN_ENDED
from hotmem.types import Category, DecisionAction, JobKind, QualityRecord, UserKey

AT_ONCE: Final = 16
"""Rows deleted between two checks of the time limit."""

USER_TABLES: Final = ("turns", "memories", "recalls", "weights", "imports")
"""Tables without rows of a user whom the import created and who is deleted with it."""

QUALITY: Final = TypeAdapter(QualityRecord)

STORED_AGAIN: Final = """
    SELECT m.id FROM memories m WHERE +m.user_key = :user AND m.id = ANY(:keys) AND EXISTS (
        SELECT 1 FROM decision_memories x JOIN decisions d ON d.id = x.decision
        WHERE x.memory = m.id AND d.action = 'confirmed')"""

DETACH_STORED: Final = """
    UPDATE memories AS m SET import = NULL, confirmations =
        -1 + s.times + (SELECT count(DISTINCT x.turn) FROM sources x JOIN turns t
            ON t.id = x.turn WHERE x.memory = m.id AND t.import IS DISTINCT FROM :import),
        stored_at = s.at
    FROM (SELECT k.id, count(d.id) AS times, max(d.decided_at) AS at
        FROM memories k JOIN decision_memories x ON x.memory = k.id
          JOIN decisions d ON d.id = x.decision AND d.action = 'confirmed'
        WHERE +k.user_key = :user AND k.id = ANY(:keys) GROUP BY k.id) AS s
    WHERE +m.user_key = :user AND s.id = m.id"""
"""Detaches memories from the import that were stored again."""

CORRECTIONS: Final = """
    SELECT id FROM memories m WHERE +user_key = :user AND amends = ANY(:keys) AND stored_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.amends = m.id OR o.merged_into = m.id)"""
"""Memories read from turns that corrected others, and not edited or merged since."""

READ_AGAIN: Final = """
    INSERT INTO pending_turns (turn, user_key) SELECT DISTINCT x.turn, t.user_key
    FROM sources x JOIN turns t ON t.id = x.turn
    WHERE x.memory = ANY(:keys) AND +t.user_key = :user AND t.import IS DISTINCT FROM :import
    ON CONFLICT DO NOTHING"""
"""Has the turns outside the import read again that repeated or corrected its memories."""

STALE_RECALLS: Final = """
    DELETE FROM recalls WHERE user_key = :user AND asked_at >= :begun AND id IN (
        SELECT r.id FROM recalls r JOIN recall_items u ON u.recall = r.id WHERE r.user_key = :user
            AND (
            (u.memory IS NOT NULL AND NOT EXISTS (SELECT 1 FROM memories m
                WHERE m.user_key = :user AND m.public_id = u.memory))
            OR EXISTS (SELECT 1 FROM json_each(u.turns) AS j WHERE
                NOT EXISTS (SELECT 1 FROM turns t WHERE t.user_key = :user
                AND t.public_id = j.value))))"""
"""Deletes recalls since the import began whose items no longer exist."""


class RollbackState(NamedTuple):
    """An import that is rolled back.

    Attributes:
        key: Its row number.
        user: The user.
        undone: Whether a person undid it; otherwise it failed.
        new_user: Whether the import created the user.
        begun_at: When it began.
        decision: Its decision.
    """

    key: int
    user: UserKey
    undone: bool
    new_user: bool
    begun_at: int
    decision: int | None


NOT_HELD: Final = job_failures.NOT_HELD.format(
    work=JobKind.IMPORT, key="CAST(imports.id AS TEXT)", user="imports.user_key"
)

DUE: Final = f"state IN (?, ?) AND {NOT_HELD}"
"""Condition of imports to roll back."""


def due(conn: Connection) -> Import | None:
    """The next import to roll back; None without one.

    Imports whose rollback failed and pauses are left out.
    """
    sql = f"SELECT id, user_key FROM imports WHERE {DUE} ORDER BY id LIMIT 1"
    return conn.record(Import, sql, (imports.UNDONE, imports.FAILED))


def roll_back(conn: Connection, user: UserKey, key: int, limit_s: float) -> bool:
    """Rolls an import back for so many seconds; False if it is not due."""
    until = monotonic() + limit_s
    one = conn.record(
        RollbackState,
        f"""SELECT id, user_key, state = '{imports.UNDONE}', new_user, begun_at, decision
            FROM imports WHERE id = ? AND user_key = ? AND {DUE}""",
        (key, user, imports.UNDONE, imports.FAILED),
    )
    if one is None:
        return False
    for step in STEPS:
        while step(conn, one):
            if monotonic() > until:
                return True
    _finish(conn, one)
    return True


def _delete_memories(conn: Connection, one: RollbackState) -> bool:
    keys = conn.column(
        "SELECT id FROM memories WHERE user_key = ? AND import = ? ORDER BY id DESC LIMIT ?",
        (one.user, one.key, AT_ONCE),
    )
    _delete_imported(conn, one, keys)
    return bool(keys)


def _delete_summaries(conn: Connection, one: RollbackState) -> bool:
    keys = conn.column(
        "SELECT id FROM summaries WHERE user_key = ? AND import = ? LIMIT ?",
        (one.user, one.key, AT_ONCE),
    )
    conn.execute("DELETE FROM summaries WHERE user_key = ? AND id = ANY(?)", (one.user, keys))
    return bool(keys)


def _delete_turns(conn: Connection, one: RollbackState) -> bool:
    """Deletes some turns, and the memories extracted from them alone."""
    keys = conn.column(
        "SELECT id FROM turns WHERE user_key = ? AND import = ? ORDER BY id DESC LIMIT ?",
        (one.user, one.key, AT_ONCE),
    )
    affected = conn.execute(
        "SELECT memory, count(*) FROM sources WHERE turn = ANY(?) GROUP BY memory",
        (keys,),
    ).fetchall()
    losing = [memory for memory, _ in affected]
    said = {"user": one.user, "turns": keys, "affected": losing}
    worded = conn.column(cascade.FIRST_SAID, said)
    entities = conn.column("SELECT DISTINCT entity FROM turn_entities WHERE turn = ANY(?)", (keys,))
    sessions = conn.column(
        "SELECT DISTINCT session FROM turns WHERE +user_key = ? AND id = ANY(?)", (one.user, keys)
    )
    effects.clear_caused_doubts(conn, one.user, turns=keys)
    conn.execute(effects.REPETITIONS, said)
    conn.execute("DELETE FROM turns WHERE +user_key = ? AND id = ANY(?)", (one.user, keys))
    groups = effects.count_sources_gone(conn, one.user, affected)
    sourceless = """SELECT id FROM memories WHERE +user_key = ? AND id = ANY(?)
        AND stored_at IS NULL AND NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = memories.id)
    """
    alone = conn.column(sourceless, (one.user, losing))
    _delete_imported(conn, one, [*{*worded, *alone}], groups)
    _delete_unmentioned(conn, one.user, entities)
    for session in sessions:
        _update_session(conn, one, session)
    return bool(keys)


def _restore_changes(conn: Connection, one: RollbackState) -> bool:
    """Restores some values that the import changed and nobody has changed since."""
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
"""Steps of a rollback in their order; each deletes a few rows and returns whether there were
any."""


def _delete_imported(
    conn: Connection, one: RollbackState, keys: Sequence[int], affected: Collection[Group] = ()
) -> None:
    """Deletes memories of the import, except those stored again, and derives what is left."""
    kept = conn.column(STORED_AGAIN, {"user": one.user, "keys": list(keys)})
    conn.execute(DETACH_STORED, {"user": one.user, "keys": kept, "import": one.key})
    conn.execute(
        """DELETE FROM sources WHERE memory = ANY(?)
               AND EXISTS (SELECT 1 FROM turns t WHERE t.id = sources.turn AND t.import = ?)""",
        (kept, one.key),
    )
    deleted = [key for key in keys if key not in kept]
    deleted += conn.column(CORRECTIONS, {"user": one.user, "keys": deleted})
    values = {"user": one.user, "keys": deleted}
    conn.execute(READ_AGAIN, {**values, "import": one.key})
    for key in conn.column(
        """SELECT id FROM memories WHERE +user_key = :user AND merged_into = ANY(:keys)
            AND id <> ALL(:keys)""",
        values,
    ):
        decisions.unmerge(conn, one.user, key)
    conn.execute(
        "UPDATE memories SET amends = NULL WHERE +user_key = :user AND amends = ANY(:keys)", values
    )
    conn.execute(
        f"""UPDATE memories SET confirmations = greatest(confirmations - 1, 0)
            WHERE +user_key = :user AND id IN (
                SELECT x.into_memory FROM decision_memories x JOIN decisions d ON d.id = x.decision
                WHERE x.memory = ANY(:keys) AND d.action = '{DecisionAction.MERGED}'
                    AND d.undone_at IS NULL)""",
        values,
    )
    entities = conn.column(
        "SELECT DISTINCT entity FROM memory_entities WHERE memory = ANY(:keys)", values
    )
    groups = {*affected, *effects.groups_of(conn, one.user, kept)}
    cascade.delete_memories(conn, one.user, deleted, groups)
    _delete_unmentioned(conn, one.user, entities)


def _delete_unmentioned(conn: Connection, user: UserKey, entities: list[int]) -> None:
    """Deletes those of the entities that nothing mentions any more."""
    conn.execute(
        """DELETE FROM entities WHERE +user_key = ? AND id = ANY(?)
            AND NOT EXISTS (SELECT 1 FROM turn_entities x WHERE x.entity = entities.id)
            AND NOT EXISTS (SELECT 1 FROM memory_entities x WHERE x.entity = entities.id)""",
        (user, entities),
    )


def _update_session(conn: Connection, one: RollbackState, session: int) -> None:
    """Updates a session once all its imported turns are deleted; an empty one is deleted."""
    imported = "SELECT 1 FROM turns WHERE +user_key = ? AND session = ? AND import = ?"
    if conn.exists(imported, (one.user, session, one.key)):
        return
    first, last, order_time = conn.execute(
        """SELECT min(spoken_at), max(spoken_at), max(order_time) FROM turns
            WHERE +user_key = ? AND session = ?""",
        (one.user, session),
    ).fetchone()
    if first is None:
        conn.execute("DELETE FROM sessions WHERE user_key = ? AND id = ?", (one.user, session))
        return
    conn.execute(
        """UPDATE sessions SET started_at = ?, last_at = ?, order_time = ?,
               passages = (SELECT coalesce(max(p.position) + 1, 0) FROM passages p
                   WHERE p.session = sessions.id) WHERE user_key = ? AND id = ?""",
        (first, last, order_time, one.user, session),
    )
    if one.undone:
        conn.execute("DELETE FROM summaries WHERE user_key = ? AND id = ?", (one.user, session))
        conn.execute(
            "UPDATE sessions SET summary_due = ? WHERE user_key = ? AND id = ?",
            (WHEN_ENDED, one.user, session),
        )


def _restore_session(
    conn: Connection, one: RollbackState, key: str, before: Sequence[int | None]
) -> None:
    """Restores when a session changed and whether its summary is due.

    The latter only if the session is not summarised again anyway.
    """
    touched_at, due, last = before
    former: dict[str, int | None] = {"touched_at": touched_at}
    if not one.undone:
        former["summary_due"] = due
    conn.execute(
        f"""UPDATE sessions SET {", ".join(f"{name} = ?" for name in former)}
           WHERE user_key = ? AND id = ? AND (SELECT max(t.id) FROM turns t
               WHERE t.session = sessions.id) IS NOT DISTINCT FROM ?""",
        (*former.values(), one.user, int(key), last),
    )


def _restore_tag(
    conn: Connection, one: RollbackState, key: str, before: Sequence[int | None]
) -> None:
    used_at, archived, last = before
    conn.execute(
        """UPDATE tags SET used_at = ?, archived = ? WHERE user_key = ? AND id = ?
            AND (SELECT max(x.memory) FROM memory_tags x WHERE x.tag = tags.id) IS NOT DISTINCT
                FROM ?""",
        (used_at, archived, one.user, int(key), last),
    )


def _restore_weights(conn: Connection, one: RollbackState, _: str, step: int) -> None:
    latest = "SELECT max(id) FROM weight_history WHERE user_key = ?"
    if conn.scalar(latest, (one.user,)) == step:
        conn.execute("DELETE FROM weights WHERE user_key = ?", (one.user,))
        conn.execute("DELETE FROM intent_weights WHERE user_key = ?", (one.user,))
    conn.execute("DELETE FROM weight_history WHERE user_key = ? AND id = ?", (one.user, step))


def _restore_quality(conn: Connection, one: RollbackState, _: str, cell: object) -> None:
    quality.subtract(conn, one.user, QUALITY.validate_python(cell))


RESTORE: Final[Mapping[str, Callable[[Connection, RollbackState, str, Any], None]]] = {
    "session": _restore_session,
    "tag": _restore_tag,
    "weights": _restore_weights,
    "quality": _restore_quality,
}
"""Functions that restore a changed value, by kind of value."""


def _finish(conn: Connection, one: RollbackState) -> None:
    """Deletes the remaining rows of an import, and the import."""
    conn.execute("DELETE FROM evolutions WHERE user_key = ? AND import = ?", (one.user, one.key))
    evolved = conn.column(
        "SELECT DISTINCT category FROM evolutions WHERE user_key = ? AND evolved_at >= ?",
        (one.user, one.begun_at),
    )
    subcategories.remove_stale_words(conn, one.user, map(Category, evolved))
    conn.execute(
        """DELETE FROM speakers WHERE user_key = ? AND import = ? AND
            NOT EXISTS (SELECT 1 FROM turns t WHERE t.user_key = speakers.user_key
            AND t.speaker = speakers.name)""",
        (one.user, one.key),
    )
    conn.execute(
        "UPDATE speakers SET import = NULL WHERE user_key = ? AND import = ?", (one.user, one.key)
    )
    conn.execute(STALE_RECALLS, {"user": one.user, "begun": one.begun_at})
    times.note_anew(conn, one.user)
    imports.remove(conn, one.user, one.key, None if one.undone else one.decision)
    if one.new_user and not one.undone:
        rest = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE user_key = :user" for table in USER_TABLES
        )
        conn.execute(
            f"DELETE FROM users WHERE id = :user AND NOT EXISTS ({rest})", {"user": one.user}
        )
