"""Imports: their progress, the values they replaced, and whether they are finished or rolled back.

An import of a file with records of several users has one row for each user, so that each can undo
theirs.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from hotmem.core.validation import counted
from hotmem.errors import InvalidInput, StoreLocked
from hotmem.storage.database import Connection
from hotmem.storage.queries.times import to_stored
from hotmem.storage.queries.users import lock_users
from hotmem.types import (
    ExportedTurn,
    ImportRecord,
    MemoryRecord,
    Turn,
    UserKey,
    UserRecord,
)

IN_PROGRESS, FINISHED, FAILED, UNDONE = "taking", "taken", "failed", "undone"
"""States of an import; the last two are rolled back. Rows of an import are not processed before it
is finished."""

COUNTS: Final = ("records", "turns", "memories", "known", "others", "forgotten")
"""Counts of an import: records, new turns and memories, existing ones, other new records, and turns
and memories excluded because they were forgotten."""

CONFLICT: Final = (
    "Another program imports this file too, or took the import back, or forgot "
    "its user. Import the file again to go on."
)


class Import(NamedTuple):
    """An import of one user: its row number and the user."""

    key: int
    user: UserKey


def progress(conn: Connection, source: str) -> dict[str, int]:
    """Number of records stored by an interrupted import, by user id."""
    rows = conn.execute(
        """SELECT u.public_id, i.records FROM imports i JOIN users u ON u.id = i.user_key
            WHERE i.source = ? AND i.state = ?""",
        (source, IN_PROGRESS),
    )
    return dict(rows.fetchall())


def in_progress(conn: Connection, user: UserKey, source: str) -> Import | None:
    """The user's part of an import in progress."""
    return conn.record(
        Import,
        "SELECT id, user_key FROM imports WHERE source = ? AND user_key = ? AND state = ?",
        (source, user, IN_PROGRESS),
    )


def all_in_progress(conn: Connection, source: str) -> list[tuple[Import, int]]:
    """The parts of all users in an import in progress, with the records excluded as forgotten."""
    rows = conn.execute(
        """SELECT id, user_key, forgotten FROM imports WHERE source = ? AND state = ?
            ORDER BY user_key""",
        (source, IN_PROGRESS),
    )
    return [(Import(key, user), forgotten) for key, user, forgotten in rows.fetchall()]


def check_none_in_progress(conn: Connection, user: UserKey) -> None:
    """Checks that no other import of the user is in progress.

    The rows of two could not be distinguished.

    Raises:
        InvalidInput: If there is one, naming the decision that undoes it.
    """
    decision = conn.scalar(
        """SELECT d.public_id FROM imports i JOIN decisions d ON d.id = i.decision
            WHERE i.user_key = ? AND i.state = ?""",
        (user, IN_PROGRESS),
    )
    if decision is not None:
        raise InvalidInput(
            "Another import into this memory is not finished. Import its file again, or "
            f"undo it: {decision}."
        )


def begin(
    conn: Connection, user: UserKey, source: str, decision: str, now: datetime, *, new_user: bool
) -> Import:
    """Records that an import began, with the id of its decision."""
    key = conn.scalar(
        """INSERT INTO imports (user_key, source, state, begun_at, new_user, decision)
           VALUES (?, ?, ?, ?, ?, (SELECT id FROM decisions WHERE user_key = ? AND public_id = ?))
           RETURNING id""",
        (user, source, IN_PROGRESS, to_stored(now), new_user, user, decision),
    )
    return Import(key, user)


def advance(conn: Connection, one: Import, before: int, counts: Mapping[str, int]) -> None:
    """Adds to the counts of an import, in the transaction that stores the records.

    Raises:
        StoreLocked: If its count of records is not `before`.
    """
    added = ", ".join(f"{name} = {name} + :{name}" for name in COUNTS)
    values = (
        dict.fromkeys(COUNTS, 0)
        | dict(counts)
        | {"key": one.key, "user": one.user, "before": before, "taking": IN_PROGRESS}
    )
    if not conn.exists(
        f"""UPDATE imports SET {added} WHERE user_key = :user AND id = :key
            AND records = :before AND state = :taking RETURNING id""",
        values,
    ):
        raise StoreLocked(CONFLICT)


def finish(conn: Connection, source: str, form: str, now: datetime) -> dict[str, int]:
    """Finishes an import and updates its decision; returns the counts of all users together.

    An import that added nothing is deleted with its decision.
    """
    rows = conn.execute(
        f"""SELECT id, user_key, decision, {", ".join(COUNTS)} FROM imports
            WHERE source = ? AND state = ?""",
        (source, IN_PROGRESS),
    ).fetchall()
    for key, user, decision, *counts in rows:
        _, turns, memories, known, others, forgotten = counts
        if turns or memories or others:
            reason = (
                f"{form}: {counted(turns, 'turn')} and {counted(memories, 'memory', 'memories')} "
                f"were new, {known} known"
            )
            if forgotten:
                reason += f", {forgotten} forgotten before and left out"
            conn.execute(
                "UPDATE imports SET state = ? WHERE user_key = ? AND id = ?", (FINISHED, user, key)
            )
            conn.execute(
                "UPDATE decisions SET reason = ?, decided_at = ? WHERE user_key = ? AND id = ?",
                (reason, to_stored(now), user, decision),
            )
        else:
            remove(conn, user, key, decision)
    return {name: sum(row[place] for row in rows) for place, name in enumerate(COUNTS, 3)}


