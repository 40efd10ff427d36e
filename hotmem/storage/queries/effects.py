"""Effects of what is said on stored memories: some end, some become possibly outdated.

Both are recorded as decisions with a reason and can be undone. A memory in doubt has the time of
what was said (`doubted_at`) and its cause: a memory (`doubted_by`), or the turn where none was read
from it (`doubted_in`). If the cause is deleted, the memory is no longer in doubt.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.decisions import record
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import DecisionAction, RevisedMemory, UserKey

END: Final = """
    UPDATE memories SET valid_until = :at, superseded_by = :cause
        WHERE user_key = :user AND public_id = ANY(:names) AND merged_into IS NULL
            AND id IS DISTINCT FROM :cause RETURNING id, public_id, text, said_at"""

DOUBT: Final = """
    UPDATE memories SET doubted_at = :at, doubted_by = :cause, doubted_in = :turn
        WHERE user_key = :user AND public_id = ANY(:names) AND merged_into IS NULL
            AND (valid_until IS NULL OR valid_until > :at)
            AND id IS DISTINCT FROM :cause RETURNING id, public_id, text, said_at"""


def apply_effects(
    conn: Connection,
    user: UserKey,
    *,
    memory: int | None,
    turn: int | None,
    said_at: datetime,
    reason: str,
    ends: Sequence[str] = (),
    doubts: Sequence[str] = (),
) -> list[RevisedMemory]:
    """Ends memories and marks others as possibly outdated, as something that was said tells.

    One decision is recorded for those that end, and one for those in doubt, with the time of what
    was said. A memory in both ends. Merged ones stay as they are, and ended ones are not doubted.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        memory: Row number of the memory that was read from what was said; None if none was.
        turn: Row number of the turn; None if the memory was stored without one.
        said_at: When it was said.
        reason: Why, one sentence for the audit log, without words of memories.
        ends: Ids of memories that end.
        doubts: Ids of memories that become possibly outdated.

    Returns:
        The memories that changed.
    """
    revised: list[RevisedMemory] = []
    values = {
        "user": user,
        "at": to_stored(said_at),
        "cause": memory,
        "turn": turn if memory is None else None,
    }
    for action, sql, names in (
        (DecisionAction.ENDED, END, list(ends)),
        (DecisionAction.DOUBTED, DOUBT, [name for name in doubts if name not in ends]),
    ):
        found = conn.execute(sql, {**values, "names": names}).fetchall() if names else []
        if found:
            decision = record(
                conn, user, action, reason, [(key, memory) for key, *_ in found], said_at
            )
            revised += (
                RevisedMemory(
                    name, text, from_stored(said), action is DecisionAction.ENDED, decision
                )
                for _, name, text, said in found
            )
    return revised


def apply_later(
    conn: Connection, user: UserKey, memory: int, by: str, action: DecisionAction, reason: str
) -> None:
    """Ends a memory, or puts it in doubt, because of one that is stored already.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        memory: Row number of the memory.
        by: Id of the other memory.
        action: Whether it ends or is in doubt; recorded as a decision.
        reason: Why, one sentence for the audit log, without words of memories.
    """
    at, cause = (
        ("valid_until", "superseded_by")
        if action is DecisionAction.ENDED
        else ("doubted_at", "doubted_by")
    )
    row = conn.execute(
        f"""UPDATE memories SET ({at}, {cause}) = (SELECT o.said_at, o.id FROM memories o
               WHERE o.user_key = :user AND o.public_id = :by)
           WHERE user_key = :user AND id = :memory RETURNING {at}, {cause}""",
        {"user": user, "memory": memory, "by": by},
    ).fetchone()
    if row is not None:
        record(conn, user, action, reason, [(memory, row[1])], from_stored(row[0]))


SAID_AGAIN: Final = "It was said again."
"""The reason recorded with a repetition."""

SPOKEN: Final = (DecisionAction.ENDED, DecisionAction.DOUBTED, DecisionAction.REPEATED)
"""Decisions that follow from what is said."""

REMOVED: Final = "What had ended it is gone, and had ended in turn."
"""The reason recorded with a memory that ends by what ended what had ended it."""

ENDED_AT: Final = """CASE WHEN m.superseded_by IS NULL AND m.stored_at IS NOT NULL THEN NULL
    ELSE m.valid_until END"""
"""When something that was said ended a memory; not when it expires, as it was stored with."""

SUCCEEDED: Final = f"""
    WITH RECURSIVE after (id, valid_until, superseded_by) AS (
        SELECT m.id, {ENDED_AT}, m.superseded_by FROM memories m
            WHERE +m.user_key = :user AND m.id = ANY(:keys)
        UNION SELECT a.id, {ENDED_AT}, m.superseded_by FROM after a JOIN memories m
            ON m.id = a.superseded_by AND m.id = ANY(:keys))
    SELECT id, valid_until, superseded_by FROM after
        WHERE superseded_by IS NULL OR superseded_by <> ALL(:keys)"""
"""For each of some memories, when it ended and by what that is not among them."""


SAID_AFTER: Final = f"""
    SELECT o.id, o.said_at FROM memories m JOIN memories o
        ON o.user_key = m.user_key AND o.relation = m.relation AND o.value = m.value
            AND lower(o.subject) = lower(m.subject) AND o.negated = m.negated
    WHERE m.user_key = :user AND m.id = :key AND o.id > m.id AND o.id <> ALL(:gone)
        AND m.relation <> '' AND o.merged_into IS NULL
        AND o.stored_at IS NULL AND o.amends IS NULL
        AND (o.id = m.superseded_by OR (m.superseded_by IS NULL AND o.valid_until IS NULL))
        AND NOT EXISTS (SELECT 1 FROM decision_memories x JOIN decisions d ON d.id = x.decision
            WHERE x.memory = o.id AND d.action NOT IN ({", ".join(map(repr, map(str, SPOKEN)))}))
    ORDER BY o.id LIMIT 1"""
"""The memory that states the same as one, said when that had ended, unless a person changed it."""


def take_out(conn: Connection, user: UserKey, memories: Sequence[int]) -> int:
    """Takes back what memories, which are deleted or withdrawn, ended or put in doubt.

    What one of them ended holds again, as if it had never been said, or ends by what ended that
    one since. Where the same was said again meanwhile, that is a repetition.

    Returns:
        How many memories changed.
    """
    gone = [*memories]
    changed = 0
    for key, valid_until, successor in conn.execute(
        SUCCEEDED, {"user": user, "keys": gone}
    ).fetchall():
        ended = conn.execute(
            """UPDATE memories SET valid_until = ?, superseded_by = ?
                WHERE +user_key = ? AND superseded_by = ? AND id <> ALL(?) RETURNING id""",
            (valid_until, successor, user, key, gone),
        ).fetchall()
        changed += len(ended)
        for (one,) in ended:
            if not _join_repetition(conn, user, one, gone) and successor is not None:
                links, at = [(one, successor)], from_stored(valid_until)
                record(conn, user, DecisionAction.ENDED, REMOVED, links, at)
    return changed + clear_caused_doubts(conn, user, memories=memories)


def _join_repetition(conn: Connection, user: UserKey, key: int, gone: Sequence[int]) -> bool:
    """Joins a memory with the one that states the same since, if there is one."""
    values = {"user": user, "key": key, "gone": gone}
    row = conn.execute(SAID_AFTER, values).fetchone()
    if row is None:
        return False
    values["twin"], said_at = row
    conn.execute(
        """UPDATE memories AS m SET valid_until = o.valid_until, superseded_by = o.superseded_by,
               confirmations = m.confirmations + o.confirmations + 1, said_at = o.said_at,
               order_time = o.order_time
           FROM memories o WHERE +m.user_key = :user AND m.id = :key AND o.id = :twin""",
        values,
    )
    conn.execute("UPDATE sources SET memory = :key WHERE memory = :twin", values)
    for link in ("superseded_by", "doubted_by"):
        conn.execute(
            f"UPDATE memories SET {link} = :key WHERE +user_key = :user AND {link} = :twin", values
        )
    for link in ("memory", "into_memory"):
        conn.execute(f"UPDATE decision_memories SET {link} = :key WHERE {link} = :twin", values)
    conn.execute("DELETE FROM memories WHERE +user_key = :user AND id = :twin", values)
    record(conn, user, DecisionAction.REPEATED, SAID_AGAIN, [(key, None)], from_stored(said_at))
    return True


def count_sources_gone(conn: Connection, user: UserKey, gone: Sequence[tuple[int, int]]) -> None:
    """Counts how often memories were said, and when, without sources that are deleted.

    What one of them ended holds until the first time that it is still said.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        gone: Row numbers of memories, each with the number of its sources that are deleted.
    """
    conn.executemany(
        """UPDATE memories AS m SET confirmations = greatest(confirmations - ?, 0),
               said_at = coalesce((SELECT max(t.spoken_at) FROM sources x JOIN turns t
                   ON t.id = x.turn WHERE x.memory = m.id), said_at),
               order_time = coalesce((SELECT max(t.order_time) FROM sources x JOIN turns t
                   ON t.id = x.turn WHERE x.memory = m.id), order_time)
           WHERE user_key = ? AND id = ?""",
        [(number, user, memory) for memory, number in gone],
    )
    conn.execute(
        """UPDATE memories AS m SET valid_until = coalesce((SELECT min(t.spoken_at) FROM sources x
               JOIN turns t ON t.id = x.turn WHERE x.memory = m.superseded_by
                   AND t.spoken_at > m.said_at), valid_until)
           WHERE +user_key = ? AND superseded_by = ANY(?)""",
        (user, [memory for memory, _ in gone]),
    )


def clear_caused_doubts(
    conn: Connection,
    user: UserKey,
    *,
    memories: Sequence[int] = (),
    turns: Sequence[int] = (),
) -> int:
    """Clears the doubts that memories or turns, which are deleted or withdrawn, have caused.

    Returns:
        How many memories were in doubt.
    """
    cleared = 0
    for column, keys in (("doubted_by", memories), ("doubted_in", turns)):
        if keys:
            rows = conn.execute(
                f"""UPDATE memories SET doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
                    WHERE +user_key = ? AND {column} = ANY(?) RETURNING id""",
                (user, [*keys]),
            )
            cleared += len(rows.fetchall())
    return cleared
