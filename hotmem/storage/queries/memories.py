"""Memories: statements with their words, their standing and what they replaced."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import uuid4

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, entities, event_times, forget, index_entries, tags
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Category,
    Correction,
    EvidenceKind,
    Kind,
    KnownSubjects,
    Statement,
    StoredMemory,
    Supersession,
    Understanding,
    UserKey,
)

Revise = Callable[[Statement, datetime, Sequence[StoredMemory]], Supersession]
"""Decides what a statement, said at a time, does to the memories about the same subject and
relation."""

Amend = Callable[[Correction, Sequence[StoredMemory]], tuple[StoredMemory, Statement] | None]
"""Finds the memory that a correction is about and the statement that replaces it."""


class When(NamedTuple):
    """When something was said, by the clock of that time, and its place in the order of what was told."""

    said_at: datetime
    order_time: datetime


class Identify(Protocol):
    """Tells the subjects, as stored, that are certainly the one given; None in doubt."""

    def __call__(
        self, subject: str, known: KnownSubjects, *, denies: bool
    ) -> Collection[str] | None:
        """The subjects; `denies` tells whether the statement denies something."""


def verbatim(subject: str, known: KnownSubjects, *, denies: bool) -> Collection[str]:
    """The subject as it stands and no other."""
    return (subject,)


TURNS = """(SELECT group_concat(t.public_id, char(0)) FROM sources x JOIN turns t ON t.id = x.turn
    WHERE x.memory = m.id)"""
"""The turns a memory comes from: thousands, for what is said every day, and not wanted where it
is only weighed."""

NAMES, POSSESSES = "is called", "has"
"""Relations that tell a subject's name, and what it has."""

SUBJECTS = """
    WITH RECURSIVE relations (relation) AS (
        SELECT min(relation) FROM memories INDEXED BY memories_by_relation WHERE user_key = :user
        UNION ALL
        SELECT (SELECT min(n.relation) FROM memories n INDEXED BY memories_by_relation
            WHERE n.user_key = :user AND n.relation > r.relation)
        FROM relations r WHERE r.relation IS NOT NULL),
    pairs (relation, subject) AS (
        SELECT r.relation, (SELECT min(n.subject COLLATE NOCASE)
            FROM memories n INDEXED BY memories_by_relation
                            WHERE n.user_key = :user AND n.relation = r.relation) FROM relations r
                                WHERE r.relation IS NOT NULL
        UNION ALL
        SELECT p.relation, (SELECT n.subject FROM memories n INDEXED BY memories_by_relation
                            WHERE n.user_key = :user AND n.relation = p.relation AND n.subject
                                COLLATE NOCASE > p.subject
                            ORDER BY n.subject COLLATE NOCASE LIMIT 1) FROM pairs p
                                WHERE p.subject IS NOT NULL)
    SELECT relation, subject FROM pairs WHERE subject <> ''"""
"""Relations and subjects of facts, each pair found by a step in the index: most facts are about
the speaker."""

STEM = 3
"""Letters that a word and its plural share at least: "wife" and "wives" have no more but do not
matter, of whom there is one."""

_OWNED = re.compile(r"['’]s? ")
"""Between an owner and what is owned: "Ana's dog", "Ana's parents' house"."""

RECENT_FOR_CORRECTION = 50
"""A correction is about something said lately: the memories looked at, latest first."""

RECENT_OF_ENTITY = 500
"""Memories of an entity among which the latest are looked for; of 100,000 memories one name is
in seven thousand."""

OF_ENTITY = """
    SELECT memory FROM (SELECT memory FROM memory_entities
        WHERE entity = (SELECT id FROM entities WHERE user_key = ? AND key = ?)
                        ORDER BY memory DESC LIMIT ?)"""


def learn_all(
    conn: Connection,
    understandings: Mapping[int, Understanding],
    revise: Revise,
    amend: Amend,
    identify: Identify,
) -> None:
    """Stores what was understood of some turns, by their row numbers, in this order; see `learn`."""
    for turn, understanding in understandings.items():
        learn(conn, turn, understanding, revise, amend, identify)


