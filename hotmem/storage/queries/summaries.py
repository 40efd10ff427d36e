"""Session summaries: one per session, replaced when the session has grown."""

import dataclasses
import json
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
from hotmem.storage.queries.times import from_stored
from hotmem.storage.queries.turns import of_keys
from hotmem.storage.queries.users import lock_users
from hotmem.storage.search import vectors
from hotmem.types import (
    EvidenceKind,
    ExtractionBatch,
    ExtractionResult,
    Role,
    SessionSummary,
    SessionTitle,
    SummaryInput,
    SummarySentence,
    Topic,
    UserKey,
)

WHOLE: Final = 200
"""Turns of a session summarised at once; of a longer session only the new turns are."""

REPLIED_WITHIN: Final = 3
"""Turns after a question in which its reply is looked for."""


Render: TypeAlias = Callable[[SessionSummary], str]
"""Writes a summary as one text."""


def end(conn: Connection, user: UserKey, session_name: str) -> bool:
    """Marks the session as ended, so that its summary is due; False if there is no such session."""
    row = conn.execute(
        """UPDATE sessions SET summary_due = ? WHERE user_key = ? AND public_id = ? AND passages > 0
            RETURNING id""",
        (WHEN_ENDED, user, session_name),
    ).fetchone()
    return row is not None


def unsummarised(conn: Connection, user: UserKey, session: int) -> SummaryInput | None:
    """The turns of the next summary of a session, at bounded cost; None if it is up to date.

    A session of up to `WHOLE` turns is summarised as a whole. Of a longer one, the turns its
    summary quotes, with the replies to open loops, are read again with the turns since, `WHOLE` at
    once.
    """
    (latest,) = conn.execute(
        "SELECT max(id) FROM turns WHERE session = ? AND +user_key = ?", (session, user)
    ).fetchone()
    held = _through(conn, user, session)
    summarised = None if held is None else held[0]
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
    return [
        row[0]
        for row in conn.execute(
            """SELECT id FROM turns WHERE session = ? AND +user_key = ? AND id > ? ORDER BY id
                LIMIT ?""",
            (session, user, after, limit),
        )
    ]


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


def _through(conn: Connection, user: UserKey, session: int) -> Any:  # noqa: ANN401 - a row
    """The last turn that the session's summary covers, as a row; None without a summary."""
    sql = "SELECT through FROM summaries WHERE id = ? AND user_key = ?"
    return conn.execute(sql, (session, user)).fetchone()


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
    held = _through(conn, user, session)
    (left,) = conn.execute(
        "SELECT count(*) FROM turns WHERE id = ANY(?)", (list(seen.keys),)
    ).fetchone()
    if (
        row is None
        or row[0] != seen.latest
        or (held and held[0]) != seen.summarised
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
        for place, sentence in enumerate(sentences):
            conn.execute(
                """INSERT INTO summary_sentences (summary, part, place, text, turn)
                    VALUES (?, ?, ?, ?, ?)""",
                (session, part, place, sentence.text, keys[sentence.turn_id]),
            )
    index_entries.add(conn, user, EvidenceKind.SUMMARY, session, session, text)


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
    parts: dict[str, list[SummarySentence]] = {part: [] for part in SessionSummary().parts}
    sentences = conn.execute(
        """SELECT x.part, x.text, t.public_id FROM summary_sentences x JOIN turns t ON t.id = x.turn
           WHERE x.summary = ? AND x.part = ANY(?) ORDER BY x.part, x.place""",
        (row[0], [*parts]),
    )
    for part, text, turn in sentences:
        parts[part].append(SummarySentence(text, turn))
    title = next(iter(parts.pop("title")), None)
    return SessionSummary(
        topics=tuple(json.loads(row[1])),
        title=title,
        **{part: tuple(found) for part, found in parts.items()},
    )


def titles(conn: Connection, user: UserKey, sessions: Sequence[int]) -> dict[int, SessionTitle]:
    """The title of each of these sessions of the user that exists, in their order."""
    rows = conn.execute(
        """SELECT s.id, s.public_id, coalesce(x.text, ''), s.last_at FROM sessions s
           LEFT JOIN summary_sentences x ON x.summary = s.id AND x.part = 'title'
           WHERE s.user_key = ? AND s.id = ANY(?)""",
        (user, [*sessions]),
    )
    found = {
        key: SessionTitle(name, title, from_stored(last_at)) for key, name, title, last_at in rows
    }
    return {key: found[key] for key in sessions if key in found}


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
    render: Render,
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
        replace(conn, user, batch.session, summary, keys, render)
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


def _turns(conn: Connection, user: UserKey, session: int) -> list[int]:
    """Row numbers of a session's turns, up to one more than may be sent."""
    rows = conn.execute(
        "SELECT id FROM turns WHERE session = ? AND +user_key = ? ORDER BY id LIMIT ?",
        (session, user, WHOLE + 1),
    )
    return [key for (key,) in rows.fetchall()]


def _settle(conn: Connection, user: UserKey, session: int, _: object = None) -> None:
    """Lets a session wait no longer."""
    conn.execute("UPDATE summaries SET tries = NULL WHERE user_key = ? AND id = ?", (user, session))
