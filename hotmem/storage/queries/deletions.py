"""What was forgotten with a time of grace.

Kept as data, out of reach of every search, until it is brought back or the time is over.

    forget ─▶ rows go ─▶ deletions, deleted_rows ─▶ restored: the same rows again, with their ids, vectors, index entries and links
                                                 └▶ the time is over, or the same is forgotten for good: erased

What a deletion changed is written down row by row, as what stood there before and after. To bring
it back, rows that went are put back, parents before children, and columns that were changed get
their former value where nobody has changed them since. What has come in the place of a row
meanwhile (a session that went on, a name that was said again) stays, and takes what belonged to the
row.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from hotmem.storage.database import Connection
from hotmem.storage.queries import deletion_marks, encoders, forget, index_entries, reembedding
from hotmem.storage.queries.index_entries import TABLES, WORDED
from hotmem.storage.queries.jobs import WHEN_IDLE
from hotmem.storage.queries.order import BEHIND, FIRST
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.text.names import name_finder
from hotmem.types import EvidenceKind, ForgetResult, Restorable, UserKey
from hotmem.types.forgetting import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)

Row: TypeAlias = dict[str, Any]
"""Values by column."""

LINKS: Final[Mapping[str, Mapping[str, str]]] = {
    "sessions": {},
    "entities": {},
    "tags": {"merged_into": "tags"},
    "decisions": {},
    "imports": {"decision": "decisions"},
    "import_changes": {"import": "imports"},
    "turns": {"session": "sessions"},
    "passages": {"session": "sessions", "turn": "turns"},
    "passage_signs": {"passage": "passages"},
    "passage_entries": {"session": "sessions", "id": "passages"},
    "pending_turns": {"turn": "turns"},
    "correction_counts": {"turn": "turns"},
    "event_times": {"turn": "turns"},
    "turn_entities": {"entity": "entities", "turn": "turns"},
    "speakers": {},
    "memories": {"superseded_by": "memories", "amends": "memories", "merged_into": "memories"},
    "memory_signs": {"memory": "memories"},
    "memory_entries": {"id": "memories"},
    "memory_entities": {"entity": "entities", "memory": "memories"},
    "memory_tags": {"memory": "memories", "tag": "tags"},
    "sources": {"memory": "memories", "turn": "turns"},
    "summaries": {"id": "sessions"},
    "summary_entries": {"id": "summaries", "session": "sessions"},
    "summary_topics": {"summary": "summaries"},
    "summary_sentences": {"summary": "summaries", "turn": "turns"},
    "decision_memories": {"decision": "decisions", "memory": "memories", "into_memory": "memories"},
    "decision_tags": {"decision": "decisions", "tag": "tags", "into_tag": "tags"},
    "evolutions": {"decision": "decisions"},
    "subcategories": {"evolution": "evolutions"},
    "subcategory_members": {"subcategory": "subcategories", "memory": "memories"},
    "recalls": {},
    "recall_items": {"recall": "recalls"},
    "weights": {},
    "intent_weights": {},
    "learning_state": {},
    "weight_history": {},
    "quality": {},
    "tombstones": {},
}
"""Tables of which rows are kept, parents before children, with the columns that name rows of
others."""

OPTIONAL: Final = frozenset(
    {
        *(("memories", name) for name in ("superseded_by", "amends", "merged_into")),
        *(
            ("tags", "merged_into"),
            ("decision_memories", "into_memory"),
            ("decision_tags", "into_tag"),
        ),
        *(("imports", "decision"), ("evolutions", "decision")),
    }
)
"""Links that may be empty: they are set once all rows are there."""

ALIKE: Final[Mapping[str, tuple[str, ...]]] = {
    "sessions": ("user_key", "public_id"),
    "entities": ("user_key", "key"),
    "tags": ("user_key", "name"),
    "turns": ("user_key", "public_id"),
    "memories": ("public_id",),
    "decisions": ("public_id",),
    "recalls": ("public_id",),
}
"""What tells a row from others besides its number: one that has come in its place since is the
same in these."""

OWNED: Final = (
    *(
        "sessions",
        "turns",
        "memories",
        "entities",
        "tags",
        "evolutions",
        "decisions",
        "imports",
        "recalls",
        "speakers",
    ),
    *("weights", "intent_weights", "learning_state", "weight_history", "quality"),
)
"""Tables whose rows name a user. Rows of the others go with theirs."""


MISDATED: Final = "asked_at < ? OR asked_at > ?"

LONGEST_PAUSE: Final = 366 * 86_400_000_000
"""Microseconds that a clock may have gone on while nobody had the file open."""

VECTORS: Final = frozenset({"vector", "bits", "centroid"})
"""Columns that an encoder made."""

PIECES: Final = ("passage_signs", "memory_signs")
"""Tables whose rows an encoder made."""


class Change(NamedTuple):
    """What became of a row: what stood there before, and after."""

    relation: str
    before: Row | None
    after: Row | None


def keep(
    conn: Connection,
    user: UserKey,
    target: ForgetTarget,
    asked_at: datetime,
    erase_at: datetime,
) -> ForgetResult:
    """Removes a target from all tables and keeps its rows, restorable, until a time.

    Args:
        conn: The writer, within a transaction.
        user: Whose.
        target: What is removed.
        asked_at: When it was asked for, UTC.
        erase_at: When it is erased, UTC.
    """
    with conn.row_changes(LINKS) as seen:
        remove = (
            _all if isinstance(target, ForgetEverything) else partial(forget.remove, target=target)
        )
        removed = forget.counted(conn, user, remove)
    if not removed.anything:
        return removed
    counts = json.dumps(removed.counts())
    (key,) = conn.execute(
        """INSERT INTO deletions (user_key, asked_at, erase_at, counts, encoder)
            VALUES (?, ?, ?, ?, ?) RETURNING id""",
        (user, to_stored(asked_at), to_stored(erase_at), counts, _one_encoder(conn)),
    ).fetchone()
    columns = {relation: _columns(conn, relation) for relation in LINKS}
    conn.executemany(
        """INSERT INTO deleted_rows (deletion, place, relation, before, after)
            VALUES (?, ?, ?, ?, ?)""",
        (
            (key, place, one.relation, _written(one.before), _written(one.after))
            for place, one in enumerate(_settled(columns, seen))
        ),
    )
    return removed


def _one_encoder(conn: Connection) -> str | None:
    """The encoder of all vectors in the file; None while they are of two."""
    return None if reembedding.former_encoder(conn) else encoders.current(conn)


def latest(conn: Connection, user: UserKey) -> Restorable | None:
    """The user's latest deletion that can be brought back."""
    row = conn.execute(
        """SELECT asked_at, erase_at, counts FROM deletions WHERE user_key = ? ORDER BY id DESC
            LIMIT 1""",
        (user,),
    ).fetchone()
    return None if row is None else _restorable(*row)