def learn(
    conn: Connection,
    turn: int,
    understanding: Understanding,
    revise: Revise,
    amend: Amend,
    identify: Identify = verbatim,
) -> None:
    """Stores what was understood of a turn, in one transaction with the removal of its pending work.

    A turn forgotten in the meantime is left forgotten; one learnt before is not learnt twice.
    """
    row = conn.execute(
        "DELETE FROM pending_turns WHERE turn = ? RETURNING turn", (turn,)
    ).fetchone()
    if not row:
        return
    user, spoken_at, order_time, speaker = conn.execute(
        "SELECT user_key, spoken_at, order_time, speaker FROM turns WHERE id = ?", (turn,)
    ).fetchone()
    said = When(from_stored(spoken_at), from_stored(order_time))
    for entity in entities.ensure(
        conn, user, (*understanding.entities, *_named_rightly(understanding.corrections))
    ):
        conn.execute(
            "INSERT OR IGNORE INTO turn_entities (entity, turn) VALUES (?, ?)", (entity, turn)
        )
    event_times.put(conn, turn, understanding.event_times)
    if understanding.jest:
        _unlearn_turn_before(conn, user, turn)
    corrected: list[Correction] = []
    for correction in understanding.corrections:
        amended = amend(correction, _latest(conn, user, said.order_time))
        if amended:
            old, statement = amended
            new = _insert(conn, user, turn, statement, said, None)
            _end(conn, old.id, said.said_at, new)
            conn.execute(
                """UPDATE memories SET amends = (SELECT id FROM memories WHERE public_id = ?)
                    WHERE id = ?""",
                (old.id, new),
            )
            _doubt_sources(conn, old.id)
            corrected.append(correction)
        elif correction.wrong:
            _doubt_turns(conn, turn, correction.wrong)
    for statement in understanding.statements:
        if any(
            statement.start < correction.stop and correction.start < statement.stop
            for correction in corrected
        ):
            continue
        same: Collection[str] | None = (statement.subject,)
        if statement.subject != speaker and (
            statement.single or statement.negated or statement.ending is not None
        ):
            same = identify(
                statement.subject,
                known_subjects(conn, user, statement.subject),
                denies=statement.negated,
            )
        if (
            same is None
        ):  # it may be about another: then it can only repeat what was said in the same words
            same, statement = (statement.subject,), replace(statement, replaces=False)
        known = about(conn, user, statement, said.order_time, same)
        revision = revise(statement, said.order_time, known)
        if revision.confirms:
            _confirm(conn, revision.confirms, turn, statement, said)
            continue
        new = _insert(conn, user, turn, statement, said, revision.valid_until)
        for ended in revision.ends:
            _end(conn, ended, said.said_at, new)


def known_subjects(conn: Connection, user: UserKey, subject: str) -> KnownSubjects:
    """What the user's current facts are about, as far as it shares a word with this subject.

    In steps as many as there are subjects.
    """
    words = tuple(word[: max(STEM, len(word) - 1)] for word in _own_words(subject))
    owners = [subject[: mark.start()] for mark in _OWNED.finditer(subject)]
    about_it = (
        "m.user_key = ? AND m.relation = ? AND m.valid_until IS NULL AND m.merged_into IS NULL"
    )
    told = f"""SELECT m.subject, m.object, m.single FROM memories m INDEXED BY memories_by_relation
        WHERE {about_it} AND NOT m.negated"""
    held = f"""SELECT 1 FROM memories m INDEXED BY memories_by_relation WHERE {about_it}
        AND m.subject = ? COLLATE NOCASE LIMIT 1"""
    pairs = [
        pair
        for pair in conn.execute(SUBJECTS, {"user": user})
        if any(word.startswith(words) for word in _own_words(pair[1]))
    ]
    owned = (
        row
        for owner in owners
        for row in conn.execute(
            f"{told} AND m.subject = ? COLLATE NOCASE", (user, POSSESSES, owner)
        )
    )
    return KnownSubjects(
        tuple(
            dict.fromkeys(
                other
                for relation, other in pairs
                if conn.execute(held, (user, relation, other)).fetchone()
            )
        ),
        tuple((owner, name, bool(sole)) for owner, name, sole in conn.execute(told, (user, NAMES))),
        tuple((owner, value) for owner, value, _ in owned),
    )


def _own_words(subject: str) -> list[str]:
    """The words of a subject without its first owner's: "son" and "max" of "Ana's son Max"."""
    return re.findall(r"\w+", _OWNED.split(subject.casefold(), maxsplit=1)[-1])


