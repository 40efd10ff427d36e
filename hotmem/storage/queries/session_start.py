"""The start of a session: instructions, lasting facts, upcoming events, open loops."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.text.validation import ascii_lower
from hotmem.types import Interval, UserKey
from hotmem.types.sessions import (
    DatedWords,
    LaterTurn,
    MemoryCandidate,
    OpenLoop,
    SessionFacts,
)

TURNS_READ: Final = 20_000
"""Latest turns of the user in which event times are read."""

LATER_READ: Final = 2_000
"""Latest turns of the user in which a plan may have been changed."""

NOTES_READ: Final = 500
"""Latest explicitly stored memories that are read."""

MOST_OF_A_RELATION: Final = 20

_COLUMNS: Final = (
    "m.id, m.text, m.subject, m.relation, m.object, m.importance, "
    "m.confirmations, m.said_at, m.order_time"
)
NOTED: Final = """m.stored_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id)"""
"""Of memories that were stored explicitly, not read from turns."""

_HOLDS: Final = """m.merged_into IS NULL AND (m.valid_until IS NULL
    OR (m.valid_until > :now AND m.superseded_by IS NULL))"""
_ONE: Final = f"""SELECT {_COLUMNS} FROM memories m INDEXED BY memories_by_relation
    WHERE m.user_key = :user AND m.relation = :relation AND {_HOLDS} AND m.negated = 0
        AND m.hedged = 0 AND m.doubted_at IS NULL AND NOT ({NOTED})"""

_BY_USER: Final = "(:name = '' OR speaker IS NULL OR speaker = :name)"
"""Turns by the user and not by another speaker, if it is known under which name they speak."""


def read_rules(conn: Connection, user: UserKey, at: datetime) -> SessionFacts:
    """Permanent instructions, and the name the user speaks under."""
    rules, pending = _rules(conn, user, to_stored(at)), _pending(conn, user)
    return SessionFacts(speaker=speaker(conn, user), rules=rules, pending=pending)


def _rules(conn: Connection, user: UserKey, now: int) -> tuple[MemoryCandidate, ...]:
    """Permanent instructions, said (`asks`) or stored explicitly as system rules, latest first."""
    rows = conn.execute(
        f"""SELECT * FROM (
                SELECT {_COLUMNS} FROM memories m INDEXED BY memories_by_relation
                WHERE m.user_key = :user AND m.relation = 'asks' AND {_HOLDS}
                UNION ALL
                SELECT {_COLUMNS} FROM memories m INDEXED BY memories_by_category
                WHERE m.user_key = :user AND m.category = 'system' AND m.kind = 'rule'
                    AND m.relation = '' AND {_HOLDS}) AS rules
            ORDER BY order_time DESC, id DESC""",
        {"user": user, "now": now},
    )
    return tuple(map(_row, rows))


def read(
    conn: Connection,
    user: UserKey,
    relations: Sequence[str],
    anonymous: str,
    days: Interval,
    live: str | None,
    at: datetime,
) -> SessionFacts:
    """Everything shown at the start of a session.

    Args:
        conn: A connection.
        user: The user.
        relations: Relations of lasting facts.
        anonymous: Name of a speaker without a name.
        days: The period of upcoming events.
        live: The session that starts, or None.
        at: The time.
    """
    now = to_stored(at)
    name = speaker(conn, user)
    who = {"user": user, "name": name or ""}
    subjects = tuple(dict.fromkeys(filter(None, (name, anonymous))))
    notes, events = _notes(conn, user, now), tuple(_events(conn, who, days, now))
    plans = [*(note.said_at for note in notes), *(one.said_at for one in events)]
    return SessionFacts(
        speaker=name,
        rules=_rules(conn, user, now),
        facts=tuple(_facts(conn, user, relations, subjects, now)),
        notes=notes,
        dated=events,
        later=tuple(_later(conn, who, to_stored(min(plans)), now)) if plans else (),
        loops=tuple(_loops(conn, who, live)),
        pending=_pending(conn, user),
    )


def _pending(conn: Connection, user: UserKey) -> bool:
    """Whether a turn of the user waits to be understood, except in an unfinished import."""
    row = conn.execute(
        "SELECT 1 FROM pending_turns WHERE import IS NULL AND user_key = ? AND held = 0 LIMIT 1",
        (user,),
    ).fetchone()
    return row is not None


def speaker(conn: Connection, user: UserKey) -> str | None:
    """The name the user speaks under: the configured one, else that of the only speaker.

    None if several people spoke and none is known to be the user.
    """
    sql = """SELECT coalesce((SELECT speaker FROM users WHERE id = :user), (
        SELECT min(speaker) FROM (SELECT speaker FROM turns INDEXED BY turns_by_time
            WHERE user_key = :user AND role = 'user' ORDER BY spoken_at DESC, id DESC LIMIT 200) t
        HAVING count(DISTINCT coalesce(speaker, '')) = 1))"""
    (name,) = conn.execute(sql, {"user": user}).fetchone()
    return None if name is None else str(name)


def _facts(
    conn: Connection, user: UserKey, relations: Sequence[str], subjects: Sequence[str], now: int
) -> list[MemoryCandidate]:
    found: dict[int, MemoryCandidate] = {}
    for subject in subjects:
        folded = ascii_lower(subject)
        values = {"user": user, "now": now, "subject": folded, "most": MOST_OF_A_RELATION}
        for relation in relations:
            rows = conn.execute(
                f"""{_ONE} AND lower(m.subject) = :subject
                    ORDER BY m.order_time DESC, m.id DESC LIMIT :most""",
                {**values, "relation": relation},
            )
            found |= {row[0]: _row(row) for row in rows}
        owned = {"relation": "is called", "from": f"{folded}'s ", "to": f"{folded}'t"}
        rows = conn.execute(
            f"""{_ONE} AND lower(m.subject) > :from AND lower(m.subject) < :to
                ORDER BY lower(m.subject), m.value, m.id LIMIT :most""",
            {**values, **owned},
        )
        found |= {row[0]: _row(row) for row in rows}
    source_text = _source_texts(conn, list(found))
    facts = (row._replace(source_text=source_text.get(row.key, "")) for row in found.values())
    return sorted(facts, key=lambda row: (row.order_time, row.key), reverse=True)


def _source_texts(conn: Connection, keys: list[int]) -> dict[int, str]:
    """Texts of the turns that memories were extracted from."""
    texts: dict[int, list[str]] = {}
    for memory, text in conn.execute(
        """SELECT x.memory, t.text FROM sources x JOIN turns t ON t.id = x.turn
           WHERE x.memory = ANY(?) ORDER BY x.memory, x.turn, x.start""",
        (keys,),
    ):
        texts.setdefault(memory, []).append(text)
    return {memory: "\n".join(spoken) for memory, spoken in texts.items()}


def _notes(conn: Connection, user: UserKey, now: int) -> tuple[MemoryCandidate, ...]:
    rows = conn.execute(
        f"""SELECT * FROM (SELECT {_COLUMNS}, m.kind, m.relation = '' OR ({NOTED}) AS noted
                           FROM memories m INDEXED BY memories_in_order
                           WHERE m.user_key = :user AND {_HOLDS}
                           ORDER BY m.order_time DESC, m.id DESC LIMIT :most) AS latest
            WHERE noted AND kind <> 'rule' ORDER BY order_time DESC, id DESC""",
        {"user": user, "now": now, "most": NOTES_READ},
    )
    return tuple(_row(row[:-2])._replace(relation="") for row in rows)


def _events(conn: Connection, who: dict[str, Any], days: Interval, now: int) -> list[DatedWords]:
    """Events that the user mentioned within the period.

    Events that no longer hold, or were restated since, are left out.
    """
    period = {"start": to_stored(days.start), "end": to_stored(days.end)}
    rows = conn.execute(
        f"""WITH said AS (SELECT id, text, spoken_at FROM turns INDEXED BY turns_by_time
                          WHERE user_key = :user AND role = 'user' AND spoken_at <= :now
                              AND {_BY_USER}
                              ORDER BY spoken_at DESC, id DESC LIMIT :most),
                 upcoming AS (SELECT h.turn, h.start, h.stop, h.since, h.until, s.text, s.spoken_at
                     FROM said s JOIN event_times h ON h.turn = s.id
                             WHERE h.since < :end AND h.until > :start
                                 AND h.until - h.since <= :end - :start)
            SELECT a.text, a.start, a.stop, a.since, a.until, a.spoken_at,
                (SELECT json_group_array(k.id) FROM (
                     SELECT m.id FROM sources x JOIN memories m ON m.id = x.memory
                     WHERE x.turn = a.turn AND x.start < a.stop AND x.stop > a.start
                         AND m.relation <> 'asks' AND {_HOLDS} ORDER BY m.id) k),
                (SELECT p.id FROM passages p WHERE p.turn = a.turn AND p.start <= a.start
                    AND p.stop > a.start),
                EXISTS (SELECT 1 FROM sources x WHERE x.turn = a.turn AND x.start < a.stop
                    AND x.stop > a.start)
            FROM upcoming a ORDER BY a.since, a.spoken_at, a.turn DESC, a.start""",
        {**who, **period, "now": now, "most": TURNS_READ},
    )
    return [
        DatedWords(
            text,
            start,
            stop,
            Interval(from_stored(since), from_stored(until)),
            from_stored(said_at),
            tuple(json.loads(held)),
            passage,
        )
        for text, start, stop, since, until, said_at, held, passage, read in rows
        if passage is not None and (held != "[]" or not read)
    ]


def _later(conn: Connection, who: dict[str, Any], since: int, now: int) -> list[LaterTurn]:
    rows = conn.execute(
        f"""SELECT text, public_id, spoken_at FROM turns INDEXED BY turns_by_time
           WHERE user_key = :user AND role = 'user' AND spoken_at > :since AND spoken_at <= :now
               AND {_BY_USER} ORDER BY spoken_at DESC, id DESC LIMIT :most""",
        {**who, "since": since, "now": now, "most": LATER_READ},
    )
    return [LaterTurn(text, turn, from_stored(said_at)) for text, turn, said_at in rows]


def _loops(conn: Connection, who: dict[str, Any], live: str | None) -> list[OpenLoop]:
    """Open loops of the last session with a summary."""
    rows = conn.execute(
        f"""SELECT x.text, t.public_id, s.public_id, t.spoken_at FROM summary_sentences x
           JOIN turns t ON t.id = x.turn JOIN sessions s ON s.id = x.summary
           WHERE x.part = 'open_loops' AND x.summary = (
               SELECT s.id FROM sessions s JOIN summaries y ON y.id = s.id
               WHERE s.user_key = :user AND s.public_id IS DISTINCT FROM :live
               ORDER BY s.order_time DESC, s.id DESC LIMIT 1)
               AND {_BY_USER} ORDER BY x.place""",
        {**who, "live": live},
    )
    return [
        OpenLoop(text, turn, session, from_stored(said_at)) for text, turn, session, said_at in rows
    ]


def _row(row: tuple[int, str, str, str, str, int, int, int, int]) -> MemoryCandidate:
    return MemoryCandidate(*row[:7], said_at=from_stored(row[7]), order_time=row[8])
