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


def doubt_new(conn: Connection, user: UserKey, memory: int, by: str, reason: str) -> None:
    """Marks a new memory as possibly outdated because of another, and records the decision.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        memory: Row number of the new memory.
        by: Id of the other memory.
        reason: Why, one sentence for the audit log, without words of memories.
    """
    row = conn.execute(
        """UPDATE memories SET (doubted_at, doubted_by) = (SELECT o.said_at, o.id FROM memories o
               WHERE o.user_key = :user AND o.public_id = :by)
           WHERE user_key = :user AND id = :memory RETURNING doubted_at, doubted_by""",
        {"user": user, "memory": memory, "by": by},
    ).fetchone()
    if row is not None:
        at, cause = row
        record(conn, user, DecisionAction.DOUBTED, reason, [(memory, cause)], from_stored(at))


def revert(conn: Connection, user: UserKey, memories: Sequence[int]) -> None:
    """Lets hold again, without doubt, what memories that are about to be deleted superseded."""
    conn.execute(
        """UPDATE memories SET valid_until = NULL, superseded_by = NULL
            WHERE +user_key = ? AND superseded_by = ANY(?)""",
        (user, [*memories]),
    )
    clear_caused_doubts(conn, user, memories=memories)


def clear_caused_doubts(
    conn: Connection,
    user: UserKey,
    *,
    memories: Sequence[int] = (),
    turns: Sequence[int] = (),
) -> None:
    """Clears the doubts that memories or turns, which are about to be deleted, have caused."""
    for column, keys in (("doubted_by", memories), ("doubted_in", turns)):
        if keys:
            conn.execute(
                f"""UPDATE memories SET doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
                    WHERE +user_key = ? AND {column} = ANY(?)""",
                (user, [*keys]),
            )
