"""What is known of a user beyond their turns, read and written whole: memories with all their standing, subcategories, summaries, weights, quality.

Vectors and index entries are not among it: they follow from the words.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.store import entries, happenings, learning, quality, subcategories, tags, turns, users
from hotmem.store import summaries as summaries_of_sessions
from hotmem.store.driver import Connection
from hotmem.store.entities import ensure
from hotmem.store.times import from_stored, to_stored
from hotmem.text import plain
from hotmem.types import (
    Category,
    EvidenceKind,
    EvolutionRecord,
    ExportedTurn,
    Imported,
    Kind,
    MemoryRecord,
    Of,
    QualityRecord,
    SummaryRecord,
    SummarySentence,
    TakenIn,
    Turn,
    UserKey,
    Weights,
    Words,
)

PLAIN: Final = [
    "text",
    "subject",
    "relation",
    "object",
    "kind",
    "category",
    "importance",
    "hedged",
    "negated",
    "changes",
    "single",
    "confirmations",
    "accesses",
    "origin",
    "remark",
]
TIMES: Final = ["said_at", "valid_until", "accessed_at", "noted_at"]
LINKS: Final = ["superseded_by", "amends", "merged_into"]
"""Columns of a memory: those that are what they are, times, and the numbers of other memories."""

MEMORY: Final = f"""
    SELECT m.id, m.name, {", ".join(f"m.{column}" for column in (*PLAIN, *TIMES))},
        {", ".join(f"(SELECT o.name FROM memories o WHERE o.id = m.{link})" for link in LINKS)},
        (SELECT json_group_array(name) FROM (
            SELECT DISTINCT g.name FROM memory_tags x JOIN tags o ON o.id = x.tag JOIN tags g ON g.id = coalesce(o.merged_into, o.id)
            WHERE x.memory = m.id ORDER BY g.name)),
        (SELECT json_group_array(e.name) FROM memory_entities x JOIN entities e ON e.id = x.entity WHERE x.memory = m.id),
        (SELECT json_group_array(json_array(t.name, x.start, x.stop)) FROM sources x JOIN turns t ON t.id = x.turn WHERE x.memory = m.id),
        ({subcategories.OF_MEMORY})
    FROM memories m WHERE m.user = ? AND m.id > ?
        AND NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id AND x.turn > ?)
    ORDER BY m.id LIMIT ?"""


def entities_of(conn: Connection, user: UserKey, keys: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Names in each of the turns, by row number."""
    rows = conn.execute(
        """SELECT x.turn, json_group_array(e.name) FROM turn_entities x JOIN entities e ON e.id = x.entity
           WHERE e.user = ? AND x.turn IN (SELECT value FROM json_each(?)) GROUP BY x.turn""",
        (user, json.dumps(list(keys))),
    )
    return {turn: tuple(json.loads(names)) for turn, names in rows}


