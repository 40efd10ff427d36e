"""Session summaries: one per session, replaced when the session has grown."""

import json
from collections.abc import Sequence
from typing import Final

from hotmem.store import entries
from hotmem.store.driver import Connection
from hotmem.store.turns import of_session as turns_of_session
from hotmem.types import EvidenceKind, SessionSummary, SummarySentence, Turn, UserKey

WHEN_IDLE: Final = 1
WHEN_ENDED: Final = 2
"""What `sessions.summary_due` holds, besides 0 for none. One that has been idle for its time counts as ended."""

PARTS: Final = ("narrative", "decisions", "open_loops")


def end(conn: Connection, user: UserKey, session_name: str) -> bool:
    """Marks the session as ended, so that its summary is due; False if there is no such session."""
    row = conn.execute(
        "UPDATE sessions SET summary_due = ? WHERE user = ? AND name = ? AND passages > 0 RETURNING id", (WHEN_ENDED, user, session_name)
    ).fetchone()
    return row is not None


def put(conn: Connection, session: int, seen: Sequence[Turn], summary: SessionSummary, text: str) -> None:
    """Stores the summary of a session, unless embedded turns came or went since they were `seen`; then it stays due."""
    row = conn.execute("SELECT user FROM sessions WHERE id = ?", (session,)).fetchone()
    embedded = {turn for (turn,) in conn.execute("SELECT turn FROM passages WHERE session = ? AND vector NOT NULL", (session,))}
    held = [(key, turn) for key, turn in turns_of_session(conn, session) if key in embedded]
    if row is None or [turn for _, turn in held] != list(seen):
        return
    user = row[0]
    conn.execute("DELETE FROM summaries WHERE id = ?", (session,))
    conn.execute("UPDATE sessions SET summary_due = 0 WHERE id = ?", (session,))
    conn.execute("INSERT INTO summaries (id, user, topics, text) VALUES (?, ?, ?, ?)", (session, user, json.dumps(summary.topics), text))
    turns = {turn.id: key for key, turn in held}
    for part in PARTS:
        for place, sentence in enumerate(getattr(summary, part)):
            conn.execute(
                "INSERT INTO summary_sentences (summary, part, place, text, turn) VALUES (?, ?, ?, ?, ?)",
                (session, part, place, sentence.text, turns[sentence.turn_id]),
            )
    entries.add(conn, EvidenceKind.SUMMARY, user, session, session, text)


def of_session(conn: Connection, user: UserKey, session_name: str) -> SessionSummary | None:
    """The session's summary, or None while there is none."""
    row = conn.execute(
        "SELECT y.id, y.topics FROM summaries y JOIN sessions s ON s.id = y.id WHERE y.user = ? AND s.name = ?", (user, session_name)
    ).fetchone()
    if row is None:
        return None
    parts: dict[str, tuple[SummarySentence, ...]] = {}
    for part in PARTS:
        sentences = conn.execute(
            """SELECT x.text, t.name FROM summary_sentences x JOIN turns t ON t.id = x.turn
               WHERE x.summary = ? AND x.part = ? ORDER BY x.place""",
            (row[0], part),
        )
        parts[part] = tuple(SummarySentence(text, turn) for text, turn in sentences)
    return SessionSummary(topics=tuple(json.loads(row[1])), **parts)


def related(conn: Connection, user: UserKey, sessions: Sequence[int], limit: int) -> dict[int, tuple[str, ...]]:
    """For each session the others that speak of most of the entities it speaks of, the rarer an entity the more it counts."""
    found: dict[int, tuple[str, ...]] = {}
    for session in sessions:
        rows = conn.execute(
            """WITH own AS (SELECT DISTINCT x.entity FROM turns t JOIN turn_entities x ON x.turn = t.id WHERE t.session = ?),
                   shared AS (SELECT DISTINCT x.entity, t.session
                              FROM own o JOIN turn_entities x ON x.entity = o.entity JOIN turns t ON t.id = x.turn),
                   spread AS (SELECT entity, count(*) AS sessions FROM shared GROUP BY entity)
               SELECT s.name FROM shared h JOIN spread p ON p.entity = h.entity JOIN sessions s ON s.id = h.session
               WHERE h.session <> ? AND s.user = ? GROUP BY s.id ORDER BY sum(1.0 / p.sessions) DESC, s.last_at DESC LIMIT ?""",
            (session, session, user, limit),
        )
        found[session] = tuple(row[0] for row in rows)
    return found
