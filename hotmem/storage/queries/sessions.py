"""Sessions: summaries, those that a language model writes, and what a session starts with."""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np

from hotmem.storage.database import Connection
from hotmem.storage.queries import index_entries, model_calls
from hotmem.storage.queries.extractions import MAX_CHARACTERS, MAX_TRIES, MAX_TURN_CHARACTERS
from hotmem.storage.queries.jobs import WHEN_ENDED
from hotmem.storage.queries.model_calls import SESSIONS_SEEN, Batch, Budget, Claim, Cost
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.queries.turns import of_keys
from hotmem.storage.queries.users import lock_users
from hotmem.storage.rows import record_of
from hotmem.storage.search import vectors
from hotmem.text.validation import ascii_lower
from hotmem.types import (
    EvidenceKind,
    ExtractionBatch,
    ExtractionResult,
    Interval,
    Role,
    SessionSummary,
    SessionTitle,
    SummaryInput,
    SummarySentence,
    Topic,
    UserKey,
)
from hotmem.types.sessions import (
    DatedWords,
    LaterTurn,
    MemoryCandidate,
    OpenLoop,
    SessionFacts,
)

WHOLE: Final = 200
"""Turns of a session summarised at once; of a longer session only the new turns are."""

REPLIED_WITHIN: Final = 3
"""Turns after a question in which its reply is looked for."""


Render: TypeAlias = Callable[[SessionSummary], str]
"""Writes a summary as one text."""


def end(conn: Connection, user: UserKey, session_name: str) -> bool:
    """Marks the session as ended, so that its summary is due; False if there is no such session."""
    return conn.exists(
        """UPDATE sessions SET summary_due = ? WHERE user_key = ? AND public_id = ? AND passages > 0
            RETURNING id""",
        (WHEN_ENDED, user, session_name),
    )


def unsummarised(conn: Connection, user: UserKey, session: int) -> SummaryInput | None:
    """The turns of the next summary of a session, at bounded cost; None if it is up to date.

    A session of up to `WHOLE` turns is summarised as a whole. Of a longer one, the turns its
    summary quotes, with the replies to open loops, are read again with the turns since, `WHOLE` at
    once.
    """
    latest = conn.scalar(
        "SELECT max(id) FROM turns WHERE session = ? AND +user_key = ?", (session, user)
    )
    summarised = conn.scalar(THROUGH, (session, user))
    new = _following(conn, user, session, 0, WHOLE + 1)
    topics: dict[str, Topic] = {}
    again: set[int] = set()
    if len(new) > WHOLE:
        new = _following(conn, user, session, summarised or 0, WHOLE)
        again = _quoted(conn, user, session)
        topics = _topics(conn, session)
    if not new:
        return None
    spoken = of_keys(conn, user, {*new, *again})
    rows_of = vectors.of_turns(conn, user, [key for key, _ in spoken])
    embedded = [(key, turn) for key, turn in spoken if key in rows_of]
    return SummaryInput(
        session=session,
        turns=tuple(turn for _, turn in embedded),
        vectors=np.array([rows_of[key] for key, _ in embedded], dtype=np.float32),
        keys=tuple(key for key, _ in embedded),
        fresh=frozenset(new if topics else (*new, *again)),
        topics=topics,
        summarised=summarised,
        through=new[-1],
        latest=latest,
    )


def _following(conn: Connection, user: UserKey, session: int, after: int, limit: int) -> list[int]:
    """Row numbers of a session's next turns after a row number."""
    return conn.column(
        "SELECT id FROM turns WHERE session = ? AND +user_key = ? AND id > ? ORDER BY id LIMIT ?",
        (session, user, after, limit),
    )


def _quoted(conn: Connection, user: UserKey, session: int) -> set[int]:
    """The turns that the summary quotes, and those that may answer its open loops."""
    quoted = conn.execute(
        "SELECT part, turn FROM summary_sentences WHERE summary = ?", (session,)
    ).fetchall()
    replies = (
        _following(conn, user, session, turn, REPLIED_WITHIN)
        for part, turn in quoted
        if part == "open_loops"
    )
    return {*(turn for _, turn in quoted), *chain.from_iterable(replies)}


THROUGH: Final = "SELECT through FROM summaries WHERE id = ? AND user_key = ?"
"""The last turn that the summary of a session covers."""


