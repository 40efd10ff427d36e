"""Undoes decisions about memories, and takes an undoing back.

An undoing is a decision of its own that keeps what it changed, so that it can be undone in turn.
What deletes rows or needs a model (an edit, a repetition, tags, subcategories, an import) is done
anew instead.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    cascade,
    decisions,
    derivation,
    effects,
    evolutions,
    imports,
    memory_states,
)
from hotmem.storage.queries.decisions import merge, merge_into, record, unmerge
from hotmem.storage.queries.times import from_stored, short, to_stored
from hotmem.types import (
    DecisionAction,
    UndoResult,
    UserKey,
)

AGAIN: Final = {
    DecisionAction.EDITED: "edit_memory (`hotmem edit`) makes the edit again.",
    DecisionAction.REPEATED: "store_memory (`hotmem store`) counts the statement again.",
    DecisionAction.TAGS_CONSOLIDATED: "optimize_tags (`hotmem optimize-tags`) joins them again.",
    DecisionAction.EVOLVED: "evolve_categories (`hotmem evolve`) finds the subcategories again.",
    DecisionAction.REGROUPED: "edit_subcategory (`hotmem edit-subcategory`) changes it again.",
    DecisionAction.IMPORTED: "Import the file again.",
}
"""How to make a decision again whose undoing cannot be undone."""


STATED_AGAIN: Final = "it was stated again while it was withdrawn"
"""The reason recorded where a memory that holds again is merged into its repetition."""


class _Row(NamedTuple):
    """A stored decision."""

    key: int
    name: str
    action: DecisionAction
    decided_at: int
    undone_at: int | None
    changes: str | None
    undoes: int | None


def undo(
    conn: Connection, user: UserKey, name: str, now: datetime, why: str | None = None
) -> UndoResult:
    """Undoes a decision, and records that as a decision, with a reason if there is one.

    A memory that was corrected holds again without the correction; one that was ended otherwise
    holds beside what ended it. A memory that was repeated counts as not repeated. A fact that was
    read, or a statement that was stored, is withdrawn: no search finds it, and what it ended or put
    in doubt holds again. An import is marked, to be rolled back in portions.

    Raises:
        InvalidInput: If there is no such decision, it cannot be undone, or it was undone before.
    """
    decisions.store_reading(conn, user, name)
    one = _find(conn, user, "public_id = ?", name)
    if one is None:
        raise InvalidInput(
            f"{name!r} cannot be undone: it is no decision about this user's memories. "
            "memory_decisions (`hotmem decisions`) lists them."
        )
    if one.undone_at is not None:
        raise InvalidInput(f"{name!r} was undone on {from_stored(one.undone_at).date()}.")
    undone = _undo(conn, user, one, now, why)
    evolutions.assign_remaining(conn, user)
    return undone


def _find(conn: Connection, user: UserKey, where: str, value: object) -> _Row | None:
    return conn.record(
        _Row,
        f"""SELECT id, public_id, action, decided_at, undone_at, changes, undoes FROM decisions
            WHERE user_key = ? AND {where}""",
        (user, value),
    )


def _undo(
    conn: Connection, user: UserKey, one: _Row, now: datetime, why: str | None = None
) -> UndoResult:
    """Undoes a decision that was not undone before, and records it."""
    if one.action is DecisionAction.REDONE:
        raise InvalidInput(
            f"{one.name!r} took an undoing back. Undo the decision itself again instead."
        )
    if one.action is DecisionAction.UNDONE:
        return _redo(conn, user, one, now)
    links = conn.execute(
        "SELECT memory, into_memory FROM decision_memories WHERE decision = ? ORDER BY memory",
        (one.key,),
    ).fetchall()
    keys = [key for link in links for key in link if key is not None]
    before = memory_states.of(conn, user, keys)
    restored, removed = _revert(conn, user, one, links, now)
    after = memory_states.of(conn, user, keys)
    repeatable = one.action not in AGAIN and after.keys() == before.keys()
    changes = decisions.difference(before, after) if repeatable else {}
    conn.execute(
        "UPDATE decisions SET undone_at = ? WHERE id = ? AND user_key = ?",
        (to_stored(now), one.key, user),
    )
    of = f"the decision {short(one.name)} of {from_stored(one.decided_at).date()} ({one.action})"
    name = record(
        conn,
        user,
        DecisionAction.UNDONE,
        of if why is None else f"{of}: {why}",
        [(key, None) for key in memory_states.existing(conn, user, keys)],
        now,
        changes=decisions.to_json(changes),
        undoes=one.key,
    )
    return UndoResult(restored, removed, name)


def _redo(conn: Connection, user: UserKey, undoing: _Row, now: datetime) -> UndoResult:
    """Takes an undoing back, with those of what the memory had ended or put in doubt."""
    one = _find(conn, user, "id = ?", undoing.undoes)
    if one is None or undoing.changes is None:
        again = None if one is None else AGAIN.get(one.action)
        raise InvalidInput(
            f"{undoing.name!r} cannot be undone. "
            f"{again or 'edit_memory (`hotmem edit`) changes the memory.'}"
        )
    links = conn.execute(
        "SELECT memory, NULL FROM decision_memories WHERE decision = ?", (undoing.key,)
    ).fetchall()
    restored = len(links)
    if one.action in (DecisionAction.READ, DecisionAction.FILED):
        ((key, _),) = links
        unmerge(conn, user, key)
        restored += _cause_again(conn, user, key, undoing.decided_at)
        if one.action is DecisionAction.FILED:
            _merge_into_repetition(conn, user, key, now)
    else:
        memory_states.reverse(conn, user, undoing.changes, now)
    conn.execute(
        "UPDATE decisions SET undone_at = NULL WHERE id = ? AND user_key = ?", (one.key, user)
    )
    conn.execute(
        "UPDATE decisions SET undone_at = ? WHERE id = ? AND user_key = ?",
        (to_stored(now), undoing.key, user),
    )
    name = record(
        conn,
        user,
        DecisionAction.REDONE,
        f"the decision {short(one.name)} of {from_stored(one.decided_at).date()} ({one.action})",
        links,
        now,
        undoes=undoing.key,
    )
    return UndoResult(restored, decision=name)


def _merge_into_repetition(conn: Connection, user: UserKey, key: int, now: datetime) -> None:
    """Merges a memory into the one that has stated the same since, if there is one."""
    row = conn.execute(
        """SELECT o.public_id, m.public_id FROM memories m JOIN memories o
            ON o.user_key = m.user_key AND o.text = m.text AND o.id > m.id
                AND o.merged_into IS NULL AND (o.valid_until IS NULL) = (m.valid_until IS NULL)
            WHERE m.user_key = ? AND m.id = ? AND m.merged_into IS NULL
            ORDER BY o.id DESC LIMIT 1""",
        (user, key),
    ).fetchone()
    if row is not None:
        repetition, restored = row
        merge(conn, user, repetition, [restored], STATED_AGAIN, now)


def _revert(
    conn: Connection,
    user: UserKey,
    one: _Row,
    links: Sequence[tuple[int, int | None]],
    now: datetime,
) -> tuple[int, int]:
    """Reverts a decision; returns the number of restored and of removed rows."""
    keys = [key for key, _ in links]
    match one.action:
        case DecisionAction.FILED | DecisionAction.READ:
            return _withdraw(conn, user, keys[0], now), 1
        case DecisionAction.REFILED | DecisionAction.CONFIRMED:
            memory_states.reverse(conn, user, one.changes or "{}", now)
            return 1, 0
        case DecisionAction.ENDED if _is_correction(conn, user, links):
            _undo_edit(conn, user, one.key, *links[0])
            return 1, 0
        case DecisionAction.EDITED:
            _undo_edit(conn, user, one.key, *links[0])
            return 1, 0
        case DecisionAction.REPEATED:
            _undo_repetition(conn, user, keys[0], one.decided_at)
            return 1, 0
        case DecisionAction.ENDED | DecisionAction.DOUBTED:
            return _undo_effect(conn, user, one.key, one.action), 0
        case DecisionAction.EVOLVED | DecisionAction.REGROUPED:
            return _restore_former_evolution(conn, user, one.key), 0
        case DecisionAction.TAGS_CONSOLIDATED:
            return _unmerge_tags(conn, user, one.key), 0
        case DecisionAction.IMPORTED:
            removed = conn.scalar(
                "UPDATE imports SET state = ? WHERE decision = ? RETURNING turns + memories",
                (imports.UNDONE, one.key),
            )
            return 0, removed or 0
        case _:
            return _undo_merge(conn, user, links), 0


CAUSED: Final = """action IN ('ended', 'doubted')
    AND EXISTS (SELECT 1 FROM decision_memories x
        WHERE x.decision = decisions.id AND x.into_memory = :key)"""
"""Condition of decisions by which a memory ended others, or put them in doubt."""


def _withdraw(conn: Connection, user: UserKey, key: int, now: datetime) -> int:
    """Withdraws a memory; what it ended or put in doubt is as without it. Returns how many are."""
    values = {"user": user, "key": key, "now": to_stored(now)}
    if conn.exists(
        """SELECT 1 FROM memories WHERE user_key = :user AND (amends = :key
            OR (id = :key AND merged_into IS NOT NULL) OR (merged_into = :key AND id <> :key))""",
        values,
    ):
        raise InvalidInput(
            "The memory was edited or merged after this decision. Undo the later change first."
        )
    conn.execute(
        f"""UPDATE decisions SET undone_at = :now
            WHERE user_key = :user AND undone_at IS NULL AND {CAUSED}""",
        values,
    )
    restored = conn.scalar(
        """SELECT count(*) FROM memories
            WHERE user_key = :user AND (superseded_by = :key OR doubted_by = :key)""",
        values,
    )
    groups = effects.take_out(conn, user, [key])
    merge_into(conn, user, key, key)
    derivation.rederive(conn, user, groups)
    return int(restored)


def _cause_again(conn: Connection, user: UserKey, key: int, withdrawn_at: int) -> int:
    """Derives anew what a memory does that was withdrawn; returns how many memories change."""
    values = {"user": user, "key": key, "now": withdrawn_at}
    taken = conn.column(
        f"""UPDATE decisions SET undone_at = NULL
            WHERE user_key = :user AND undone_at = :now AND {CAUSED} RETURNING id""",
        values,
    )
    targets = conn.column("SELECT memory FROM decision_memories WHERE decision = ANY(?)", (taken,))
    groups = effects.groups_of(conn, user, [key, *targets])
    return derivation.rederive(conn, user, groups)


def _unmerge_tags(conn: Connection, user: UserKey, decision: int) -> int:
    """Restores the tags that a decision merged or archived; returns their number."""
    tags = conn.column("SELECT tag FROM decision_tags WHERE decision = ?", (decision,))
    conn.executemany(
        "UPDATE tags SET merged_into = NULL, archived = 0 WHERE id = ? AND +user_key = ?",
        [(tag, user) for tag in tags],
    )
    return len(tags)


def _undo_effect(conn: Connection, user: UserKey, decision: int, action: DecisionAction) -> int:
    """Restores memories that a decision ended or put in doubt; returns their number.

    Those that ended or became doubtful for another reason since stay as they are.
    """
    changed, held = (
        ("valid_until = NULL, superseded_by = NULL", "valid_until IS NOT NULL AND superseded_by")
        if action is DecisionAction.ENDED
        else (
            "doubted_at = NULL, doubted_by = NULL, doubted_in = NULL",
            "doubted_at IS NOT NULL AND doubted_by",
        )
    )
    restored = conn.execute(
        f"""UPDATE memories SET {changed} WHERE user_key = :user AND EXISTS (
                SELECT 1 FROM decision_memories x
                WHERE x.decision = :decision AND x.memory = memories.id
                    AND {held} IS NOT DISTINCT FROM x.into_memory) RETURNING id""",
        {"user": user, "decision": decision},
    )
    return len(restored.fetchall())


def _is_correction(
    conn: Connection, user: UserKey, ended: Sequence[tuple[int, int | None]]
) -> bool:
    """Whether one memory ended because a turn corrected a word of it."""
    if len(ended) != 1:
        return False
    sql = "SELECT 1 FROM memories WHERE amends = ? AND id = ? AND +user_key = ?"
    return conn.exists(sql, (*ended[0], user))


def _undo_merge(conn: Connection, user: UserKey, links: Sequence[tuple[int, int | None]]) -> int:
    """Unmerges memories; returns their number. Those that were released since stay as they are."""
    merged = [
        link
        for link in links
        if conn.exists(
            "SELECT 1 FROM memories WHERE id = ? AND merged_into = ? AND +user_key = ?",
            (*link, user),
        )
    ]
    for key, kept in merged:
        unmerge(conn, user, key)
        conn.execute(
            "UPDATE memories SET confirmations = greatest(confirmations - 1, 0) WHERE id = ?",
            (kept,),
        )
    derivation.rederive(conn, user, effects.groups_of(conn, user, [key for key, _ in merged]))
    return len(merged)


def _undo_repetition(conn: Connection, user: UserKey, key: int, said_at: int) -> None:
    """Detaches the turn that repeated a memory, unless it is the memory's only turn."""
    values = {"user": user, "key": key, "at": said_at}
    conn.execute(
        """DELETE FROM sources WHERE memory = :key
            AND turn IN (SELECT id FROM turns WHERE user_key = :user AND spoken_at = :at)
            AND EXISTS (SELECT 1 FROM sources x JOIN turns t ON t.id = x.turn
                WHERE x.memory = :key AND t.user_key = :user AND t.spoken_at <> :at)""",
        values,
    )
    derivation.rederive(conn, user, effects.count_sources_gone(conn, user, [(key, 1)]))