def waiting_among(conn: Connection, keys: Sequence[int]) -> set[int]:
    """Those of the turns that wait to be understood."""
    rows = conn.execute("SELECT turn FROM pending WHERE turn IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),))
    return {row[0] for row in rows}


def memories(conn: Connection, user: UserKey, after: int, limit: int, last_turn: int) -> list[tuple[int, MemoryRecord]]:
    """The user's next memories after a row number, oldest row first, without those that were read in turns after the last one."""
    found = []
    for row in conn.execute(MEMORY, (user, after, last_turn, limit)):
        key, name, *values = row
        columns = dict(zip((*PLAIN, *TIMES, *LINKS, "tags", "entities", "words", "subcategory"), values, strict=True))
        for moment in TIMES:
            columns[moment] = None if columns[moment] is None else from_stored(columns[moment])
        for flag in ("hedged", "negated", "changes", "single"):
            columns[flag] = bool(columns[flag])
        columns["kind"], columns["category"] = Kind(columns["kind"]), Category(columns["category"])
        columns["tags"], columns["entities"] = tuple(json.loads(columns["tags"])), tuple(json.loads(columns["entities"]))
        columns["words"] = tuple(Words(*words) for words in json.loads(columns["words"]))
        found.append((key, MemoryRecord(id=name, **columns)))
    return found


def summaries(conn: Connection, user: UserKey) -> list[SummaryRecord]:
    """The user's summaries."""
    rows = conn.execute(
        "SELECT y.id, s.name, y.topics, y.text FROM summaries y JOIN sessions s ON s.id = y.id WHERE y.user = ? ORDER BY y.id", (user,)
    )
    found = []
    for key, session, topics, text in rows.fetchall():
        parts: dict[str, list[SummarySentence]] = {}
        sentences = conn.execute(
            "SELECT x.part, x.text, t.name FROM summary_sentences x JOIN turns t ON t.id = x.turn WHERE x.summary = ? ORDER BY x.part, x.place",
            (key,),
        )
        for part, sentence, turn in sentences:
            parts.setdefault(part, []).append(SummarySentence(sentence, turn))
        found.append(SummaryRecord(session, tuple(json.loads(topics)), text, {part: tuple(told) for part, told in parts.items()}))
    return found


def doubts_of(conn: Connection, keys: Sequence[int]) -> dict[int, int]:
    """How often what the turns say was corrected and not confirmed since, by row number, of those that were."""
    rows = conn.execute("SELECT turn, times FROM doubts WHERE times > 0 AND turn IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),))
    return dict(rows.fetchall())


def understood(conn: Connection, user: UserKey, read: ExportedTurn) -> None:
    """Says that a turn needs no more reading, and what is known of it."""
    key = conn.execute("SELECT id FROM turns WHERE user = ? AND name = ?", (user, read.turn.id)).fetchone()[0]
    conn.execute("DELETE FROM pending WHERE turn = ?", (key,))
    for entity in ensure(conn, user, read.entities):
        conn.execute("INSERT OR IGNORE INTO turn_entities (entity, turn) VALUES (?, ?)", (entity, key))
    happenings.put(conn, key, read.happenings)
    if read.doubts:
        conn.execute("INSERT INTO doubts (turn, times) VALUES (?, ?)", (key, read.doubts))


def take_in(conn: Connection, records: Iterable[Imported], now: datetime, tell: Callable[[], None]) -> TakenIn:
    """Stores records in their order; what is there already stays as it is. All of them or, if one cannot be used, none.

    Args:
        conn: The writer, within a transaction.
        records: The records.
        now: The wall clock.
        tell: Called after each.

    Raises:
        InvalidInput: If a record does not fit what is there.
    """
    turns_in = memories_in = known = 0
    links: list[tuple[UserKey, str, Mapping[str, str]]] = []
    heard: Counter[tuple[str, str]] = Counter()
    plain_sessions: set[tuple[str, str]] = set()
    for record in records:
        match record:
            case Turn() | ExportedTurn():
                turn = record.turn if isinstance(record, ExportedTurn) else record
                added = _add_turn(conn, turn, now)
                turns_in, known = turns_in + added, known + (not added)
                heard[turn.user_id, turn.session_id] += 1
                if not isinstance(record, ExportedTurn):
                    plain_sessions.add((turn.user_id, turn.session_id))
                elif added and not record.waiting:
                    understood(conn, users.ensure(conn, turn.user_id), record)
            case Of(user_id, MemoryRecord() as memory):
                user = users.ensure(conn, user_id)
                added = put_memory(conn, user, memory)
                memories_in, known = memories_in + added, known + (not added)
                if added and memory.links:
                    links.append((user, memory.id, memory.links))
            case Of(user_id, SummaryRecord() as summary):
                put_summary(conn, users.ensure(conn, user_id), summary, heard[user_id, summary.session_id])
            case Of(user_id, EvolutionRecord() as evolution):
                subcategories.take_in(conn, users.ensure(conn, user_id), evolution)
            case Of(user_id, Weights() as weights):
                user = users.ensure(conn, user_id)
                if not conn.execute("SELECT 1 FROM weights WHERE user = ?", (user,)).fetchone():
                    learning.put_weights(conn, user, weights, now, "taken in")
            case Of(user_id, QualityRecord() as cell):
                quality.put(conn, users.ensure(conn, user_id), cell)
        tell()
    for user, name, others in links:
        link(conn, user, name, others)
    for user_id, session in plain_sessions:
        summaries_of_sessions.end(conn, users.ensure(conn, user_id), session)
    return TakenIn(turns_in, memories_in, known, len(heard))


def _add_turn(conn: Connection, turn: Turn, now: datetime) -> bool:
    try:
        return turns.add(conn, turn, now)
    except InvalidInput as error:
        raise InvalidInput(f"The turn {turn.id!r} has other words here, or stands twice in the file. Give each turn an id of its own.") from error


def put_memory(conn: Connection, user: UserKey, record: MemoryRecord) -> bool:
    """Stores a memory as it was, but for its links to others; False if it is there.

    Raises:
        InvalidInput: If its id belongs to another user's memory, or to other words, or it comes from a turn that is not there.
    """
    known = conn.execute("SELECT user, text FROM memories WHERE name = ?", (record.id,)).fetchone()
    if known is not None:
        if known[0] != user:
            raise InvalidInput(f"The memory {record.id} belongs to another user. Import it into a file of its own.")
        if known[1] != record.text:
            raise InvalidInput(f"The memory {record.id} has other words here, or stands twice in the file. Forget it, or give it another id.")
        return False
    values: dict[str, Any] = {column: getattr(record, column) for column in PLAIN}
    values |= {moment: None if getattr(record, moment) is None else to_stored(getattr(record, moment)) for moment in TIMES}
    values |= {"user": user, "name": record.id, "value": plain(record.object)}
    key = conn.execute(
        f"INSERT INTO memories ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) RETURNING id", tuple(values.values())
    ).fetchone()[0]
    if record.merged_into is None:
        entries.add(conn, EvidenceKind.MEMORY, user, key, 0, record.text)
    for entity in ensure(conn, user, record.entities):
        conn.execute("INSERT OR IGNORE INTO memory_entities (entity, memory) VALUES (?, ?)", (entity, key))
    tags.attach(conn, user, key, record.tags, record.noted_at or record.said_at)
    if record.subcategory is not None:
        subcategories.put_in(conn, user, key, record.category, record.subcategory)
    for words in record.words:
        turn = conn.execute("SELECT id FROM turns WHERE user = ? AND name = ?", (user, words.turn_id)).fetchone()
        if turn is None:
            raise InvalidInput(f"The memory {record.id} comes from the turn {words.turn_id}, which is not there. Import the whole export.")
        conn.execute("INSERT INTO sources (memory, turn, start, stop) VALUES (?, ?, ?, ?)", (key, turn[0], words.start, words.stop))
    return True


def link(conn: Connection, user: UserKey, name: str, links: Mapping[str, str]) -> None:
    """Sets what a memory was replaced by, amends and went into, by the others' ids; what was said after the export is not there."""
    for column, other in links.items():
        conn.execute(
            f"UPDATE memories SET {column} = (SELECT id FROM memories WHERE user = ? AND name = ?) WHERE user = ? AND name = ?",
            (user, other, user, name),
        )


def put_summary(conn: Connection, user: UserKey, record: SummaryRecord, heard: int) -> None:
    """Stores a session's summary as it was, unless the session has one; it stays due if more was said in it than the turns that were heard of.

    Raises:
        InvalidInput: If the session is not there.
    """
    session = conn.execute("SELECT id FROM sessions WHERE user = ? AND name = ?", (user, record.session_id)).fetchone()
    if session is None:
        raise InvalidInput(f"The summary is of the session {record.session_id}, which is not there. Import the whole export.")
    if conn.execute("SELECT 1 FROM summaries WHERE id = ?", session).fetchone():
        return
    conn.execute(
        "UPDATE sessions SET summary_due = 0 WHERE id = ? AND (SELECT count(*) FROM turns t WHERE t.session = sessions.id) <= ?", (*session, heard)
    )
    conn.execute("INSERT INTO summaries (id, user, topics, text) VALUES (?, ?, ?, ?)", (session[0], user, json.dumps(record.topics), record.text))
    for part, sentences in record.sentences.items():
        for place, sentence in enumerate(sentences):
            turn = conn.execute("SELECT id FROM turns WHERE user = ? AND name = ?", (user, sentence.turn_id)).fetchone()
            if turn is not None:
                conn.execute(
                    "INSERT INTO summary_sentences (summary, part, place, text, turn) VALUES (?, ?, ?, ?, ?)",
                    (session[0], part, place, sentence.text, turn[0]),
                )
    entries.add(conn, EvidenceKind.SUMMARY, user, session[0], session[0], record.text)