def done(conn: Connection, user: UserKey, session: int) -> None:
    """Marks a session as completely summarised."""
    conn.execute(
        "UPDATE sessions SET summary_due = 0 WHERE id = ? AND user_key = ?", (session, user)
    )


def put(
    conn: Connection,
    user: UserKey,
    seen: SummaryInput,
    summary: SessionSummary,
    topics: Mapping[str, Topic],
    text: str,
    *,
    to_model: bool = False,
) -> None:
    """Stores the summary of a session, unless turns were added or deleted since they were `seen`.

    It stays due until the whole session is summarised.

    Args:
        conn: The writer.
        user: The user.
        seen: What was summarised.
        summary: Its summary.
        topics: Topic counts of the session, by stems.
        text: The summary as one text.
        to_model: Whether a language model shall write the summary of a whole session that it may
            see (`model_summaries`).
    """
    session = seen.session
    row = conn.execute(
        """SELECT (SELECT max(t.id) FROM turns t WHERE t.session = s.id), s.sendable FROM sessions s
            WHERE s.id = ? AND s.user_key = ?""",
        (session, user),
    ).fetchone()
    left = conn.scalar("SELECT count(*) FROM turns WHERE id = ANY(?)", (list(seen.keys),))
    if (
        row is None
        or row[0] != seen.latest
        or conn.scalar(THROUGH, (session, user)) != seen.summarised
        or left != len(seen.keys)
    ):
        return
    whole = seen.through == seen.latest
    if whole:
        done(conn, user, session)
    keys = {turn.id: key for key, turn in zip(seen.keys, seen.turns, strict=True)}
    tries = 0 if whole and to_model and row[1] else None
    _store(conn, user, session, summary, topics, text, keys, seen.through, tries)


def replace(
    conn: Connection,
    user: UserKey,
    session: int,
    summary: SessionSummary,
    keys: Mapping[str, int],
    render: Render,
) -> None:
    """Replaces the sentences of a session's summary; its topics stay.

    Args:
        conn: The writer.
        user: The user.
        session: Row number of the session, which has a summary.
        summary: The sentences.
        keys: Row numbers of their turns, by id.
        render: Writes a summary as one text.
    """
    written, through = conn.execute(
        "SELECT topics, through FROM summaries WHERE user_key = ? AND id = ?", (user, session)
    ).fetchone()
    titled = dataclasses.replace(summary, topics=tuple(json.loads(written)))
    topics = _topics(conn, session)
    _store(conn, user, session, titled, topics, render(titled), keys, through, None)


def _store(
    conn: Connection,
    user: UserKey,
    session: int,
    summary: SessionSummary,
    topics: Mapping[str, Topic],
    text: str,
    keys: Mapping[str, int],
    through: int,
    tries: int | None,
) -> None:
    """Stores a summary in the place of the session's former one, if any."""
    conn.execute("DELETE FROM summaries WHERE id = ? AND user_key = ?", (session, user))
    conn.execute(
        """INSERT INTO summaries (id, user_key, topics, text, through, tries)
           VALUES (?, ?, ?, ?, ?, ?)""",
        (session, user, json.dumps(summary.topics), text, through, tries),
    )
    conn.executemany(
        "INSERT INTO summary_topics (summary, name, written, weight) VALUES (?, ?, ?, ?)",
        [(session, name, topic.written, topic.weight) for name, topic in topics.items()],
    )
    for part, sentences in summary.parts.items():
        put_sentences(conn, session, part, sentences, keys)
    index_entries.add(conn, user, EvidenceKind.SUMMARY, session, session, text)


def put_sentences(
    conn: Connection,
    session: int,
    part: str,
    sentences: Sequence[SummarySentence],
    keys: Mapping[str, int | None],
) -> None:
    """Stores the sentences of a part of a session's summary.

    Args:
        conn: The writer.
        session: Row number of the session.
        part: The part.
        sentences: Its sentences; one without a turn is left out.
        keys: Row numbers of their turns, by id.
    """
    conn.executemany(
        "INSERT INTO summary_sentences (summary, part, place, text, turn) VALUES (?, ?, ?, ?, ?)",
        [
            (session, part, place, one.text, keys[one.turn_id])
            for place, one in enumerate(sentences)
            if keys[one.turn_id] is not None
        ],
    )