def _undo_edit(conn: Connection, user: UserKey, decision: int, old: int, new: int | None) -> None:
    """Restores a memory as it was before an edit, and deletes the edited one.

    Decisions about the edited one refer to the restored one.
    """
    values = {"user": user, "old": old, "new": new}
    if conn.exists(
        """SELECT 1 FROM memories WHERE user_key = :user AND ((id = :new
            AND merged_into IS NOT NULL) OR merged_into = :new OR amends = :new)""",
        values,
    ):
        raise InvalidInput(
            "The memory was changed again after this edit. Undo the later change first."
        )
    conn.execute(
        """UPDATE memories SET (valid_until, superseded_by) = (SELECT n.valid_until, n.superseded_by
           FROM memories n WHERE n.id = :new)
           WHERE user_key = :user AND id = :old""",
        values,
    )
    for link in ("superseded_by", "doubted_by"):
        conn.execute(
            f"UPDATE memories SET {link} = :old WHERE +user_key = :user AND {link} = :new", values
        )
    conn.execute("UPDATE decision_memories SET into_memory = NULL WHERE decision = ?", (decision,))
    conn.execute(
        """UPDATE decision_memories SET memory = :old WHERE memory = :new
            AND NOT EXISTS (SELECT 1 FROM decision_memories o
                WHERE o.decision = decision_memories.decision AND o.memory = :old)""",
        values,
    )
    conn.execute("DELETE FROM memories WHERE user_key = :user AND id = :new", values)


