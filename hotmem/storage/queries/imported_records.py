"""Inserts the records of an import: turns, memories, subcategories, summaries, weights, quality.

Existing rows are not changed. Each new row names its import, and the former state of what an import
changes is saved (`imports`), so that `import_rollback` finds both.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from time import monotonic
from typing import Any, Final

from pydantic import TypeAdapter

from hotmem.errors import InvalidInput, StoreLocked
from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    decisions,
    deletion_marks,
    event_times,
    evolutions,
    imports,
    index_entries,
    layer_weights,
    quality,
    sessions,
    subcategories,
    tags,
    times,
    turns,
    users,
)
from hotmem.storage.queries.export_rows import PLAIN, TIMES
from hotmem.storage.queries.imports import Import, ImportSession, Link, turn_of, user_id_of
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.queries.users import link_entities, lock_users
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Category,
    DecisionAction,
    EvidenceKind,
    EvolutionRecord,
    ExportedTurn,
    ImportRecord,
    ImportResult,
    MemoryRecord,
    QualityRecord,
    SummaryRecord,
    Turn,
    UserKey,
    UserRecord,
    WeightsRecord,
)

QUALITY: Final = TypeAdapter(QualityRecord)


def insert_record(
    conn: Connection, one: Import, session: ImportSession, record: ImportRecord, now: datetime
) -> str:
    """Stores a record unless it exists or was forgotten; returns what it counts as."""
    if _is_excluded(conn, one.user, session, record):
        return (
            "passed over"
            if isinstance(record, UserRecord) and isinstance(record.record, SummaryRecord)
            else "forgotten"
        )
    match record:
        case Turn() | ExportedTurn():
            return _insert_turn(conn, one, record, now)
        case UserRecord(_, MemoryRecord() as memory):
            return "memories" if _insert_memory(conn, one, memory) else "known"
        case UserRecord(user_id, SummaryRecord() as summary):
            turns_read = session.turns_read[user_id, summary.session_id]
            added = _insert_summary(conn, one, summary, turns_read)
        case UserRecord(_, EvolutionRecord() as evolution):
            added = evolutions.insert_imported(conn, one, evolution)
        case UserRecord(_, WeightsRecord() as weights):
            added = _insert_weights(conn, one, weights, now)
        case UserRecord(_, QualityRecord() as cell):
            added = _insert_quality(conn, one, cell)
    return "others" if added else "passed over"


def _is_excluded(
    conn: Connection, user: UserKey, session: ImportSession, record: ImportRecord
) -> bool:
    """Whether a record was forgotten and is not to be imported.

    One that is imported all the same loses its tombstone.
    """
    sort: deletion_marks.Sort
    match record:
        case Turn() | ExportedTurn():
            sort, one = "turn", turn_of(record).id
        case UserRecord(_, MemoryRecord() as memory):
            sort, one = "memory", memory.id
        case UserRecord(_, SummaryRecord() as summary):
            sort, one = "summary", summary.session_id
        case _:
            return False
    if not deletion_marks.has(conn, user, sort, one):
        return sort == "memory" and _has_only_forgotten_sources(conn, user, record)
    if session.with_forgotten:
        deletion_marks.remove(conn, user, sort, [one])
    return not session.with_forgotten


def _has_only_forgotten_sources(conn: Connection, user: UserKey, record: ImportRecord) -> bool:
    """Whether a memory was extracted from forgotten turns alone."""
    match record:
        case UserRecord(_, MemoryRecord(stored_at=None, words=words)) if words:
            return all(deletion_marks.has(conn, user, "turn", one.turn_id) for one in words)
    return False


def _insert_weights(conn: Connection, one: Import, weights: WeightsRecord, now: datetime) -> bool:
    """Stores a user's weights, unless they have some."""
    if conn.exists("SELECT 1 FROM weights WHERE user_key = ?", (one.user,)):
        return False
    layer_weights.put_weights(conn, one.user, weights, now, "taken in")
    layer_weights.put_moved(conn, one.user, weights.by_intent)
    step = conn.scalar("SELECT max(id) FROM weight_history WHERE user_key = ?", (one.user,))
    imports.save_change(conn, one, "weights", "", step)
    return True


def _insert_quality(conn: Connection, one: Import, cell: QualityRecord) -> bool:
    added = quality.put(conn, one.user, cell)
    if added:
        imports.save_change(
            conn,
            one,
            "quality",
            f"{cell.day} {cell.intent} {cell.layer}",
            QUALITY.dump_python(cell, mode="json"),
        )
    return added


def _store_understanding(conn: Connection, user: UserKey, read: ExportedTurn) -> None:
    """Stores the exported understanding of a turn and removes its pending job."""
    key = conn.scalar(
        "SELECT id FROM turns WHERE user_key = ? AND public_id = ?", (user, read.turn.id)
    )
    conn.execute("DELETE FROM pending_turns WHERE turn = ?", (key,))
    link_entities(conn, user, "turn", key, read.entities)
    event_times.put(conn, user, key, read.event_times)
    if read.correction_count:
        conn.insert("correction_counts", {"turn": key, "times": read.correction_count})


