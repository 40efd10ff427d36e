"""Inserts the records of an import: turns, memories, subcategories, summaries, weights, quality.

Existing rows are not changed. Each new row names its import, and the former state of what an import
changes is saved (`imports`), so that `import_rollback` finds both.
"""

import json
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    deletion_marks,
    event_times,
    evolutions,
    imports,
    index_entries,
    layer_weights,
    placement,
    quality,
    tags,
    times,
    turns,
)
from hotmem.storage.queries.export_rows import PLAIN, TIMES
from hotmem.storage.queries.imports import Import, ImportSession, turn_of
from hotmem.storage.queries.times import to_stored
from hotmem.storage.queries.users import ensure_entities
from hotmem.text.validation import normalize_value
from hotmem.types import (
    EvidenceKind,
    EvolutionRecord,
    ExportedTurn,
    ImportRecord,
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
    if isinstance(record, Turn | ExportedTurn):
        turn = turn_of(record)
        imports.save_session_state(conn, one, turn.session_id)
        if not _insert_turn(
            conn, turn, now, one, record.order_time if isinstance(record, ExportedTurn) else None
        ):
            return "known"
        if isinstance(record, ExportedTurn) and not record.waiting:
            _store_understanding(conn, one.user, record)
        return "turns"
    match record.record:
        case MemoryRecord() as memory:
            return "memories" if _insert_memory(conn, one, memory) else "known"
        case SummaryRecord() as summary:
            return _outcome(
                _insert_summary(
                    conn, one, summary, session.turns_read[record.user_id, summary.session_id]
                )
            )
        case EvolutionRecord() as evolution:
            return _outcome(evolutions.insert_imported(conn, one, evolution))
        case WeightsRecord() as weights:
            return _outcome(_insert_weights(conn, one, weights, now))
        case QualityRecord() as cell:
            return _outcome(_insert_quality(conn, one, cell))


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


def _outcome(added: bool) -> str:
    return "others" if added else "passed over"


def _insert_weights(conn: Connection, one: Import, weights: WeightsRecord, now: datetime) -> bool:
    """Stores a user's weights, unless they have some."""
    if conn.execute("SELECT 1 FROM weights WHERE user_key = ?", (one.user,)).fetchone():
        return False
    layer_weights.put_weights(conn, one.user, weights, now, "taken in")
    layer_weights.put_moved(conn, one.user, weights.by_intent)
    (step,) = conn.execute(
        "SELECT max(id) FROM weight_history WHERE user_key = ?", (one.user,)
    ).fetchone()
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
    key = conn.execute(
        "SELECT id FROM turns WHERE user_key = ? AND public_id = ?", (user, read.turn.id)
    ).fetchone()[0]
    conn.execute("DELETE FROM pending_turns WHERE turn = ?", (key,))
    for entity in ensure_entities(conn, user, read.entities):
        conn.execute(
            "INSERT INTO turn_entities (entity, turn) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (entity, key),
        )
    event_times.put(conn, user, key, read.event_times)
    if read.correction_count:
        conn.execute(
            "INSERT INTO correction_counts (turn, times) VALUES (?, ?)",
            (key, read.correction_count),
        )


def _insert_turn(
    conn: Connection, turn: Turn, now: datetime, one: Import, order_time: datetime | None
) -> bool:
    try:
        return turns.add(conn, turn, now, one.key, order_time or turn.spoken_at)
    except InvalidInput as error:
        raise InvalidInput(
            f"The turn {turn.id!r} has other words here, or stands twice in the file. "
            "Give each turn an id of its own."
        ) from error


def _insert_memory(conn: Connection, one: Import, record: MemoryRecord) -> bool:
    """Stores a memory without its links to others; False if it exists.

    Raises:
        InvalidInput: If its id belongs to a memory with another text, or if it comes from a turn
            that does not exist.
    """
    user = one.user
    known = conn.execute(
        "SELECT text FROM memories WHERE user_key = ? AND public_id = ?", (user, record.id)
    ).fetchone()
    if known is not None:
        if known[0] != record.text:
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
        values["doubted_in"] = _turn_key(conn, user, record.doubted_in)
    if record.doubted_by is None and values.get("doubted_in") is None:
        values["doubted_at"] = None  # the cause is not in the export
    times.note(conn, user, values["order_time"])
    values |= {
        "user_key": user,
        "public_id": record.id,
        "value": normalize_value(record.object),
        "import": one.key,
    }
    (key,) = conn.execute(
        f"""INSERT INTO memories ({", ".join(values)}) VALUES ({", ".join("?" * len(values))})
            RETURNING id""",
        tuple(values.values()),
    ).fetchone()
    if record.merged_into is None or deletion_marks.has(conn, user, "memory", record.merged_into):
        index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, record.text)
    for entity in ensure_entities(conn, user, record.entities):
        conn.execute(
            "INSERT INTO memory_entities (entity, memory) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (entity, key),
        )
    for tag in (*record.tags, *record.found_tags):
        imports.save_tag_state(conn, one, tag)
    tagged_at = record.stored_at or record.said_at
    tags.attach(conn, user, key, record.tags, tagged_at)
    tags.attach(conn, user, key, record.found_tags, tagged_at, found=True)
    if record.subcategory is not None:
        placement.assign_by_name(conn, user, key, record.category, record.subcategory)
    for words in record.words:
        turn = _turn_key(conn, user, words.turn_id)
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


def _turn_key(conn: Connection, user: UserKey, name: str) -> int | None:
    """The row number of a turn; None if it is not there."""
    row = conn.execute(
        "SELECT id FROM turns WHERE user_key = ? AND public_id = ?", (user, name)
    ).fetchone()
    return None if row is None else int(row[0])


def _insert_summary(conn: Connection, one: Import, record: SummaryRecord, turn_count: int) -> bool:
    """Stores a session's summary; False if the session has one.

    The summary stays due if the session has more turns than were read from the file.

    Raises:
        InvalidInput: If the session does not exist.
    """
    user = one.user
    session = conn.execute(
        "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?", (user, record.session_id)
    ).fetchone()
    if session is None:
        raise InvalidInput(
            f"The summary is of the session {record.session_id}, which is not there. "
            "Import the whole export."
        )
    if conn.execute(
        "SELECT 1 FROM summaries WHERE user_key = ? AND id = ?", (user, *session)
    ).fetchone():
        return False
    imports.save_session_state(conn, one, record.session_id)
    conn.execute(
        """UPDATE sessions SET summary_due = 0 WHERE user_key = ? AND id = ?
            AND (SELECT count(*) FROM turns t WHERE t.session = sessions.id) <= ?""",
        (user, *session, turn_count),
    )
    conn.execute(
        "INSERT INTO summaries (id, user_key, topics, text, import) VALUES (?, ?, ?, ?, ?)",
        (session[0], user, json.dumps(record.topics), record.text, one.key),
    )
    for part, sentences in record.sentences.items():
        for place, sentence in enumerate(sentences):
            turn = conn.execute(
                "SELECT id FROM turns WHERE user_key = ? AND public_id = ?",
                (user, sentence.turn_id),
            ).fetchone()
            if turn is not None:
                conn.execute(
                    """INSERT INTO summary_sentences (summary, part, place, text, turn)
                        VALUES (?, ?, ?, ?, ?)""",
                    (session[0], part, place, sentence.text, turn[0]),
                )
    index_entries.add(conn, user, EvidenceKind.SUMMARY, session[0], session[0], record.text)
    return True