def _topics(conn: Connection, session: int) -> dict[str, Topic]:
    """Topic counts of a session's summary, by stems."""
    rows = conn.execute(
        "SELECT name, written, weight FROM summary_topics WHERE summary = ?", (session,)
    )
    return {name: Topic(written, weight) for name, written, weight in rows.fetchall()}


def of_session(conn: Connection, user: UserKey, session_name: str) -> SessionSummary | None:
    """The session's summary, or None."""
    row = conn.execute(
        """SELECT y.id, y.topics FROM summaries y JOIN sessions s ON s.id = y.id
            WHERE y.user_key = ? AND s.public_id = ?""",
        (user, session_name),
    ).fetchone()
    if row is None:
        return None
    stored = sentences_of(conn, row[0])
    parts = {part: stored.get(part, ()) for part in SessionSummary().parts}
    title = next(iter(parts.pop("title")), None)
    return SessionSummary(topics=tuple(json.loads(row[1])), title=title, **parts)


def sentences_of(conn: Connection, session: int) -> dict[str, tuple[SummarySentence, ...]]:
    """The sentences of a session's summary by part, in order."""
    parts: defaultdict[str, tuple[SummarySentence, ...]] = defaultdict(tuple)
    for part, text, turn in conn.execute(
        """SELECT x.part, x.text, t.public_id FROM summary_sentences x JOIN turns t ON t.id = x.turn
           WHERE x.summary = ? ORDER BY x.part, x.place""",
        (session,),
    ):
        parts[part] += (SummarySentence(text, turn),)
    return dict(parts)


def titles(conn: Connection, user: UserKey, sessions: Sequence[int]) -> dict[int, SessionTitle]:
    """The title of each of these sessions of the user that exists, in their order."""
    rows = conn.execute(
        """SELECT s.id, s.public_id, coalesce(x.text, ''), s.last_at FROM sessions s
           LEFT JOIN summary_sentences x ON x.summary = s.id AND x.part = 'title'
           WHERE s.user_key = ? AND s.id = ANY(?)""",
        (user, [*sessions]),
    )
    found = {key: record_of(SessionTitle, row) for key, *row in rows}
    return {key: found[key] for key in sessions if key in found}


DUE: Final = """
    SELECT y.user_key, y.id FROM summaries y
    JOIN sessions s ON s.user_key = y.user_key AND s.id = y.id
    WHERE y.tries IS NOT NULL AND s.summary_due = 0 ORDER BY y.id LIMIT ?"""
"""Sessions that wait and have not grown since."""


def any_waiting(conn: Connection) -> bool:
    """Whether any session waits."""
    return conn.exists("SELECT user_key FROM summaries WHERE tries IS NOT NULL LIMIT 1")


def any_due(conn: Connection) -> bool:
    """Whether a session waits that has not grown since."""
    return bool(_due(conn, 1))


def discard(conn: Connection) -> None:
    """Lets no session wait any longer, of no user."""
    users = conn.column("SELECT DISTINCT user_key FROM summaries WHERE tries IS NOT NULL")
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
    render: Render,
) -> int:
    """Replaces a session's summary, keeps its topics, and completes the record of the call.

    Nothing is stored without a summary, or if a turn of the session was added or forgotten since
    it was sent, or another summary was stored.

    Returns:
        Number of summaries stored, 0 or 1.
    """
    tries = conn.scalar(
        "SELECT tries FROM summaries WHERE user_key = ? AND id = ?", (user, batch.session)
    )
    sent = sorted(key for key, _ in batch.turns)
    present = _following(conn, user, batch.session, 0, WHOLE + 1)
    unchanged = bool(tries) and present == sent
    stored = int(unchanged and summary is not None)
    if unchanged:
        _settle(conn, user, batch.session)
    if unchanged and summary is not None:
        keys = {turn.id: key for key, turn in batch.turns}
        replace(conn, user, batch.session, summary, keys, render)
    model_calls.complete(conn, user, batch.call, result, summaries=stored)
    return stored


def _due(conn: Connection, limit: int) -> list[tuple[UserKey, int]]:
    return conn.execute(DUE, (limit,)).fetchall()


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
    keys = _following(conn, user, session, 0, WHOLE + 1)
    batch = of_keys(conn, user, keys) if len(keys) <= WHOLE else []
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


