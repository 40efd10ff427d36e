"""Records on their way in, a few in each transaction.

Turns, memories with all their standing, subcategories, summaries, weights, quality.

What is there already stays as it is. Each row remembers the import that it came with, and what an
import changes is kept before it does (`hotmem.storage.queries.imports`), so that
`hotmem.storage.queries.import_rollback` finds both.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from time import monotonic
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from hotmem.errors import InvalidInput, StoreLocked
from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    decisions,
    deletion_marks,
    event_times,
    imports,
    index_entries,
    layer_weights,
    order,
    quality,
    subcategories,
    tags,
    turns,
    users,
)
from hotmem.storage.queries import summaries as summaries_of_sessions
from hotmem.storage.queries.entities import ensure
from hotmem.storage.queries.export_rows import PLAIN, TIMES
from hotmem.storage.queries.imports import Import
from hotmem.storage.queries.times import to_stored
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Category,
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
    Weights,
)

Link: TypeAlias = tuple[str, str, Mapping[str, str]]
"""A user's id, a memory's id, and the ids of others by what they are to it."""

BROKEN_OFF: Final = "not finished: import the same file again to go on, or take it back"
"""What the decisions tell of an import until it is."""

QUALITY: Final = TypeAdapter(QualityRecord)


@dataclass(slots=True)
class ImportSession:
    """An import on its way, as the program that reads the file knows it.

    Attributes:
        source: Tells the file, read in this way, from all others.
        form: What the file is, for the record of decisions.
        taken: Records of each user that are in the store.
        read: Records of each user that were read.
        heard: Turns read of each user's sessions.
        plain_sessions: Users' sessions with turns that are to be understood.
        links: What memories are to others, by user and id.
        with_forgotten: Whether what was forgotten comes back with it.
    """

    source: str
    form: str
    taken: Counter[str]
    read: Counter[str] = field(default_factory=Counter)
    heard: Counter[tuple[str, str]] = field(default_factory=Counter)
    plain_sessions: set[tuple[str, str]] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    with_forgotten: bool = False

    def following(self, records: Iterator[ImportRecord], limit: int) -> list[ImportRecord] | None:
        """Those of the next records that are not in the store yet; None at the end."""
        portion = list(islice(records, limit))
        return [record for record in portion if self._notes(record)] if portion else None

    def _notes(self, record: ImportRecord) -> bool:
        user_id = _user_of(record)
        self.read[user_id] += 1
        match record:
            case Turn() | ExportedTurn():
                turn = _turn_of(record)
                self.heard[user_id, turn.session_id] += 1
                if record is turn:
                    self.plain_sessions.add((user_id, turn.session_id))
            case UserRecord(_, MemoryRecord() as memory) if memory.links:
                self.links.append((user_id, memory.id, memory.links))
        return self.read[user_id] > self.taken[user_id]


def taking(
    conn: Connection, source: str, form: str, *, with_forgotten: bool = False
) -> ImportSession:
    """An import, from where it was broken off or from the beginning."""
    return ImportSession(
        source, form, Counter(imports.progress(conn, source)), with_forgotten=with_forgotten
    )


def import_records(
    conn: Connection,
    taking: ImportSession,
    records: Sequence[ImportRecord],
    now: datetime,
    limit_s: float,
) -> int:
    """Stores records in their order for so many seconds; what is there already stays as it is.

    Args:
        conn: The writer, within a transaction.
        taking: The import.
        records: What follows.
        now: The wall clock.
        limit_s: Seconds after which no other record is begun.

    Returns:
        How many were stored.

    Raises:
        InvalidInput: If a record does not fit what is there.
        StoreLocked: If the import is not where it was left.
    """
    until = monotonic() + limit_s
    begun: dict[str, Import] = {}
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        user_id = _user_of(record)
        if user_id not in begun:
            begun[user_id] = _import_of(conn, taking, user_id, now)
        counted[user_id].update(("records", _put(conn, begun[user_id], taking, record, now)))
        if monotonic() > until:
            break
    for user_id, counts in counted.items():
        imports.advance(conn, begun[user_id], taking.taken[user_id], counts)
        taking.taken[user_id] += counts["records"]
    return sum(counts["records"] for counts in counted.values())


def finish(conn: Connection, taking: ImportSession, now: datetime) -> ImportResult:
    """Finishes an import: from now on what it brought is understood, embedded and summarised."""
    for one in imports.all_under_way(conn, taking.source):
        if one.forgotten:
            evolved = conn.execute(
                "SELECT DISTINCT category FROM evolutions WHERE user_key = ? AND import = ?",
                (one.user, one.key),
            ).fetchall()
            subcategories.lose_words(
                conn, one.user, [Category(category) for (category,) in evolved]
            )
    counts = imports.finish(conn, taking.source, taking.form, now)
    return ImportResult(
        counts["turns"], counts["memories"], counts["known"], len(taking.heard), counts["forgotten"]
    )


def link(conn: Connection, taking: ImportSession, links: Sequence[Link]) -> None:
    """Sets what memories of an import were replaced by, amend and went into.

    What was said after the export is not there.
    """
    for user_id, name, others in links:
        user = users.find(conn, user_id)
        one = None if user is None else imports.under_way(conn, user, taking.source)
        if one is None:
            raise StoreLocked(imports.ANOTHER)
        for column, other in others.items():
            conn.execute(
                f"""UPDATE memories SET {column} = (SELECT id FROM memories WHERE user_key = ?
                    AND public_id = ?) WHERE public_id = ? AND import = ?""",
                (one.user, other, name, one.key),
            )


def end(conn: Connection, sessions: Sequence[tuple[str, str]]) -> None:
    """Says that sessions are over, given with the ids of their users."""
    for user_id, session in sessions:
        user = users.find(conn, user_id)
        if user is not None:
            summaries_of_sessions.end(conn, user, session)


def _import_of(conn: Connection, taking: ImportSession, user_id: str, now: datetime) -> Import:
    """The user's part of an import, begun with their first record."""
    known = users.find(conn, user_id)
    one = None if known is None else imports.under_way(conn, known, taking.source)
    if one is not None:
        return one
    if taking.taken[user_id]:
        raise StoreLocked(imports.ANOTHER)
    user = users.ensure(conn, user_id)
    imports.check_none(conn, user)
    decision = decisions.record(conn, user, decisions.IMPORTED, BROKEN_OFF, [], now)
    return imports.begin(conn, user, taking.source, decision, now, new_user=known is None)