def abort(conn: Connection, source: str) -> None:
    """Marks an unfinished import to be rolled back."""
    lock_users(conn, [one.user for one, _ in all_in_progress(conn, source)])
    conn.execute(
        "UPDATE imports SET state = ? WHERE source = ? AND state = ?", (FAILED, source, IN_PROGRESS)
    )


def remove(conn: Connection, user: UserKey, key: int, decision: int | None) -> None:
    """Deletes an import and its decision."""
    conn.execute("DELETE FROM imports WHERE user_key = ? AND id = ?", (user, key))
    conn.execute("DELETE FROM decisions WHERE user_key = ? AND id = ?", (user, decision))


def save_session_state(conn: Connection, one: Import, name: str) -> None:
    """Saves the state of a session that did not come with the import.

    It consists of its last change, whether its summary is due, and its last turn.
    """
    row = conn.execute(
        """SELECT s.id, s.touched_at, s.summary_due,
               (SELECT max(t.id) FROM turns t WHERE t.session = s.id) FROM sessions s
           WHERE s.user_key = ? AND s.public_id = ?
               AND (SELECT t.import FROM turns t WHERE t.session = s.id ORDER BY t.id
                   LIMIT 1) IS DISTINCT FROM ?""",
        (one.user, name, one.key),
    ).fetchone()
    if row is not None:
        save_change(conn, one, "session", str(row[0]), row[1:])


def save_tag_state(conn: Connection, one: Import, name: str) -> None:
    """Saves the state of an existing tag and of the one it was merged into.

    It consists of when it was last used, whether it is archived, and its last memory.
    """
    rows = conn.execute(
        """SELECT g.id, g.used_at, g.archived,
               (SELECT max(x.memory) FROM memory_tags x WHERE x.tag = g.id)
           FROM tags o JOIN tags g ON g.id IN (o.id, o.merged_into)
           WHERE o.user_key = ? AND o.name = ?""",
        (one.user, name),
    ).fetchall()
    for key, *state in rows:
        save_change(conn, one, "tag", str(key), state)


def save_change(conn: Connection, one: Import, what: str, key: str, value: object) -> None:
    """Saves a value that the import adds or changes, unless it has changed it before."""
    conn.execute(
        """INSERT INTO import_changes (import, what, key, before) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING""",
        (one.key, what, key, json.dumps(value)),
    )


Link: TypeAlias = tuple[str, str, Mapping[str, str]]
"""A user's id, a memory's id, and the ids of related memories by column."""


@dataclass(slots=True)
class ImportSession:
    """The state of an import in progress, in the program that reads the file.

    Attributes:
        source: Identifies the file and how it is read.
        form: What the file is, for the audit log.
        stored: Stored records by user id.
        read: Records read by user id.
        turns_read: Turns read by user id and session id.
        pending_sessions: User ids and session ids of sessions whose turns wait to be understood.
        links: Links between memories.
        with_forgotten: Whether what was forgotten is imported again.
    """

    source: str
    form: str
    stored: Counter[str]
    read: Counter[str] = field(default_factory=Counter)
    turns_read: Counter[tuple[str, str]] = field(default_factory=Counter)
    pending_sessions: set[tuple[str, str]] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    with_forgotten: bool = False

    def next_batch(self, records: Iterator[ImportRecord], limit: int) -> list[ImportRecord] | None:
        """The next records that are not stored yet; None at the end."""
        batch = list(islice(records, limit))
        return [record for record in batch if self._register(record)] if batch else None

    def _register(self, record: ImportRecord) -> bool:
        user_id = user_id_of(record)
        self.read[user_id] += 1
        match record:
            case Turn() | ExportedTurn():
                turn = turn_of(record)
                self.turns_read[user_id, turn.session_id] += 1
                if record is turn:
                    self.pending_sessions.add((user_id, turn.session_id))
            case UserRecord(_, MemoryRecord() as memory) if memory.links:
                self.links.append((user_id, memory.id, memory.links))
        return self.read[user_id] > self.stored[user_id]


def user_id_of(record: ImportRecord) -> str:
    """The id of the user a record belongs to."""
    return record.user_id if isinstance(record, Turn | UserRecord) else record.turn.user_id


def turn_of(record: Turn | ExportedTurn) -> Turn:
    """The turn of a record."""
    return record.turn if isinstance(record, ExportedTurn) else record