def _insert_turn(conn: Connection, one: Import, record: Turn | ExportedTurn, now: datetime) -> str:
    """Stores a turn, with its understanding if the record has one; returns what it counts as."""
    turn = turn_of(record)
    exported = record if isinstance(record, ExportedTurn) else None
    order_time = exported and exported.order_time
    imports.save_session_state(conn, one, turn.session_id)
    try:
        if not turns.add(conn, turn, now, one.key, order_time or turn.spoken_at):
            return "known"
    except InvalidInput as error:
        raise InvalidInput(
            f"The turn {turn.id!r} has other words here, or stands twice in the file. "
            "Give each turn an id of its own."
        ) from error
    if exported and not exported.waiting:
        _store_understanding(conn, one.user, exported)
    return "turns"


def _insert_memory(conn: Connection, one: Import, record: MemoryRecord) -> bool:
    """Stores a memory without its links to others; False if it exists.

    Raises:
        InvalidInput: If its id belongs to a memory with another text, or if it comes from a turn
            that does not exist.
    """
    user = one.user
    known = conn.scalar(
        "SELECT text FROM memories WHERE user_key = ? AND public_id = ?", (user, record.id)
    )
    if known is not None:
        if known != record.text:
            raise InvalidInput(
                f"The memory {record.id} has other words here, or stands twice in the "
                "file. Forget it, or give it another id."
            )
        return False
    values: dict[str, Any] = {column: getattr(record, column) for column in PLAIN}
    values |= {
        moment: None if getattr(record, moment) is None else to_stored(getattr(record, moment))
        for moment in TIMES
    }
    values["order_time"] = values["order_time"] or values["said_at"]
    if record.doubted_in is not None:
        values["doubted_in"] = times.row_of(conn, user, "turns", record.doubted_in)
    if record.doubted_by is None and values.get("doubted_in") is None:
        values["doubted_at"] = None  # the cause is not in the export
    times.note(conn, user, values["order_time"])
    values |= {
        "user_key": user,
        "public_id": record.id,
        "value": normalize_value(record.object),
        "import": one.key,
    }
    key = conn.insert("memories", values)
    if record.merged_into is None or deletion_marks.has(conn, user, "memory", record.merged_into):
        index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, record.text)
    link_entities(conn, user, "memory", key, record.entities)
    for tag in (*record.tags, *record.found_tags):
        imports.save_tag_state(conn, one, tag)
    tagged_at = record.stored_at or record.said_at
    tags.attach(conn, user, key, record.tags, tagged_at)
    tags.attach(conn, user, key, record.found_tags, tagged_at, found=True)
    if record.subcategory is not None:
        evolutions.assign_by_name(conn, user, key, record.category, record.subcategory)
    for words in record.words:
        turn = times.row_of(conn, user, "turns", words.turn_id)
        if turn is None and deletion_marks.has(conn, user, "turn", words.turn_id):
            continue
        if turn is None:
            raise InvalidInput(
                f"The memory {record.id} comes from the turn {words.turn_id}, which is "
                "not there. Import the whole export."
            )
        conn.execute(
            "INSERT INTO sources (memory, turn, start, stop) VALUES (?, ?, ?, ?)",
            (key, turn, words.start, words.stop),
        )
    return True


def _insert_summary(conn: Connection, one: Import, record: SummaryRecord, turn_count: int) -> bool:
    """Stores a session's summary; False if the session has one.

    The summary stays due if the session has more turns than were read from the file.

    Raises:
        InvalidInput: If the session does not exist.
    """
    user = one.user
    session = times.row_of(conn, user, "sessions", record.session_id)
    if session is None:
        raise InvalidInput(
            f"The summary is of the session {record.session_id}, which is not there. "
            "Import the whole export."
        )
    if conn.exists("SELECT 1 FROM summaries WHERE user_key = ? AND id = ?", (user, session)):
        return False
    imports.save_session_state(conn, one, record.session_id)
    conn.execute(
        """UPDATE sessions SET summary_due = 0 WHERE user_key = ? AND id = ?
            AND (SELECT count(*) FROM turns t WHERE t.session = sessions.id) <= ?""",
        (user, session, turn_count),
    )
    conn.execute(
        "INSERT INTO summaries (id, user_key, topics, text, import) VALUES (?, ?, ?, ?, ?)",
        (session, user, json.dumps(record.topics), record.text, one.key),
    )
    for part, sentences in record.sentences.items():
        keys = {one.turn_id: times.row_of(conn, user, "turns", one.turn_id) for one in sentences}
        sessions.put_sentences(conn, session, part, sentences, keys)
    index_entries.add(conn, user, EvidenceKind.SUMMARY, session, session, record.text)
    return True


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
    for one, forgotten in imports.all_in_progress(conn, session.source):
        conn.lock_user(one.user)
        if forgotten:
            evolved = conn.column(
                "SELECT DISTINCT category FROM evolutions WHERE user_key = ? AND import = ?",
                (one.user, one.key),
            )
            subcategories.remove_stale_words(conn, one.user, map(Category, evolved))
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
    undone = conn.scalar(
        """UPDATE decisions SET undone_at = ? WHERE user_key = ? AND public_id = ?
            RETURNING id""",
        (to_stored(now), user, decision),
    )
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


def end_sessions(conn: Connection, ended: Sequence[tuple[str, str]]) -> None:
    """Marks sessions as ended, given with the ids of their users."""
    found = {user_id: users.find(conn, user_id) for user_id, _ in ended}
    lock_users(conn, [user for user in found.values() if user is not None])
    for user_id, session in ended:
        if (user := found[user_id]) is not None:
            sessions.end(conn, user, session)


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
