"""Takes back what the user said in jest: "Just kidding!"."""

from datetime import datetime
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import cascade, decisions, effects, undoing
from hotmem.types import UserKey

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
        for (merged,) in conn.execute(MERGED_INTO, (key, user)).fetchall():
            decisions.unmerge(conn, user, merged)
        if not deleted:
            undoing.undo(conn, user, name, said_at, IN_JEST)
    deleted_keys = [key for key, _, deleted in rows if deleted]
    effects.revert(conn, user, deleted_keys)
    cascade.delete_memories(conn, user, deleted_keys)
