"""Turns that wait to be sent to a language model, and the calls that were made.

    understood ─▶ waiting ─▶ claimed, call on record ─▶ facts stored, call complete
                     ▲                │
                     └── failed, or the worker died: again, `MAX_TRIES` times at most

A turn waits from when it has been understood here, so that it has been read in any case. A
forgotten turn waits no longer.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import model_calls, turns
from hotmem.storage.queries.memories import current_subjects
from hotmem.storage.queries.model_calls import SESSIONS_SEEN, Batch, Budget, Claim, Cost
from hotmem.storage.queries.users import lock_users
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Role,
    Statement,
    Turn,
    UserKey,
)
from hotmem.understanding.kept_sentences import STATES

MAX_TRIES: Final = 3
"""Calls at most that a turn is sent with; then what was read of it here has to do."""

MAX_TURNS: Final = 100
"""Turns sent with one call."""

MAX_CHARACTERS: Final = 24_000
"""Characters of the turns sent with one call."""

MAX_TURN_CHARACTERS: Final = 4_000
"""Characters of a turn that is sent; longer ones are read here in part, and not sent."""

DUE: Final = """
    SELECT p.user_key, p.session, sum(CASE WHEN t.role = 'user' THEN 1 ELSE 0 END)
    FROM pending_extractions p JOIN sessions s ON s.user_key = p.user_key AND s.id = p.session
        JOIN turns t ON t.user_key = p.user_key AND t.id = p.turn
    GROUP BY p.user_key, p.session, s.summary_due
    HAVING sum(CASE WHEN t.role = 'user' THEN 1 ELSE 0 END) >= :every
        OR s.summary_due <> 1 AND NOT EXISTS (
            SELECT 1 FROM turns n JOIN pending_turns w ON w.user_key = n.user_key AND w.turn = n.id
            WHERE n.user_key = p.user_key AND n.session = p.session AND w.held = 0)
    ORDER BY min(p.turn) LIMIT :limit"""
"""Sessions that have ended, or have so many turns of the user that wait."""

NEVER: Final = 2**31
"""More turns of a session than any has: it is due only when it has ended."""


def enqueue(conn: Connection, turn: int, *, jest: bool) -> None:
    """Lets a turn wait that is about to be stored as understood; an imported one does not.

    A session whose first turn it is may be sent as a whole later. The turn that it takes back as a
    joke (`jest`) does not wait.
    """
    conn.execute(
        """INSERT INTO pending_extractions (turn, user_key, session)
           SELECT t.id, t.user_key, t.session FROM pending_turns p
           JOIN turns t ON t.user_key = p.user_key AND t.id = p.turn
           WHERE p.turn = ? AND p.import IS NULL ON CONFLICT DO NOTHING""",
        (turn,),
    )
    conn.execute(
        """UPDATE sessions SET sendable = 1 WHERE id IN (
               SELECT p.session FROM pending_extractions p WHERE p.turn = ?
               AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = p.session
                   AND +t.user_key = p.user_key AND t.id < p.turn))""",
        (turn,),
    )
    if jest:
        conn.execute(
            """DELETE FROM pending_extractions WHERE turn = (
                   SELECT max(t.id) FROM turns n JOIN turns t ON t.user_key = n.user_key
                       AND t.session = n.session AND t.role = n.role AND t.id < n.id
                   WHERE n.id = ?)""",
            (turn,),
        )


def any_waiting(conn: Connection) -> bool:
    """Whether any turn waits, its session due or not."""
    return conn.exists("SELECT user_key FROM pending_extractions LIMIT 1")


def any_due(conn: Connection, every_turns: int) -> bool:
    """Whether the turns of a session are due to be sent."""
    return bool(_due(conn, every_turns, 1))


def any_sendable(conn: Connection) -> bool:
    """Whether any session may be sent, or any turn waits to be."""
    sendable = "SELECT user_key FROM sessions WHERE sendable = 1 LIMIT 1"
    return conn.exists(sendable) or any_waiting(conn)


def discard(conn: Connection) -> None:
    """Lets no turn wait any longer, and no session be sent, of no user."""
    users = conn.column(
        """SELECT user_key FROM sessions WHERE sendable = 1
           UNION SELECT user_key FROM pending_extractions"""
    )
    lock_users(conn, users)
    conn.execute("DELETE FROM pending_extractions WHERE user_key = ANY(?)", (users,))
    conn.execute(
        "UPDATE sessions SET sendable = 0 WHERE user_key = ANY(?) AND sendable = 1", (users,)
    )


def claim(
    conn: Connection,
    worker: str,
    every_turns: int,
    budget: Budget,
    now: datetime,
    cost: Cost,
) -> Claim:
    """Claims a session that is due (`model_calls.claim`).

    Turns that may not be sent, or not again, wait no longer. After `every_turns` turns of the user
    a session is due before it has ended; 0 for never.
    """
    found = model_calls.claim(
        conn,
        worker,
        _due(conn, every_turns, SESSIONS_SEEN),
        budget,
        now,
        cost,
        partial(_sendable, budget),
        lambda conn, user, _, batch: settle(conn, user, batch),
    )
    if found.batch is None:
        return found
    user = found.batch.user
    conn.execute(
        "UPDATE pending_extractions SET tries = tries + 1 WHERE user_key = ? AND turn = ANY(?)",
        (user, [key for key, _ in found.batch.turns]),
    )
    return found._replace(batch=replace(found.batch, subjects=current_subjects(conn, user)))


def uncorrected(conn: Connection, user: UserKey, turns: Sequence[int]) -> set[int]:
    """Those of the turns that still wait, and were not corrected meanwhile."""
    sql = """SELECT p.turn FROM pending_extractions p WHERE p.user_key = ? AND p.turn = ANY(?)
           AND NOT EXISTS (SELECT 1 FROM correction_counts c
               WHERE c.turn = p.turn AND c.times > 0)"""
    return set(conn.column(sql, (user, [*turns])))


def _due(conn: Connection, every_turns: int, limit: int) -> list[tuple[UserKey, int]]:
    values = {"every": every_turns or NEVER, "limit": limit}
    return [(user, session) for user, session, _ in conn.execute(DUE, values).fetchall()]


def _sendable(budget: Budget, conn: Connection, user: UserKey, session: int) -> Batch:
    """The next turns of a session; those that may not be sent wait no longer."""
    calls = model_calls.of_session(conn, user, session)
    most = -1 if calls >= budget.session_calls else MAX_TRIES - 1
    conn.execute(
        "DELETE FROM pending_extractions WHERE user_key = ? AND session = ? AND tries > ?",
        (user, session, most),
    )
    keys = conn.column(
        """SELECT turn FROM pending_extractions WHERE user_key = ? AND session = ?
           ORDER BY turn LIMIT ?""",
        (user, session, MAX_TURNS),
    )
    found: Batch = []
    room = MAX_CHARACTERS
    long: Batch = []
    for key, turn in turns.of_keys(conn, user, keys):
        if len(turn.text) > MAX_TURN_CHARACTERS:
            long.append((key, turn))
            continue
        room -= len(turn.text)
        if room < 0:
            break
        found.append((key, turn))
    settle(conn, user, long)
    if any(turn.role == Role.USER for _, turn in found):
        return found
    settle(conn, user, found)
    return []


def settle(conn: Connection, user: UserKey, batch: Sequence[tuple[int, Turn]]) -> None:
    """Lets turns wait no longer."""
    conn.execute(
        "DELETE FROM pending_extractions WHERE user_key = ? AND turn = ANY(?)",
        (user, [key for key, _ in batch]),
    )


def is_known(conn: Connection, user: UserKey, turn: int, statement: Statement) -> bool:
    """Whether a memory from the turn says the same: the value, or all words of the statement.

    A sentence that is kept as it was said has the words, but not the relation.
    """
    rows = conn.execute(
        """SELECT m.subject, m.relation, m.object, m.text FROM sources x
           JOIN memories m ON m.id = x.memory WHERE m.user_key = ? AND x.turn = ?""",
        (user, turn),
    ).fetchall()
    words = stems(statement.text) - STOP_STEMS
    value = normalize_value(statement.object)
    return any(
        (relation == statement.relation and normalize_value(known) == value)
        or (relation != STATES.name and words <= stems(f"{subject} {text}"))
        for subject, relation, known, text in rows
    )
