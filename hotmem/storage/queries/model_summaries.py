"""Summaries that a language model writes: the sessions that wait to be sent, and its sentences.

    ended, summary stored ─▶ waiting ─▶ claimed, call on record ─▶ its sentences stored
                                ▲                │
                                └── failed, or the worker died: again, `MAX_TRIES` times at most

A session waits from when it has an extractive summary of all its turns. That summary stays until
another replaces it, and for good if the session cannot be sent whole with one call. When the
session grows, or a turn of it is forgotten, it gets a new extractive summary, and waits again.

A session may be sent if a model was configured from its first turn on.
"""

from datetime import datetime
from functools import partial
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import model_calls, summaries
from hotmem.storage.queries.extractions import MAX_CHARACTERS, MAX_TRIES, MAX_TURN_CHARACTERS
from hotmem.storage.queries.locks import lock_users
from hotmem.storage.queries.model_calls import SESSIONS_SEEN, Batch, Budget, Claim, Cost
from hotmem.storage.queries.turns import of_keys
from hotmem.types import (
    ExtractionBatch,
    ExtractionResult,
    Role,
    SessionSummary,
    UserKey,
)

DUE: Final = """
    SELECT y.user_key, y.id FROM summaries y
    JOIN sessions s ON s.user_key = y.user_key AND s.id = y.id
    WHERE y.tries IS NOT NULL AND s.summary_due = 0 ORDER BY y.id LIMIT ?"""
"""Sessions that wait and have not grown since."""


def any_waiting(conn: Connection) -> bool:
    """Whether any session waits."""
    row = conn.execute("SELECT user_key FROM summaries WHERE tries IS NOT NULL LIMIT 1").fetchone()
    return row is not None


def any_due(conn: Connection) -> bool:
    """Whether a session waits that has not grown since."""
    return bool(_due(conn, 1))


def discard(conn: Connection) -> None:
    """Lets no session wait any longer, of no user."""
    rows = conn.execute("SELECT DISTINCT user_key FROM summaries WHERE tries IS NOT NULL")
    users = [UserKey(user) for (user,) in rows.fetchall()]
    lock_users(conn, users)
    conn.execute(
        "UPDATE summaries SET tries = NULL WHERE user_key = ANY(?) AND tries IS NOT NULL", (users,)
    )


def claim(conn: Connection, worker: str, budget: Budget, now: datetime, cost: Cost) -> Claim:
    """Claims a session that is due (`model_calls.claim`); one that may not be sent waits no longer.

    The limit of calls for one session counts those that extract facts too.
    """
    found = model_calls.claim(
        conn,
        worker,
        _due(conn, SESSIONS_SEEN),
        budget,
        now,
        cost,
        partial(_sendable, budget),
        _settle,
    )
    if found.batch is not None:
        conn.execute(
            "UPDATE summaries SET tries = tries + 1 WHERE user_key = ? AND id = ?",
            (found.batch.user, found.batch.session),
        )
    return found


def complete(
    conn: Connection,
    user: UserKey,
    batch: ExtractionBatch,
    result: ExtractionResult,
    summary: SessionSummary | None,
    render: summaries.Render,
) -> int:
    """Replaces a session's summary, keeps its topics, and completes the record of the call.

    Nothing is stored without a summary, or if a turn of the session was added or forgotten since
    it was sent, or another summary was stored.

    Returns:
        Number of summaries stored, 0 or 1.
    """
    row = conn.execute(
        "SELECT tries FROM summaries WHERE user_key = ? AND id = ?", (user, batch.session)
    ).fetchone()
    sent = sorted(key for key, _ in batch.turns)
    unchanged = row is not None and bool(row[0]) and _turns(conn, user, batch.session) == sent
    stored = int(unchanged and summary is not None)
    if unchanged:
        _settle(conn, user, batch.session)
    if unchanged and summary is not None:
        keys = {turn.id: key for key, turn in batch.turns}
        summaries.replace(conn, user, batch.session, summary, keys, render)
    model_calls.complete(conn, user, batch.call, result, summaries=stored)
    return stored


def _due(conn: Connection, limit: int) -> list[tuple[UserKey, int]]:
    return [(UserKey(user), session) for user, session in conn.execute(DUE, (limit,)).fetchall()]


def _sendable(budget: Budget, conn: Connection, user: UserKey, session: int) -> Batch:
    """The turns of a session; none, and it waits no longer, if it may not be sent whole."""
    row = conn.execute(
        """SELECT y.tries, s.sendable, (SELECT count(*) FROM turns t
               WHERE t.session = s.id AND +t.user_key = s.user_key AND t.import IS NOT NULL)
           FROM summaries y JOIN sessions s ON s.user_key = y.user_key AND s.id = y.id
           WHERE y.user_key = ? AND y.id = ? AND y.tries IS NOT NULL AND s.summary_due = 0""",
        (user, session),
    ).fetchone()
    if row is None:
        return []
    tries, sendable, imported = row
    keys = _turns(conn, user, session)
    batch = of_keys(conn, user, keys) if len(keys) <= summaries.WHOLE else []
    lengths = [len(turn.text) for _, turn in batch]
    if (
        tries < MAX_TRIES
        and sendable
        and not imported
        and any(turn.role is Role.USER for _, turn in batch)
        and max(lengths) <= MAX_TURN_CHARACTERS
        and sum(lengths) <= MAX_CHARACTERS
        and model_calls.of_session(conn, user, session) < budget.session_calls
    ):
        return batch
    _settle(conn, user, session)
    return []


def _turns(conn: Connection, user: UserKey, session: int) -> list[int]:
    """Row numbers of a session's turns, up to one more than may be sent."""
    rows = conn.execute(
        "SELECT id FROM turns WHERE session = ? AND +user_key = ? ORDER BY id LIMIT ?",
        (session, user, summaries.WHOLE + 1),
    )
    return [key for (key,) in rows.fetchall()]


def _settle(conn: Connection, user: UserKey, session: int, _: object = None) -> None:
    """Lets a session wait no longer."""
    conn.execute("UPDATE summaries SET tries = NULL WHERE user_key = ? AND id = ?", (user, session))