def _put(
    conn: Connection, one: Import, taking: ImportSession, record: ImportRecord, now: datetime
) -> str:
    """Stores a record unless it is there, or was forgotten and is to stay out.

    Returns what it counts as.
    """
    if _stays_out(conn, one.user, taking, record):
        return (
            "passed over"
            if isinstance(record, UserRecord) and isinstance(record.record, SummaryRecord)
            else "forgotten"
        )
    if isinstance(record, Turn | ExportedTurn):
        turn = _turn_of(record)
        imports.keep_session(conn, one, turn.session_id)
        if not _add_turn(
            conn, turn, now, one, record.order_time if isinstance(record, ExportedTurn) else None
        ):
            return "known"
        if isinstance(record, ExportedTurn) and not record.waiting:
            _understood(conn, one.user, record)
        return "turns"
    match record.record:
        case MemoryRecord() as memory:
            return "memories" if _put_memory(conn, one, memory) else "known"
        case SummaryRecord() as summary:
            return _other(
                _put_summary(conn, one, summary, taking.heard[record.user_id, summary.session_id])
            )
        case EvolutionRecord() as evolution:
            return _other(subcategories.take_in(conn, one, evolution))
        case Weights() as weights:
            return _other(_put_weights(conn, one, weights, now))
        case QualityRecord() as cell:
            return _other(_put_quality(conn, one, cell))


def _stays_out(
    conn: Connection, user: UserKey, taking: ImportSession, record: ImportRecord
) -> bool:
    """Whether what a record holds was forgotten.

    If it is to come back all the same, it is no longer.
    """
    sort: deletion_marks.Sort
    match record:
        case Turn() | ExportedTurn():
            sort, one = "turn", _turn_of(record).id
        case UserRecord(_, MemoryRecord() as memory):
            sort, one = "memory", memory.id
        case UserRecord(_, SummaryRecord() as summary):
            sort, one = "summary", summary.session_id
        case _:
            return False
    if not deletion_marks.has(conn, user, sort, one):
        return sort == "memory" and _read_from_forgotten(conn, user, record)
    if taking.with_forgotten:
        deletion_marks.remove(conn, user, sort, [one])
    return not taking.with_forgotten


def _read_from_forgotten(conn: Connection, user: UserKey, record: ImportRecord) -> bool:
    """Whether a memory has no words but those of turns that were forgotten."""
    match record:
        case UserRecord(_, MemoryRecord(stored_at=None, words=words)) if words:
            return all(deletion_marks.has(conn, user, "turn", one.turn_id) for one in words)
    return False


def _other(added: bool) -> str:
    return "others" if added else "passed over"


def _put_weights(conn: Connection, one: Import, weights: Weights, now: datetime) -> bool:
    """Stores a user's weights, unless some were learnt."""
    if conn.execute("SELECT 1 FROM weights WHERE user_key = ?", (one.user,)).fetchone():
        return False
    layer_weights.put_weights(conn, one.user, weights, now, "taken in")
    (step,) = conn.execute(
        "SELECT max(id) FROM weight_history WHERE user_key = ?", (one.user,)
    ).fetchone()
    imports.keep(conn, one, "weights", "", step)
    return True