def _restore_former_evolution(conn: Connection, user: UserKey, decision: int) -> int:
    """Makes the former evolution live again; returns its number of subcategories."""
    live = conn.execute(
        """SELECT id, category FROM evolutions
            WHERE decision = ? AND state = 'live' AND user_key = ?""",
        (decision, user),
    ).fetchone()
    if live is None:
        raise InvalidInput(
            "The category has evolved since, or something was forgotten. Undo the latest "
            "evolution first, or let the category evolve again."
        )
    conn.execute(
        "UPDATE evolutions SET state = 'undone' WHERE id = ? AND user_key = ?", (live[0], user)
    )
    former = conn.scalar(
        """UPDATE evolutions SET state = 'live'
           WHERE id = (SELECT max(id) FROM evolutions WHERE user_key = ? AND category = ?
               AND state = 'past') RETURNING id""",
        (user, live[1]),
    )
    return int(conn.scalar("SELECT count(*) FROM subcategories WHERE evolution = ?", (former,)))


IN_JEST: Final = "it was said in jest"
"""The reason recorded with the undoing."""

READ_FROM_PREVIOUS: Final = """
    SELECT m.id, m.public_id, m.amends IS NOT NULL OR m.import IS NOT NULL FROM sources x JOIN (
        SELECT t.id FROM turns t JOIN turns n ON n.session = t.session AND n.role = t.role
        WHERE n.id = ? AND t.id < n.id ORDER BY t.id DESC LIMIT 1
    ) previous ON previous.id = x.turn JOIN memories m ON m.id = x.memory
    WHERE m.merged_into IS NULL AND m.stored_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.amends = m.id)
        AND NOT EXISTS (SELECT 1 FROM sources o WHERE o.memory = m.id AND o.turn <> x.turn)"""
"""Memories from the speaker's previous turn alone that were not changed since.

An edited one has the time of the edit as `stored_at`.
"""


MERGED_INTO: Final = "SELECT id FROM memories WHERE merged_into = ? AND +user_key = ?"
"""Memories merged into one."""


def retract_previous_turn(conn: Connection, user: UserKey, turn: int, said_at: datetime) -> None:
    """Withdraws facts from the previous turn of a turn's speaker; what they ended holds again.

    That can be undone. A correction is deleted, and what it corrected holds again; so is a fact of
    an import, whose reading is no decision of its own (`readings`).
    """
    rows = conn.execute(READ_FROM_PREVIOUS, (turn,)).fetchall()
    for key, name, deleted in rows:
        for merged in conn.column(MERGED_INTO, (key, user)):
            decisions.unmerge(conn, user, merged)
        if not deleted:
            undo(conn, user, name, said_at, IN_JEST)
    deleted_keys = [key for key, _, deleted in rows if deleted]
    cascade.delete_memories(conn, user, deleted_keys)