def restore(conn: Connection, user: UserKey) -> tuple[Restorable, list[str]] | None:
    """Brings the user's latest deletion back.

    Returns:
        What it was, and the words that are there again; None if there is none.
    """
    row = conn.execute(
        """SELECT id, encoder, asked_at, erase_at, counts FROM deletions WHERE user_key = ?
            ORDER BY id DESC LIMIT 1""",
        (user,),
    ).fetchone()
    if row is None:
        return None
    key, encoder, *told = row
    kept = list(_rows(conn, key))
    _Restoring(conn, user, told[0], embedded=encoder == encoders.current(conn)).put_back(kept)
    conn.execute("DELETE FROM deletions WHERE id = ?", (key,))
    texts = [
        change.before["text"]
        for change in kept
        if change.before is not None and change.relation in ("turns", "memories")
    ]
    return _restorable(*told), texts


def erase_due(conn: Connection, now: datetime) -> None:
    """Erases what was kept until now, and users of whom nothing else is there."""
    owners = [
        row[0]
        for row in conn.execute(
            "DELETE FROM deletions WHERE erase_at <= ? RETURNING user_key", (to_stored(now),)
        ).fetchall()
    ]
    for user in dict.fromkeys(owners):
        held = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE user_key = :user" for table in (*OWNED, "deletions")
        )
        conn.execute(f"DELETE FROM users WHERE id = :user AND NOT EXISTS ({held})", {"user": user})


def clock_is_right(conn: Connection, now: datetime) -> bool:
    """Whether nothing tells that a clock is wrong.

    One that was never set, or has gone on by a year since it was last seen to be right.
    """
    row = conn.execute("SELECT value FROM meta WHERE key = 'clock'").fetchone()
    return to_stored(now) >= FIRST and (
        row is None or to_stored(now) <= int(row[0]) + LONGEST_PAUSE
    )


def misdated(conn: Connection, now: datetime) -> bool:
    """Whether something was deleted by a clock that was wrong."""
    return (
        conn.execute(
            f"SELECT 1 FROM deletions WHERE {MISDATED} LIMIT 1", (FIRST, to_stored(now) + BEHIND)
        ).fetchone()
        is not None
    )