def about(
    conn: Connection,
    user: UserKey,
    statement: Statement,
    order_time: datetime,
    same: Collection[str] = (),
) -> list[StoredMemory]:
    """Memories that a statement told at this time can confirm, end or be ended by, latest first.

    Without the turns they come from.

    They are of its subject or one that is the `same`, whatever the case, and its relation; of its
    value too, unless the relation takes one value at a time or the statement denies: then all that
    held, or was said, later. What holds of other relations is among them where the statement says
    that something is over.
    """
    where = "m.user_key = ? AND m.subject COLLATE NOCASE IN (SELECT value FROM json_each(?))"
    values = (user, json.dumps(sorted({statement.subject, *same})))
    moment = to_stored(order_time)
    if statement.single or statement.negated:
        own = f"""{where} AND m.relation = ? AND (m.valid_until IS NULL OR m.valid_until > ?
            OR m.order_time > ?)"""
        known = _select(
            conn, own, (*values, statement.relation, moment, moment), by="memories_by_relation"
        )
    else:
        known = _select(
            conn,
            f"{where} AND m.relation = ? AND m.value = ?",
            (*values, statement.relation, normalize_value(statement.object)),
            by="memories_by_relation",
        )
    if statement.ending is not None:
        loaded = {statement.relation} if statement.single or statement.negated else set()
        others = json.dumps(sorted({*statement.ending.relations} - loaded))
        held = (
            f"{where} AND m.relation IN (SELECT value FROM json_each(?)) AND m.valid_until IS NULL"
        )
        known += _select(conn, held, (*values, others), by="memories_by_relation")
    return known


def of_user(conn: Connection, user: UserKey, now: datetime, *, past: bool) -> list[StoredMemory]:
    """The user's memories, latest first; those that no longer hold only if `past`."""
    if past:
        return _select(conn, "m.user_key = ?", (user,), turns=TURNS)
    return _select(
        conn,
        """m.user_key = ? AND (m.valid_until IS NULL
            OR (m.valid_until > ? AND m.superseded_by IS NULL))""",
        (user, to_stored(now)),
        turns=TURNS,
    )


def named(conn: Connection, user: UserKey, names: Sequence[str], limit: int) -> list[int]:
    """Row numbers of memories that mention one of the entities, latest first, among those of each entity that were stored last."""
    keys = dict.fromkeys(name.casefold() for name in names)
    if not keys:
        return []
    values = [value for key in keys for value in (user, key, RECENT_OF_ENTITY)]
    rows = conn.execute(
        f"""SELECT id FROM memories WHERE id IN ({" UNION ".join([OF_ENTITY] * len(keys))})
            AND merged_into IS NULL
            ORDER BY order_time DESC, id DESC LIMIT ?""",
        (*values, limit),
    )
    return [row[0] for row in rows]


def touch(conn: Connection, user: UserKey, ids: Sequence[str], now: datetime) -> None:
    """Counts an access of each memory."""
    conn.executemany(
        """UPDATE memories SET accesses = accesses + 1, accessed_at = ? WHERE user_key = ?
            AND public_id = ?""",
        [(to_stored(now), user, memory) for memory in ids],
    )


def _latest(conn: Connection, user: UserKey, until: datetime) -> list[StoredMemory]:
    return _select(
        conn,
        "m.user_key = ? AND m.valid_until IS NULL AND m.order_time <= ?",
        (user, to_stored(until)),
        RECENT_FOR_CORRECTION,
    )


def _select(
    conn: Connection,
    where: str,
    values: Sequence[object],
    limit: int = -1,
    *,
    by: str = "memories_in_order",
    turns: str = "NULL",
) -> list[StoredMemory]:
    """Memories, latest first, found by an index.

    Left to itself SQLite takes the one that spares it the sorting, and reads all of the user's.
    """
    rows = conn.execute(
        f"""SELECT m.public_id, m.text, m.subject, m.relation, m.object, m.kind, m.category,
            m.importance, m.negated, m.changes, m.single,
                m.said_at, m.order_time, m.valid_until, m.confirmations, {turns}
            FROM memories m INDEXED BY {by} WHERE {where} AND m.merged_into IS NULL
                ORDER BY m.order_time DESC, m.id DESC LIMIT ?""",
        (*values, limit),
    )
    return [
        StoredMemory(
            id=row[0],
            text=row[1],
            subject=row[2],
            relation=row[3],
            object=row[4],
            kind=Kind(row[5]),
            category=Category(row[6]),
            importance=row[7],
            negated=bool(row[8]),
            changes=bool(row[9]),
            single=bool(row[10]),
            said_at=from_stored(row[11]),
            order_time=from_stored(row[12]),
            valid_until=None if row[13] is None else from_stored(row[13]),
            confirmations=row[14],
            turn_ids=tuple(row[15].split("\x00")) if row[15] else (),
        )
        for row in rows
    ]