def _put_quality(conn: Connection, one: Import, cell: QualityRecord) -> bool:
    added = quality.put(conn, one.user, cell)
    if added:
        imports.keep(
            conn,
            one,
            "quality",
            f"{cell.day} {cell.intent} {cell.layer}",
            QUALITY.dump_python(cell, mode="json"),
        )
    return added


def _user_of(record: ImportRecord) -> str:
    return record.user_id if isinstance(record, Turn | UserRecord) else record.turn.user_id


def _turn_of(record: Turn | ExportedTurn) -> Turn:
    return record.turn if isinstance(record, ExportedTurn) else record


def _understood(conn: Connection, user: UserKey, read: ExportedTurn) -> None:
    """Says that a turn needs no more reading, and what is known of it."""
    key = conn.execute(
        "SELECT id FROM turns WHERE user_key = ? AND public_id = ?", (user, read.turn.id)
    ).fetchone()[0]
    conn.execute("DELETE FROM pending_turns WHERE turn = ?", (key,))
    for entity in ensure(conn, user, read.entities):
        conn.execute(
            "INSERT OR IGNORE INTO turn_entities (entity, turn) VALUES (?, ?)", (entity, key)
        )
    event_times.put(conn, key, read.event_times)
    if read.correction_count:
        conn.execute(
            "INSERT INTO correction_counts (turn, times) VALUES (?, ?)",
            (key, read.correction_count),
        )


def _add_turn(
    conn: Connection, turn: Turn, now: datetime, one: Import, order_time: datetime | None
) -> bool:
    try:
        return turns.add(conn, turn, now, one.key, order_time or turn.spoken_at)
    except InvalidInput as error:
        raise InvalidInput(
            f"The turn {turn.id!r} has other words here, or stands twice in the file. "
            "Give each turn an id of its own."
        ) from error


def _put_memory(conn: Connection, one: Import, record: MemoryRecord) -> bool:
    """Stores a memory as it was, but for its links to others; False if it is there.

    Raises:
        InvalidInput: If its id belongs to another user's memory, or to other words, or it comes
            from a turn that is not there.
    """
    user = one.user
    known = conn.execute(
        "SELECT user_key, text FROM memories WHERE public_id = ?", (record.id,)
    ).fetchone()
    if known is not None:
        if known[0] != user:
            raise InvalidInput(
                f"The memory {record.id} belongs to another user. Import it into a file of its own."
            )
        if known[1] != record.text:
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
    order.note(conn, user, values["order_time"])
    values |= {
        "user_key": user,
        "public_id": record.id,
        "value": normalize_value(record.object),
        "import": one.key,
    }
    key = conn.execute(
        f"""INSERT INTO memories ({", ".join(values)}) VALUES ({", ".join("?" * len(values))})
            RETURNING id""",
        tuple(values.values()),
    ).fetchone()[0]
    if record.merged_into is None or deletion_marks.has(conn, user, "memory", record.merged_into):
        index_entries.add(conn, EvidenceKind.MEMORY, user, key, 0, record.text)
    for entity in ensure(conn, user, record.entities):
        conn.execute(
            "INSERT OR IGNORE INTO memory_entities (entity, memory) VALUES (?, ?)", (entity, key)
        )
    for tag in record.tags:
        imports.keep_tag(conn, one, tag)
    tags.attach(conn, user, key, record.tags, record.stored_at or record.said_at)
    if record.subcategory is not None:
        subcategories.put_in(conn, user, key, record.category, record.subcategory)
    for words in record.words:
        turn = conn.execute(
            "SELECT id FROM turns WHERE user_key = ? AND public_id = ?", (user, words.turn_id)
        ).fetchone()
        if turn is None and deletion_marks.has(conn, user, "turn", words.turn_id):
            continue
        if turn is None:
            raise InvalidInput(
                f"The memory {record.id} comes from the turn {words.turn_id}, which is "
                "not there. Import the whole export."
            )
        conn.execute(
            "INSERT INTO sources (memory, turn, start, stop) VALUES (?, ?, ?, ?)",
            (key, turn[0], words.start, words.stop),
        )
    return True


def _put_summary(conn: Connection, one: Import, record: SummaryRecord, heard: int) -> bool:
    """Stores a session's summary as it was.

    It stays due if more was said in it than the turns that were heard of. False if the session has
    one.

    Raises:
        InvalidInput: If the session is not there.
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
    if conn.execute("SELECT 1 FROM summaries WHERE id = ?", session).fetchone():
        return False
    imports.keep_session(conn, one, record.session_id)
    conn.execute(
        """UPDATE sessions SET summary_due = 0 WHERE id = ?
            AND (SELECT count(*) FROM turns t WHERE t.session = sessions.id) <= ?""",
        (*session, heard),
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
    index_entries.add(conn, EvidenceKind.SUMMARY, user, session[0], session[0], record.text)
    return True