def date_anew(conn: Connection, now: datetime) -> None:
    """Begins the time of grace anew for what was deleted by a clock that was wrong."""
    moment = to_stored(now)
    conn.execute(
        f"UPDATE deletions SET erase_at = ? + erase_at - asked_at, asked_at = ? WHERE {MISDATED}",
        (moment, moment, FIRST, moment + BEHIND),
    )


def due(conn: Connection, now: datetime) -> bool:
    """Whether anything is kept longer than it is to be."""
    return (
        conn.execute(
            "SELECT 1 FROM deletions WHERE erase_at <= ? LIMIT 1", (to_stored(now),)
        ).fetchone()
        is not None
    )


def erase_holding(conn: Connection, user: UserKey, target: ForgetTarget) -> None:
    """Erases those of the user's deletions that hold something of what is forgotten for good.

    It is not to be brought back with the rest.
    """
    keys = [
        row[0]
        for row in conn.execute("SELECT id FROM deletions WHERE user_key = ?", (user,)).fetchall()
    ]
    if not keys:
        return
    names = frozenset(target.turn_ids) if isinstance(target, ForgetTurns) else frozenset()
    holds = name_finder(target.name) if isinstance(target, ForgetEntity) else None
    session_id = target.session_id if isinstance(target, ForgetSession) else None
    memory_id = target.memory_id if isinstance(target, ForgetMemory) else None
    timed = isinstance(target, ForgetSpan)
    after, before = (
        (target.after, target.before) if isinstance(target, ForgetSpan) else (None, None)
    )
    live = conn.execute(
        "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?", (user, session_id)
    ).fetchone()
    first = -(2**62) if after is None else to_stored(after)
    last = 2**62 if before is None else to_stored(before)

    def concerns(relation: str, row: Row, sessions: set[int]) -> bool:
        if holds is not None:
            return any(isinstance(value, str) and holds(value) for value in row.values())
        if relation == "turns":
            return (
                row["public_id"] in names
                or row["session"] in sessions
                or (timed and first <= row["spoken_at"] < last)
            )
        return relation == "memories" and (
            row["public_id"] == memory_id
            or (timed and row["stored_at"] is not None and first <= row["stored_at"] < last)
        )

    for key in keys:
        rows = [
            (change.relation, change.before)
            for change in _rows(conn, key)
            if change.before is not None
        ]
        sessions = {
            row["id"]
            for relation, row in rows
            if relation == "sessions" and row["public_id"] == session_id
        } | set(live or ())
        if any(concerns(relation, row, sessions) for relation, row in rows):
            conn.execute("DELETE FROM deletions WHERE id = ?", (key,))


def _all(conn: Connection, user: UserKey) -> None:
    """Removes all of a user's but the user, whose deletions are to stay."""
    for sort, table in forget.MARKED:
        deletion_marks.add(
            conn,
            user,
            sort,
            [
                name
                for (name,) in conn.execute(
                    f"SELECT public_id FROM {table} WHERE user_key = ?", (user,)
                ).fetchall()
            ],
        )
    deletion_marks.count(conn, user, everything=True)
    for table in (*OWNED, "failures"):
        conn.execute(f"DELETE FROM {table} WHERE user_key = ?", (user,))
    forget.rewrite_indexes(conn)


def _columns(conn: Connection, relation: str) -> list[tuple[str, int]]:
    """Names of a table's columns, and their place in its primary key, or 0."""
    return conn.execute(
        f"SELECT name, pk FROM pragma_table_info('{relation}') ORDER BY cid"
    ).fetchall()


def _settled(
    columns: Mapping[str, list[tuple[str, int]]], seen: list[tuple[str, Any, Any]]
) -> Iterator[Change]:
    """What became of each row in the end, parents before children."""
    net: dict[tuple[str, tuple[Any, ...]], tuple[Any, Any]] = {}
    for relation, old, new in seen:
        keyed = [place for place, (_, key) in enumerate(columns[relation]) if key]
        known = old if old is not None else new
        place = relation, tuple(known[key] for key in keyed)
        net[place] = (net[place][0] if place in net else old, new)
    order = {relation: place for place, relation in enumerate(LINKS)}
    for (relation, _), (old, new) in sorted(net.items(), key=lambda one: order[one[0][0]]):
        names = [name for name, _ in columns[relation]]
        before, after = (
            None if row is None else dict(zip(names, row, strict=True)) for row in (old, new)
        )
        if before != after:
            yield Change(relation, before, after)