def _insert(
    conn: Connection,
    user: UserKey,
    turn: int,
    statement: Statement,
    said: When,
    valid_until: datetime | None,
) -> int:
    key: int = conn.execute(
        """INSERT INTO memories (user_key, public_id, text, subject, relation, object, value, kind,
               category, importance, hedged, negated, changes,
               single, said_at, order_time, valid_until)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
        (
            user,
            uuid4().hex,
            statement.text,
            statement.subject,
            statement.relation,
            statement.object,
            normalize_value(statement.object),
            statement.kind,
            statement.category,
            statement.importance,
            statement.hedged,
            statement.negated,
            statement.changes,
            statement.single,
            to_stored(said.said_at),
            to_stored(said.order_time),
            None if valid_until is None else to_stored(valid_until),
        ),
    ).fetchone()[0]
    index_entries.add(conn, EvidenceKind.MEMORY, user, key, 0, statement.text)
    tags.attach(conn, user, key, statement.tags, said.said_at)
    _add_source(conn, key, turn, statement)
    for entity in entities.ensure(conn, user, statement.entities):
        conn.execute(
            "INSERT OR IGNORE INTO memory_entities (entity, memory) VALUES (?, ?)", (entity, key)
        )
    return key


def _end(conn: Connection, memory: str, said_at: datetime, successor: int) -> None:
    conn.execute(
        "UPDATE memories SET valid_until = ?, superseded_by = ? WHERE public_id = ?",
        (to_stored(said_at), successor, memory),
    )


def _unlearn_turn_before(conn: Connection, user: UserKey, turn: int) -> None:
    """Removes what the user's turn before this one alone told, and lets hold again what it had ended."""
    told = """
        SELECT x.memory FROM sources x JOIN (
            SELECT t.id FROM turns t JOIN turns n ON n.session = t.session AND n.role = t.role
            WHERE n.id = ? AND t.id < n.id ORDER BY t.id DESC LIMIT 1
        ) last ON last.id = x.turn
        WHERE NOT EXISTS (SELECT 1 FROM sources o WHERE o.memory = x.memory AND o.turn <> x.turn)"""
    conn.execute(
        f"""UPDATE memories SET valid_until = NULL, superseded_by = NULL
            WHERE superseded_by IN ({told})""",
        (turn,),
    )
    keys = [row[0] for row in conn.execute(told, (turn,))]
    for key in keys:
        decisions.give_back(conn, user, key)
    forget.memories(conn, user, keys)


def _named_rightly(corrections: Sequence[Correction]) -> tuple[str, ...]:
    """Names that a correction gives: they should have been known."""
    return tuple(correction.right for correction in corrections if correction.right[:1].isupper())


def _doubt_sources(conn: Connection, memory: str) -> None:
    """Counts that the turns of a memory said, or were heard to say, what was not so."""
    conn.execute(
        """INSERT INTO correction_counts (turn, times) SELECT x.turn, 1 FROM sources x
           JOIN memories m ON m.id = x.memory WHERE m.public_id = ?
           ON CONFLICT (turn) DO UPDATE SET times = times + 1""",
        (memory,),
    )


def _doubt_turns(conn: Connection, turn: int, wrong: str) -> None:
    """The same of the last turns of a session before this one that hold the words taken back, where no memory was read from them."""
    before = conn.execute(
        """SELECT t.id, t.text FROM turns t JOIN turns n ON n.session = t.session WHERE n.id = ?
            AND t.id < n.id ORDER BY t.id DESC LIMIT ?""",
        (turn, RECENT_FOR_CORRECTION),
    ).fetchall()
    held = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
    conn.executemany(
        """INSERT INTO correction_counts (turn, times) VALUES (?, 1) ON CONFLICT (turn) DO UPDATE
            SET times = times + 1""",
        [(key,) for key, text in before if held.search(text)],
    )


def _confirm(conn: Connection, memory: str, turn: int, statement: Statement, said: When) -> None:
    key = conn.execute(
        """UPDATE memories SET confirmations = confirmations + 1, said_at = CASE
               WHEN ? >= order_time THEN ? ELSE said_at END,
               order_time = max(order_time, ?) WHERE public_id = ? RETURNING id""",
        (to_stored(said.order_time), to_stored(said.said_at), to_stored(said.order_time), memory),
    ).fetchone()[0]
    conn.execute(
        """UPDATE correction_counts SET times = times - 1 WHERE times > 0
            AND turn IN (SELECT turn FROM sources WHERE memory = ?)""",
        (key,),
    )
    _add_source(conn, key, turn, statement)


def _add_source(conn: Connection, memory: int, turn: int, statement: Statement) -> None:
    conn.execute(
        "INSERT OR IGNORE INTO sources (memory, turn, start, stop) VALUES (?, ?, ?, ?)",
        (memory, turn, statement.start, statement.stop),
    )
