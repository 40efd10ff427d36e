"""Statements read from turns: a memory is inserted, confirmed, or replaced by its correction."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import uuid4

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, effects, event_times, index_entries, tags, users
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.schema import TABLES
from hotmem.text.validation import normalize_value
from hotmem.types import DecisionAction, EvidenceKind, Statement, UserKey
from hotmem.types.understanding import EventTime

STATED: Final = tuple(
    column.name for column in TABLES["memories"].columns if column.name in Statement.__match_args__
)
"""Columns of a memory that hold what a statement says."""

RECENT_TURNS: Final = 50
"""Latest turns in which corrected words are looked for."""


LATEST_TURNS: Final = 100
"""Latest turns that are looked at to tell whether a turn is read out of order."""


class SaidTurn(NamedTuple):
    """A turn from which statements are read.

    Attributes:
        key: Its row number.
        user: The user.
        said_at: When it was said.
        order_time: Its position in the order of statements.
        speaker: Who said it, if known.
    """

    key: int
    user: UserKey
    said_at: datetime
    order_time: datetime
    speaker: str | None


def take(conn: Connection, turn: int) -> SaidTurn | None:
    """Removes the pending job of a turn, whose user is locked.

    Returns:
        The turn; None if it was forgotten or understood meanwhile.
    """
    if not conn.exists("DELETE FROM pending_turns WHERE turn = ? RETURNING turn", (turn,)):
        return None
    return said(conn, conn.scalar("SELECT user_key FROM turns WHERE id = ?", (turn,)), turn)


def said(conn: Connection, user: UserKey, turn: int) -> SaidTurn:
    """A turn of the user."""
    spoken_at, order_time, speaker = conn.execute(
        "SELECT spoken_at, order_time, speaker FROM turns WHERE user_key = ? AND id = ?",
        (user, turn),
    ).fetchone()
    return SaidTurn(turn, user, from_stored(spoken_at), from_stored(order_time), speaker)


def put_mentions(
    conn: Connection, turn: SaidTurn, names: Sequence[str], times: Sequence[EventTime]
) -> None:
    """Stores the entities that a turn mentions, and the times of events."""
    users.link_entities(conn, turn.user, "turn", turn.key, names)
    event_times.put(conn, turn.user, turn.key, times)


def is_read(conn: Connection, turn: SaidTurn, statement: Statement) -> bool:
    """Whether a statement was read from this turn before, which may be read again."""
    value = normalize_value(statement.object)
    return conn.exists(
        """SELECT 1 FROM sources x JOIN memories m ON m.id = x.memory WHERE x.turn = ?
            AND (m.relation, lower(m.subject), m.value, m.negated) = (?, lower(?), ?, ?)""",
        (turn.key, statement.relation, statement.subject, value, int(statement.negated)),
    )


def is_late(conn: Connection, turn: SaidTurn) -> bool:
    """Whether one of the user's latest turns was read before this one, which is read again."""
    return conn.exists(
        """SELECT 1 FROM (SELECT id FROM turns WHERE user_key = ?
                ORDER BY spoken_at DESC, id DESC LIMIT ?) t
            WHERE t.id > ? AND NOT EXISTS (SELECT 1 FROM pending_turns p WHERE p.turn = t.id)""",
        (turn.user, LATEST_TURNS, turn.key),
    )


def insert(conn: Connection, turn: SaidTurn, statement: Statement) -> int:
    """Stores a statement of a turn as a memory; returns its row number."""
    sure = statement.category_probability
    row = {name: getattr(statement, name) for name in STATED} | {
        "user_key": turn.user,
        "public_id": uuid4().hex,
        "value": normalize_value(statement.object),
        "category_percent": None if sure is None else round(100 * sure),
        "said_at": to_stored(turn.said_at),
        "order_time": to_stored(turn.order_time),
    }
    key: int = conn.insert("memories", row)
    index_entries.add(conn, turn.user, EvidenceKind.MEMORY, key, 0, statement.text)
    tags.attach(conn, turn.user, key, statement.circumstances, turn.said_at)
    tags.attach_found(conn, turn.user, key, statement.tags, turn.said_at)
    conn.execute(
        """INSERT INTO sources (memory, turn, start, stop) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING""",
        (key, turn.key, statement.start, statement.stop),
    )
    users.link_entities(conn, turn.user, "memory", key, statement.entities)
    return key


def amend(conn: Connection, user: UserKey, memory: int, old: str) -> None:
    """Records that a new memory is the correction of an old one, whose turns count as corrected."""
    conn.execute(
        """UPDATE memories SET amends = (SELECT id FROM memories WHERE user_key = ?
            AND public_id = ?) WHERE user_key = ? AND id = ?""",
        (user, old, user, memory),
    )
    turns = conn.column(
        """SELECT x.turn FROM sources x JOIN memories m ON m.id = x.memory
            WHERE m.user_key = ? AND m.public_id = ?""",
        (user, old),
    )
    _count_corrections(conn, turns)


def count_corrected_turns(conn: Connection, turn: int, wrong: str) -> None:
    """Increments the correction counts of the latest turns that contain the wrong words.

    Used where no memory was extracted from them.
    """
    before = conn.execute(
        """SELECT t.id, t.text FROM turns t JOIN turns n ON n.session = t.session WHERE n.id = ?
            AND t.id < n.id ORDER BY t.id DESC LIMIT ?""",
        (turn, RECENT_TURNS),
    ).fetchall()
    held = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
    _count_corrections(conn, [key for key, text in before if held.search(text)])


def _count_corrections(conn: Connection, turns: Iterable[int]) -> None:
    for turn in turns:
        again = "UPDATE correction_counts SET times = times + 1 WHERE turn = ? RETURNING 1"
        if not conn.exists(again, (turn,)):
            conn.insert("correction_counts", {"turn": turn, "times": 1})


def confirm(conn: Connection, turn: SaidTurn, statement: Statement, memory: str) -> int:
    """Confirms the memory that a statement repeats; a doubt from before the turn ends.

    Returns:
        The memory's row number.
    """
    later = {"place": to_stored(turn.order_time), "user": turn.user, "memory": memory}
    key: int = conn.scalar(
        """UPDATE memories SET confirmations = confirmations + 1, said_at = CASE
               WHEN :place >= order_time THEN :at ELSE said_at END,
               order_time = greatest(order_time, :place)
            WHERE user_key = :user AND public_id = :memory RETURNING id""",
        {**later, "at": to_stored(turn.said_at)},
    )
    conn.execute(
        """UPDATE memories SET doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
            WHERE user_key = :user AND public_id = :memory AND doubted_at <= :place""",
        later,
    )
    conn.execute(
        """UPDATE correction_counts SET times = times - 1 WHERE times > 0
            AND turn IN (SELECT turn FROM sources WHERE memory = ?)""",
        (key,),
    )
    conn.execute(
        """INSERT INTO sources (memory, turn, start, stop)
            SELECT CAST(:memory AS BIGINT), CAST(:turn AS BIGINT), CAST(:start AS BIGINT),
                CAST(:stop AS BIGINT)
            WHERE EXISTS (SELECT 1 FROM sources WHERE memory = :memory) ON CONFLICT DO NOTHING""",
        {"memory": key, "turn": turn.key, "start": statement.start, "stop": statement.stop},
    )  # what was stored without a turn does not depend on one that repeats it
    decisions.record(
        conn, turn.user, DecisionAction.REPEATED, effects.SAID_AGAIN, [(key, None)], turn.said_at
    )
    return key