def _settle(conn: Connection, user: UserKey, session: int, _: object = None) -> None:
    """Lets a session wait no longer."""
    conn.execute("UPDATE summaries SET tries = NULL WHERE user_key = ? AND id = ?", (user, session))


TURNS_READ: Final = 20_000
"""Latest turns of the user in which event times are read."""

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
    rules = conn.records(
        MemoryCandidate,
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
    return tuple(rules)


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
    sql = "SELECT 1 FROM pending_turns WHERE import IS NULL AND user_key = ? AND held = 0 LIMIT 1"
    return conn.exists(sql, (user,))


def speaker(conn: Connection, user: UserKey) -> str | None:
    """The name the user speaks under: the configured one, else that of the only speaker.

    None if several people spoke and none is known to be the user.
    """
    sql = """SELECT coalesce((SELECT speaker FROM users WHERE id = :user), (
        SELECT min(speaker) FROM (SELECT speaker FROM turns INDEXED BY turns_by_time
            WHERE user_key = :user AND role = 'user' ORDER BY spoken_at DESC, id DESC LIMIT 200) t
        HAVING count(DISTINCT coalesce(speaker, '')) = 1))"""
    name: str | None = conn.scalar(sql, {"user": user})
    return name


def _facts(
    conn: Connection, user: UserKey, relations: Sequence[str], subjects: Sequence[str], now: int
) -> list[MemoryCandidate]:
    found: list[MemoryCandidate] = []
    for subject in subjects:
        folded = ascii_lower(subject)
        values = {"user": user, "now": now, "subject": folded, "most": MOST_OF_A_RELATION}
        for relation in relations:
            found += conn.records(
                MemoryCandidate,
                f"""{_ONE} AND lower(m.subject) = :subject
                    ORDER BY m.order_time DESC, m.id DESC LIMIT :most""",
                {**values, "relation": relation},
            )
        owned = {"relation": "is called", "from": f"{folded}'s ", "to": f"{folded}'t"}
        found += conn.records(
            MemoryCandidate,
            f"""{_ONE} AND lower(m.subject) > :from AND lower(m.subject) < :to
                ORDER BY lower(m.subject), m.value, m.id LIMIT :most""",
            {**values, **owned},
        )
    by_key = {row.key: row for row in found}
    source_text = _source_texts(conn, list(by_key))
    facts = (row._replace(source_text=source_text.get(row.key, "")) for row in by_key.values())
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
    notes = conn.execute(
        f"""SELECT * FROM (SELECT {_COLUMNS}, m.kind, m.relation = '' OR ({NOTED}) AS noted
                           FROM memories m INDEXED BY memories_in_order
                           WHERE m.user_key = :user AND {_HOLDS}
                           ORDER BY m.order_time DESC, m.id DESC LIMIT :most) AS latest
            WHERE noted AND kind <> 'rule' ORDER BY order_time DESC, id DESC""",
        {"user": user, "now": now, "most": NOTES_READ},
    )
    return tuple(record_of(MemoryCandidate, note[:-2])._replace(relation="") for note in notes)


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
    return conn.records(
        LaterTurn,
        f"""SELECT text, public_id, spoken_at FROM turns INDEXED BY turns_by_time
           WHERE user_key = :user AND role = 'user' AND spoken_at > :since AND spoken_at <= :now
               AND {_BY_USER} AND spoken_at IN (SELECT m.doubted_at FROM memories m
                   WHERE m.user_key = :user AND m.doubted_at > :since AND m.valid_until IS NULL)
           ORDER BY spoken_at DESC, id DESC""",
        {**who, "since": since, "now": now},
    )


def _loops(conn: Connection, who: dict[str, Any], live: str | None) -> list[OpenLoop]:
    """Open loops of the last session with a summary."""
    return conn.records(
        OpenLoop,
        f"""SELECT x.text, t.public_id, s.public_id, t.spoken_at FROM summary_sentences x
           JOIN turns t ON t.id = x.turn JOIN sessions s ON s.id = x.summary
           WHERE x.part = 'open_loops' AND x.summary = (
               SELECT s.id FROM sessions s JOIN summaries y ON y.id = s.id
               WHERE s.user_key = :user AND s.public_id IS DISTINCT FROM :live
               ORDER BY s.order_time DESC, s.id DESC LIMIT 1)
               AND {_BY_USER} ORDER BY x.place""",
        {**who, "live": live},
    )
