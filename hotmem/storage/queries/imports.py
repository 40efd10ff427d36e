"""Imports in the file: how far each has come, what it found before it changed it, and whether it is finished or to be taken back.

An import of a file with several users' records is one of each user, so that each can take theirs
back.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from hotmem.errors import InvalidInput, StoreLocked
from hotmem.storage.database import Connection
from hotmem.storage.queries.times import to_stored
from hotmem.types import UserKey

IN_PROGRESS, FINISHED, FAILED, UNDONE = "taking", "taken", "failed", "undone"
"""States of an import; the last two are those of one that is being taken back. What came with it
is left alone until it is taken."""

COUNTS: Final = ("records", "turns", "memories", "known", "others", "forgotten")
"""What is counted of an import: records of all sorts, turns and memories that were not there,
those that were, others that were not, and turns and memories that stay out as they were
forgotten."""

CONFLICT: Final = (
    "Another program imports this file too, or took the import back, or forgot "
    "its user. Import the file again to go on."
)


class Import(NamedTuple):
    """An import: its number, and whose memory it goes into."""

    key: int
    user: UserKey


class ImportProgress(NamedTuple):
    """An import that was begun.

    Its number, whose memory it goes into, and how much stays out as it was forgotten.
    """

    key: int
    user: UserKey
    forgotten: int


def progress(conn: Connection, source: str) -> dict[str, int]:
    """How many records an import that was broken off has taken, by user id."""
    rows = conn.execute(
        """SELECT u.public_id, i.records FROM imports i JOIN users u ON u.id = i.user_key
            WHERE i.source = ? AND i.state = ?""",
        (source, IN_PROGRESS),
    )
    return dict(rows.fetchall())


def in_progress(conn: Connection, user: UserKey, source: str) -> Import | None:
    """The user's part of an import that was begun."""
    row = conn.execute(
        "SELECT id FROM imports WHERE source = ? AND user_key = ? AND state = ?",
        (source, user, IN_PROGRESS),
    ).fetchone()
    return None if row is None else Import(row[0], user)


def all_in_progress(conn: Connection, source: str) -> list[ImportProgress]:
    """The parts of all users in an import that was begun."""
    rows = conn.execute(
        "SELECT id, user_key, forgotten FROM imports WHERE source = ? AND state = ?",
        (source, IN_PROGRESS),
    )
    return [ImportProgress(*row) for row in rows.fetchall()]


def check_none_in_progress(conn: Connection, user: UserKey) -> None:
    """Refuses to begin an import while another of the user is not finished.

    What both bring could not be told apart.

    Raises:
        InvalidInput: If there is one, naming the decision by which it is taken back.
    """
    row = conn.execute(
        """SELECT d.public_id FROM imports i JOIN decisions d ON d.id = i.decision
            WHERE i.user_key = ? AND i.state = ?""",
        (user, IN_PROGRESS),
    ).fetchone()
    if row is not None:
        raise InvalidInput(
            "Another import into this memory is not finished. Import its file again, or "
            f"take it back: undo {row[0]}."
        )


def begin(
    conn: Connection, user: UserKey, source: str, decision: str, now: datetime, *, new_user: bool
) -> Import:
    """Writes down that an import began; the decision is named by its id."""
    key = conn.execute(
        """INSERT INTO imports (user_key, source, state, begun_at, new_user, decision)
           VALUES (?, ?, ?, ?, ?, (SELECT id FROM decisions WHERE public_id = ?)) RETURNING id""",
        (user, source, IN_PROGRESS, to_stored(now), new_user, decision),
    ).fetchone()[0]
    return Import(key, user)


def advance(conn: Connection, one: Import, before: int, counts: Mapping[str, int]) -> None:
    """Adds to what an import has taken, in the transaction that takes it.

    Raises:
        StoreLocked: If it does not stand at `before` records any more.
    """
    added = ", ".join(f"{name} = {name} + :{name}" for name in COUNTS)
    values = (
        dict.fromkeys(COUNTS, 0)
        | dict(counts)
        | {"key": one.key, "before": before, "taking": IN_PROGRESS}
    )
    if not conn.execute(
        f"""UPDATE imports SET {added} WHERE id = :key AND records = :before AND state = :taking
            RETURNING id""",
        values,
    ).fetchone():
        raise StoreLocked(CONFLICT)


def finish(conn: Connection, source: str, form: str, now: datetime) -> dict[str, int]:
    """Finishes an import and tells of it in the decisions.

    One that brought nothing leaves no trace. Returns the counts of all users together.
    """
    rows = conn.execute(
        f"SELECT id, decision, {', '.join(COUNTS)} FROM imports WHERE source = ? AND state = ?",
        (source, IN_PROGRESS),
    ).fetchall()
    for key, decision, *counts in rows:
        _, turns, memories, known, others, forgotten = counts
        if turns or memories or others:
            reason = f"{form}: {turns} turns and {memories} memories were not there, {known} were"
            if forgotten:
                reason += f", {forgotten} were forgotten before and stay out"
            conn.execute("UPDATE imports SET state = ? WHERE id = ?", (FINISHED, key))
            conn.execute(
                "UPDATE decisions SET reason = ?, decided_at = ? WHERE id = ?",
                (reason, to_stored(now), decision),
            )
        else:
            remove(conn, key, decision)
    return {name: sum(row[place] for row in rows) for place, name in enumerate(COUNTS, 2)}


def abort(conn: Connection, source: str) -> None:
    """Says that what an unfinished import brought is to be taken back."""
    conn.execute(
        "UPDATE imports SET state = ? WHERE source = ? AND state = ?", (FAILED, source, IN_PROGRESS)
    )


def remove(conn: Connection, key: int, decision: int | None) -> None:
    """Removes an import's row and its decision."""
    conn.execute("DELETE FROM imports WHERE id = ?", (key,))
    conn.execute("DELETE FROM decisions WHERE id = ?", (decision,))


def save_session_state(conn: Connection, one: Import, name: str) -> None:
    """Keeps how a session stands that did not come with the import.

    When it was touched, whether its summary is due, and its last turn.
    """
    conn.execute(
        """INSERT OR IGNORE INTO import_changes
               SELECT :key, 'session', s.id, json_array(s.touched_at, s.summary_due,
               (SELECT max(t.id) FROM turns t WHERE t.session = s.id)) FROM sessions s
                   WHERE s.user_key = :user AND s.public_id = :name
               AND (SELECT t.import FROM turns t WHERE t.session = s.id ORDER BY t.id
                   LIMIT 1) IS NOT :key""",
        one._asdict() | {"name": name},
    )


def save_tag_state(conn: Connection, one: Import, name: str) -> None:
    """Keeps how a tag stands that is there already, and the one that stands for it.

    When it was used, whether it is put away, its last memory.
    """
    conn.execute(
        """INSERT OR IGNORE INTO import_changes
           SELECT ?, 'tag', g.id, json_array(g.used_at, g.archived,
               (SELECT max(x.memory) FROM memory_tags x WHERE x.tag = g.id))
           FROM tags o JOIN tags g ON g.id IN (o.id, o.merged_into) WHERE o.user_key = ?
               AND o.name = ?""",
        (one.key, one.user, name),
    )


def save_change(conn: Connection, one: Import, what: str, key: str, value: object) -> None:
    """Keeps what the import put where nothing was."""
    conn.execute(
        "INSERT OR IGNORE INTO import_changes (import, what, key, before) VALUES (?, ?, ?, ?)",
        (one.key, what, key, json.dumps(value)),
    )
