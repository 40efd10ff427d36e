"""Effects of what is said on stored memories: some end, some become possibly outdated.

Both are recorded as decisions with a reason and can be undone. A memory in doubt has the time of
what was said (`doubted_at`) and its cause: a memory (`doubted_by`), or the turn where none was read
from it (`doubted_in`). If the cause is deleted, the memory is no longer in doubt.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, TypeAlias

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

DERIVED: Final = "What was said before is gone, and this follows from the rest."
"""The reason recorded with a memory that ends, or is in doubt, by what is left."""

Group: TypeAlias = tuple[str, str, str]
"""A relation, a subject in lower case, and a value, or "" for all: statements that may have an
effect on each other. Of a relation with several values they have the same value, or one denies."""


def take_out(conn: Connection, user: UserKey, memories: Sequence[int]) -> set[Group]:
    """Takes back what memories, which are deleted or withdrawn, ended or put in doubt.

    Returns:
        What has to be derived again (`derivation.rederive`).
    """
    gone = [*memories]
    freed = conn.column(
        """UPDATE memories SET valid_until = NULL, superseded_by = NULL
            WHERE +user_key = ? AND superseded_by = ANY(?) RETURNING id""",
        (user, gone),
    )
    clear_caused_doubts(conn, user, memories=gone)
    return groups_of(conn, user, [*gone, *freed])


def groups_of(conn: Connection, user: UserKey, memories: Sequence[int]) -> set[Group]:
    """The groups of memories that state a fact."""
    rows = conn.execute(
        """SELECT DISTINCT m.relation, lower(m.subject), CASE WHEN m.single <> 0 OR EXISTS (
                SELECT 1 FROM memories n WHERE n.user_key = m.user_key AND n.relation = m.relation
                    AND lower(n.subject) = lower(m.subject) AND n.negated <> 0)
                THEN '' ELSE m.value END
            FROM memories m
            WHERE +m.user_key = ? AND m.id = ANY(?) AND m.relation <> ''""",
        (user, [*memories]),
    )
    return {(relation, subject, value) for relation, subject, value in rows.fetchall()}


def count_sources_gone(
    conn: Connection, user: UserKey, gone: Sequence[tuple[int, int]]
) -> set[Group]:
    """Counts how often memories were said without sources that are deleted.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        gone: Row numbers of memories, each with the number of its sources that are deleted.

    Returns:
        What has to be derived again.
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
    return groups_of(conn, user, [memory for memory, _ in gone])


REPETITIONS: Final = """
    DELETE FROM decisions WHERE +user_key = :user AND id IN (
        SELECT d.id FROM sources x JOIN turns t ON t.id = x.turn
            JOIN decision_memories l ON l.memory = x.memory JOIN decisions d ON d.id = l.decision
        WHERE x.turn = ANY(:turns) AND d.action = 'repeated' AND d.decided_at = t.spoken_at)"""
"""Records that turns, which are deleted, repeated a memory."""


def clear_caused_doubts(
    conn: Connection,
    user: UserKey,
    *,
    memories: Sequence[int] = (),
    turns: Sequence[int] = (),
) -> None:
    """Clears the doubts that memories or turns, which are deleted or withdrawn, have caused."""
    for column, keys in (("doubted_by", memories), ("doubted_in", turns)):
        if keys:
            conn.execute(
                f"""UPDATE memories SET doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
                    WHERE +user_key = ? AND {column} = ANY(?)""",
                (user, [*keys]),
            )
