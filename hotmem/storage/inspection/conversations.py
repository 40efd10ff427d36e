"""A user's sessions and turns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.inspection import bounded, screen
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.rows import record_of
from hotmem.text.timezones import to_named_zone
from hotmem.types import Role, UserKey
from hotmem.types.inspection import Count, Cursor, Page, SessionRow, Totals, TurnRow

SESSIONS: Final = """
    SELECT s.id, s.public_id, s.started_at, s.last_at, NULL,
        coalesce((SELECT y.topics FROM summaries y WHERE y.id = s.id), '[]'),
        (SELECT x.text FROM summary_sentences x WHERE x.summary = s.id AND x.part = 'title')
    FROM sessions s WHERE s.user_key = ?"""

TURNS: Final = """
    SELECT t.id, t.public_id, s.id, s.public_id, t.role, t.speaker, t.text, t.spoken_at,
        (SELECT count(DISTINCT x.memory) FROM sources x WHERE x.turn = t.id),
        EXISTS (SELECT 1 FROM pending_turns p WHERE p.turn = t.id), t.zone
    FROM turns t JOIN sessions s ON s.id = t.session WHERE t.user_key = ?"""


def totals(conn: Connection, user: UserKey) -> Totals:
    """Counts of a user's rows."""

    def counted(sql: str) -> Count:
        return bounded(conn, sql, (user,))

    def edge(order: str) -> datetime | None:
        spoken_at = conn.scalar(
            f"SELECT spoken_at FROM turns WHERE user_key = ? ORDER BY spoken_at {order} LIMIT 1",
            (user,),
        )
        return None if spoken_at is None else from_stored(spoken_at)

    return Totals(
        turns=counted("SELECT 1 FROM turns WHERE user_key = ?"),
        sessions=counted("SELECT 1 FROM sessions WHERE user_key = ?"),
        memories=counted(
            """SELECT 1 FROM memories INDEXED BY memories_by_time WHERE user_key = ?
                AND merged_into IS NULL"""
        ),
        entities=counted("SELECT 1 FROM entities WHERE user_key = ?"),
        waiting=counted(
            "SELECT 1 FROM pending_turns p JOIN turns t ON t.id = p.turn WHERE t.user_key = ?"
        ),
        first_said=edge("ASC"),
        last_said=edge("DESC"),
    )


def zone(conn: Connection, user: UserKey) -> str | None:
    """The time zone of the user's last turn, if it is known."""
    sql = "SELECT zone FROM turns WHERE user_key = ? ORDER BY spoken_at DESC, id DESC LIMIT 1"
    name: str | None = conn.scalar(sql, (user,))
    return name


def sessions(conn: Connection, user: UserKey, at: Cursor | None, rows: int) -> Page[SessionRow]:
    """The user's sessions, the latest first."""
    return screen(
        conn,
        SESSIONS,
        (user,),
        lambda row: _session(conn, row),
        by=("s.last_at", "s.id"),
        at=at,
        rows=rows,
    )


def session(conn: Connection, user: UserKey, key: int) -> SessionRow | None:
    """One session of the user."""
    row = conn.execute(f"{SESSIONS} AND s.id = ?", (user, key)).fetchone()
    return None if row is None else _session(conn, row)


def turns(
    conn: Connection, user: UserKey, session: int, at: Cursor | None, rows: int
) -> Page[TurnRow]:
    """The turns of a session in order."""
    return screen(
        conn,
        f"{TURNS} AND t.session = ?",
        (user, session),
        turn_row,
        by=("t.spoken_at", "t.id"),
        at=at,
        rows=rows,
        rising=True,
    )


def turn(conn: Connection, user: UserKey, key: int) -> TurnRow | None:
    """One turn of the user."""
    row = conn.execute(f"{TURNS} AND t.id = ?", (user, key)).fetchone()
    return None if row is None else turn_row(row)


def reply_to(
    conn: Connection, user: UserKey, session_id: str, first: datetime, last: datetime
) -> TurnRow | None:
    """The bot's first turn of a session between two times."""
    row = conn.execute(
        f"""{TURNS} AND s.public_id = ? AND t.role = ? AND t.spoken_at BETWEEN ? AND ?
            ORDER BY t.spoken_at, t.id LIMIT 1""",
        (user, session_id, Role.ASSISTANT, to_stored(first), to_stored(last)),
    ).fetchone()
    return None if row is None else turn_row(row)


def mentioning(
    conn: Connection, user: UserKey, entity: int, at: Cursor | None, rows: int
) -> Page[TurnRow]:
    """The turns that mention an entity, the latest first.

    The cost does not grow with the number of its mentions.
    """
    turns = TURNS.replace(
        "FROM turns t",
        "FROM entities e CROSS JOIN turn_entities x CROSS JOIN turns t",
    )
    sql = f"""{turns} AND x.entity = e.id AND t.id = x.turn AND e.user_key = t.user_key
        AND e.id = ?"""
    by = ("x.turn", "x.entity")
    return screen(conn, sql, (user, entity), turn_row, by=by, at=at, rows=rows)


def turn_keys(conn: Connection, user: UserKey, names: Sequence[str]) -> dict[str, int]:
    """Row numbers of turns by id; ids that no longer exist are left out."""
    rows = conn.execute(
        "SELECT public_id, id FROM turns WHERE user_key = ? AND public_id = ANY(?)",
        (user, list(names)),
    )
    return dict(rows.fetchall())


def turn_row(row: Sequence[Any]) -> TurnRow:
    """A turn from a row of `TURNS`."""
    turn = record_of(TurnRow, row)
    return replace(turn, spoken_at=to_named_zone(turn.spoken_at, row[-1]))


def _session(conn: Connection, row: Sequence[Any]) -> SessionRow:
    said = bounded(conn, "SELECT 1 FROM turns WHERE session = ?", (row[0],))
    return replace(record_of(SessionRow, row), turns=said)