def _written(row: Row | None) -> str | None:
    """A row as JSON; bytes are in an object of their own."""
    if row is None:
        return None
    return json.dumps(
        {
            name: {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
            for name, value in row.items()
        }
    )


def _read(text: str | None) -> Row | None:
    if text is None:
        return None
    return {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in json.loads(text).items()
    }


def _rows(conn: Connection, deletion: int) -> Iterator[Change]:
    for relation, before, after in conn.execute(
        "SELECT relation, before, after FROM deleted_rows WHERE deletion = ? ORDER BY place",
        (deletion,),
    ).fetchall():
        yield Change(relation, _read(before), _read(after))


def _restorable(asked_at: int, erase_at: int, counts: str) -> Restorable:
    return Restorable(
        from_stored(asked_at), from_stored(erase_at), ForgetResult(**json.loads(counts))
    )


@dataclass(slots=True)
class _Restoring:
    """Rows on their way back.

    Attributes:
        conn: The writer, within a transaction.
        user: Whose they are.
        asked_at: When they went, as the file keeps it.
        embedded: Whether their vectors are of the encoder that the file is searched with; else they
            are embedded anew.
        now_at: Numbers of rows that have come in the place of others, by table and former number.
        there: Rows that are known to be there.
        keys: Columns of each table's primary key.
    """

    conn: Connection
    user: UserKey
    asked_at: int
    embedded: bool
    now_at: dict[tuple[str, int], int] = field(default_factory=dict)
    there: set[tuple[str, int]] = field(default_factory=set)
    keys: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = {
            relation: [name for name, place in _columns(self.conn, relation) if place]
            for relation in LINKS
        }

    def put_back(self, kept: list[Change]) -> None:
        """Puts back what went, gives what was changed its former values, and removes what came."""
        gone = [
            (relation, before)
            for relation, before, after in kept
            if before is not None and after is None
        ]
        for relation, before, after in kept:
            if before is None and after is not None:
                self._remove(relation, after)
        for relation, row in gone:
            self._insert(relation, row)
        for relation, row in gone:
            self._link(relation, row)
        for relation, before, after in kept:
            if before is not None and after is not None:
                self._reset(relation, before, after)
        self._find_words(gone)

    def _remove(self, relation: str, row: Row) -> None:
        """Removes what the deletion had put there."""
        kinds = {f"{kind}_entries": kind for kind in EvidenceKind}
        if relation in kinds:
            index_entries.remove(self.conn, kinds[relation], self.user, row["id"])
            return
        keys = self.keys[relation]
        self.conn.execute(
            f"DELETE FROM {relation} WHERE {' AND '.join(f'{name} = ?' for name in keys)}",
            [row[name] for name in keys],
        )

    def _insert(self, relation: str, row: Row) -> None:
        """Puts a row back, unless another has come in its place, or what it belongs to has gone for good since."""
        former = row.get("id")
        if row.get("import") is not None and not self._is_there("imports", row["import"]):
            return  # what it came with was taken back since
        if not self.embedded:
            if relation in PIECES:
                return
            row = row | dict.fromkeys(VECTORS & row.keys())
        if relation in ALIKE and (known := self._alike(relation, row)) is not None:
            self.now_at[relation, row["id"]] = known
            if relation == "sessions":
                self._join_session(known, row)
            return
        if relation == "passages" and ("turns", row["turn"]) in self.now_at:
            return
        row = {name: None if (relation, name) in OPTIONAL else value for name, value in row.items()}
        for name, target in LINKS[relation].items():
            if (relation, name) not in OPTIONAL:
                row[name] = self._now(target, row[name])
                if row[name] is None:
                    return
        if "held" in row:
            row["held"] = 0  # what had failed is tried again
        if relation == "summaries":
            self._replace_summary(row)
        if relation in ("entities", "recalls") and self._is_there(relation, row["id"]):
            del row["id"]  # numbers of rows that went are given again
        if relation == "evolutions" and row["state"] == "live":
            row["state"] = "past" if self._has_live(row) else "live"
        returning = " RETURNING id" if former is not None else ""
        made = self.conn.execute(
            f"""INSERT OR IGNORE INTO {relation} ({", ".join(row)})
                VALUES ({", ".join("?" * len(row))}){returning}""",
            tuple(row.values()),
        ).fetchone()
        if made is not None and former is not None:
            self.there.add((relation, made[0]))
            if made[0] != former:
                self.now_at[relation, former] = made[0]

    def _alike(self, relation: str, row: Row) -> int | None:
        """The number of the row that has come in the place of one."""
        same = " AND ".join(f"{name} = ?" for name in ALIKE[relation])
        found = self.conn.execute(
            f"SELECT id FROM {relation} WHERE {same}", [row[name] for name in ALIKE[relation]]
        ).fetchone()
        return None if found is None else int(found[0])

    def _now(self, relation: str, former: int) -> int | None:
        """The number of a row that had a number; None if it is not there."""
        key = self.now_at.get((relation, former), former)
        return key if self._is_there(relation, key) else None

    def _is_there(self, relation: str, key: int) -> bool:
        if (relation, key) not in self.there:
            if (
                self.conn.execute(f"SELECT 1 FROM {relation} WHERE id = ?", (key,)).fetchone()
                is None
            ):
                return False
            self.there.add((relation, key))
        return True

    def _has_live(self, row: Row) -> bool:
        live = "SELECT 1 FROM evolutions WHERE user_key = ? AND category = ? AND state = 'live'"
        return self.conn.execute(live, (self.user, row["category"])).fetchone() is not None

    def _join_session(self, key: int, row: Row) -> None:
        """Makes room for what was said in a session before, at the beginning of the one that has gone on under its name."""
        self.conn.execute("UPDATE passages SET position = -1 - position WHERE session = ?", (key,))
        self.conn.execute(
            "UPDATE passages SET position = -1 - position + ? WHERE session = ?",
            (row["passages"], key),
        )
        self.conn.execute(
            """UPDATE sessions SET started_at = min(started_at, :started_at),
                   last_at = max(last_at, :last_at), order_time = max(order_time, :order_time),
                   passages = passages + :passages,
                   summary_due = max(summary_due, :due) WHERE id = :key""",
            {**row, "due": WHEN_IDLE, "key": key},
        )

    def _replace_summary(self, row: Row) -> None:
        """Makes room for a session's former summary.

        It is made anew if the session has gone on since.
        """
        self.conn.execute("DELETE FROM summaries WHERE id = ?", (row["id"],))
        self.conn.execute(
            "UPDATE sessions SET summary_due = max(summary_due, ?) WHERE id = ? AND touched_at > ?",
            (WHEN_IDLE, row["id"], self.asked_at),
        )

    def _link(self, relation: str, row: Row) -> None:
        """Sets the links of a row that may be empty."""
        for name, target in LINKS[relation].items():
            if (
                (relation, name) in OPTIONAL
                and row[name] is not None
                and (now := self._now(target, row[name])) is not None
            ):
                keys = self.keys[relation]
                values = [self._now(LINKS[relation].get(key, relation), row[key]) for key in keys]
                same = " AND ".join(f"{key} = ?" for key in keys)
                self.conn.execute(
                    f"UPDATE {relation} SET {name} = ? WHERE {same} AND {name} IS NULL",
                    (now, *values),
                )

    def _reset(self, relation: str, before: Row, after: Row) -> None:
        """Gives columns their former value, where they still have that of the deletion."""
        keys = self.keys[relation]
        same = " AND ".join(f"{key} = ?" for key in keys)
        for name in before:
            if before[name] == after[name]:
                continue
            target = LINKS[relation].get(name)
            value = (
                before[name]
                if target is None or before[name] is None
                else self._now(target, before[name])
            )
            self.conn.execute(
                f"UPDATE OR IGNORE {relation} SET {name} = ? WHERE {same} AND {name} IS ?",
                (value, *(before[key] for key in keys), after[name]),
            )

    def _find_words(self, gone: list[tuple[str, Row]]) -> None:
        """Makes rows that are back findable by their words."""
        for kind in WORDED:
            relation = f"{kind}_entries"
            for name, row in gone:
                if name == relation and (text := self._text(kind, row["id"])) is not None:
                    index_entries.put_words(self.conn, kind, self.user, row["id"], text)

    def _text(self, kind: EvidenceKind, key: int) -> str | None:
        """The words of a row that is there and has none in the index."""
        if self.conn.search.has_terms(self.conn, kind, key):
            return None
        sql = (
            """SELECT substr(t.text, b.start + 1, b.stop - b.start) FROM passages b JOIN turns t
                ON t.id = b.turn WHERE b.id = ?"""
            if kind is EvidenceKind.PASSAGE
            else f"SELECT text FROM {TABLES[kind]} WHERE id = ?"
        )
        row = self.conn.execute(sql, (key,)).fetchone()
        return None if row is None else str(row[0])
