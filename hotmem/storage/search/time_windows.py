"""What was said within a window of time.

The passages, memories and summaries nearest to a vector, at the cost of that window alone.
"""

from typing import Final

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import reembedding
from hotmem.storage.queries.times import to_stored
from hotmem.storage.search.vectors import nearest_rows
from hotmem.types import EvidenceKind, Interval, QueryVectors, UserKey

MOST: Final = 1000
"""Turns, or memories, of a window that are looked at, the latest."""

TURNS: Final = """(SELECT id, session FROM turns
    WHERE user_key = :user AND spoken_at >= :start AND spoken_at < :end
    ORDER BY spoken_at DESC, id DESC LIMIT :most) t"""

ROWS: Final = {
    EvidenceKind.PASSAGE: f"SELECT r.id, r.vector FROM {TURNS} JOIN passages r ON r.turn = t.id",
    EvidenceKind.MEMORY: """SELECT r.id, r.vector FROM memories r
        WHERE r.user_key = :user AND r.said_at >= :start AND r.said_at < :end
        AND r.merged_into IS NULL ORDER BY r.said_at DESC, r.id DESC LIMIT :most""",
    EvidenceKind.SUMMARY: f"""SELECT r.id, r.vector
        FROM (SELECT DISTINCT session FROM {TURNS}) s JOIN summaries r ON r.id = s.session""",
}
"""Row numbers and vectors of what was said in a window."""


def said(
    conn: Connection,
    user: UserKey,
    kind: EvidenceKind,
    window: Interval,
    sought: QueryVectors,
    limit: int,
) -> Pending[list[tuple[int, float]]]:
    """Row numbers and cosines of the user's rows that were said in the window, nearest first.

    0 for what has no vector yet.
    """
    values = {
        "user": user,
        "start": to_stored(window.start),
        "end": to_stored(window.end),
        "most": MOST,
    }
    boundaries = reembedding.ask_boundaries(conn)
    rows = conn.execute(ROWS[kind], values)
    return lambda: nearest_rows(
        rows.fetchall(), sought, boundaries().get(kind, reembedding.NONE_LEFT), limit
    )
