"""Imports records in batches: starts or continues an import, stores records, finishes."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from time import monotonic
from typing import Final

from hotmem.errors import StoreLocked
from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, imports, subcategories, users
from hotmem.storage.queries import summaries as summaries_of_sessions
from hotmem.storage.queries.imported_records import insert_record
from hotmem.storage.queries.imports import Import, ImportSession, Link, user_id_of
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.queries.users import lock_users
from hotmem.types import Category, DecisionAction, ImportRecord, ImportResult, UserKey

UNFINISHED: Final = "unfinished: import the same file again to continue, or undo it"
"""The reason recorded with an import until it is finished."""


WITHDRAWN: Final = "it was withdrawn before it was exported"
"""The reason recorded with the decisions about an imported memory that is withdrawn."""


def start(
    conn: Connection, source: str, form: str, *, with_forgotten: bool = False
) -> ImportSession:
    """Starts an import, or continues it where it was interrupted."""
    return ImportSession(
        source, form, Counter(imports.progress(conn, source)), with_forgotten=with_forgotten
    )


def import_records(
    conn: Connection,
    session: ImportSession,
    records: Sequence[ImportRecord],
    now: datetime,
    limit_s: float,
) -> int:
    """Stores records in their order until a time limit; existing rows are not changed.

    Users are locked in one order, so that two imports never wait for each other: it also stops
    before a user who would be locked too late.

    Args:
        conn: The writer, within a transaction.
        session: The import.
        records: The next records.
        now: The wall clock.
        limit_s: Seconds after which no further record is stored.

    Returns:
        Number of records stored.

    Raises:
        InvalidInput: If a record contradicts an existing row.
        StoreLocked: If the import was continued elsewhere.
    """
    until = monotonic() + limit_s
    begun: dict[str, Import] = {}
    last = (False, "", 0)
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        user_id = user_id_of(record)
        if user_id not in begun:
            known = users.find(conn, user_id)
            # those to be created come last: their row numbers are above all others
            place = (True, user_id, 0) if known is None else (False, "", known)
            if place < last:
                break
            last = place
            begun[user_id] = _user_import(conn, session, user_id, now, new_user=known is None)
        conn.lock_user(begun[user_id].user)
        counted[user_id].update(
            ("records", insert_record(conn, begun[user_id], session, record, now))
        )
        if monotonic() > until:
            break
    for user_id, counts in counted.items():
        imports.advance(conn, begun[user_id], session.stored[user_id], counts)
        session.stored[user_id] += counts["records"]
    return sum(counts["records"] for counts in counted.values())


def finish(conn: Connection, session: ImportSession, now: datetime) -> ImportResult:
    """Finishes an import: its rows may now be understood, embedded and summarised."""
    parts = imports.all_in_progress(conn, session.source)
    for one in sorted(parts, key=lambda one: one.user):
        conn.lock_user(one.user)
        if one.forgotten:
            evolved = conn.execute(
                "SELECT DISTINCT category FROM evolutions WHERE user_key = ? AND import = ?",
                (one.user, one.key),
            ).fetchall()
            subcategories.remove_stale_words(
                conn, one.user, [Category(category) for (category,) in evolved]
            )
    counts = imports.finish(conn, session.source, session.form, now)
    return ImportResult(
        counts["turns"],
        counts["memories"],
        counts["known"],
        len(session.turns_read),
        counts["forgotten"],
    )


def link(conn: Connection, session: ImportSession, links: Sequence[Link], now: datetime) -> None:
    """Sets which memories those of an import were superseded by, amend and were merged into.

    Memories that are not in the export stay unset; what only these made doubtful is not in doubt.
    That a memory was withdrawn is recorded as a decision.
    """
    found = {user_id: users.find(conn, user_id) for user_id, _, _ in links}
    lock_users(conn, [user for user in found.values() if user is not None])
    for user_id, name, others in links:
        user = found[user_id]
        one = None if user is None else imports.in_progress(conn, user, session.source)
        if one is None:
            raise StoreLocked(imports.CONFLICT)
        for column, other in others.items():
            conn.execute(
                f"""UPDATE memories SET {column} = (SELECT id FROM memories WHERE user_key = ?
                    AND public_id = ?) WHERE user_key = ? AND public_id = ? AND import = ?""",
                (one.user, other, one.user, name, one.key),
            )
        if others.get("merged_into") == name:
            record_withdrawn(conn, one.user, name, now)
        if "doubted_by" in others:
            conn.execute(
                """UPDATE memories SET doubted_at = NULL WHERE user_key = ? AND public_id = ?
                    AND import = ? AND doubted_by IS NULL AND doubted_in IS NULL""",
                (one.user, name, one.key),
            )


def record_withdrawn(conn: Connection, user: UserKey, name: str, now: datetime) -> None:
    """Records that a memory of an import was withdrawn, so that this can be undone.

    Exported decisions are not imported. Nothing is recorded twice.
    """
    row = conn.execute(
        """SELECT id, stored_at, coalesce(stored_at, said_at) FROM memories m
            WHERE user_key = ? AND public_id = ? AND merged_into = id AND import IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM decision_memories x WHERE x.memory = m.id)""",
        (user, name),
    ).fetchone()
    if row is None:
        return
    key, stored_at, decided_at = row
    action = DecisionAction.READ if stored_at is None else DecisionAction.FILED
    links = [(key, None)]
    decision = decisions.record(conn, user, action, WITHDRAWN, links, from_stored(decided_at))
    (undone,) = conn.execute(
        """UPDATE decisions SET undone_at = ? WHERE user_key = ? AND public_id = ?
            RETURNING id""",
        (to_stored(now), user, decision),
    ).fetchone()
    decisions.record(
        conn,
        user,
        DecisionAction.UNDONE,
        WITHDRAWN,
        links,
        now,
        changes=decisions.to_json({name: {"merged_into": [None, name]}}),
        undoes=undone,
    )


def end_sessions(conn: Connection, sessions: Sequence[tuple[str, str]]) -> None:
    """Marks sessions as ended, given with the ids of their users."""
    found = {user_id: users.find(conn, user_id) for user_id, _ in sessions}
    lock_users(conn, [user for user in found.values() if user is not None])
    for user_id, session in sessions:
        if (user := found[user_id]) is not None:
            summaries_of_sessions.end(conn, user, session)


def _user_import(
    conn: Connection, session: ImportSession, user_id: str, now: datetime, *, new_user: bool
) -> Import:
    """The user's part of an import, started with their first record."""
    user = users.ensure(conn, user_id)
    one = imports.in_progress(conn, user, session.source)
    if one is not None:
        return one
    if session.stored[user_id]:
        raise StoreLocked(imports.CONFLICT)
    imports.check_none_in_progress(conn, user)
    decision = decisions.record(conn, user, DecisionAction.IMPORTED, UNFINISHED, [], now)
    return imports.begin(conn, user, session.source, decision, now, new_user=new_user)
