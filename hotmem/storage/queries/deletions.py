"""Deletions that can be restored until their grace period is over.

The rows are kept as data that no search reaches.

    forget ─▶ rows deleted ─▶ deletions, deleted_rows
                                 ├▶ restored: the same rows, with ids, vectors, index entries, links
                                 └▶ erased: the period is over, or the same is forgotten for good

A deletion records each changed row as it was before and after. Restoring it inserts deleted rows
again, parents before children, and resets changed columns that nobody has changed since. A row that
has replaced a deleted one meanwhile (a session that continued, a name mentioned again) stays, and
what belonged to the deleted row is attached to it.
"""

import base64
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, deletion_marks, forget, index_entries, reembedding
from hotmem.storage.queries.cascade import rewrite_indexes
from hotmem.storage.queries.index_entries import TABLES, WORDED
from hotmem.storage.queries.jobs import WHEN_IDLE
from hotmem.storage.queries.times import BEHIND, FIRST, from_stored, to_stored
from hotmem.storage.queries.users import lock_users
from hotmem.storage.schema import TABLES as SCHEMA
from hotmem.text.names import name_finder
from hotmem.types import EvidenceKind, ForgetResult, Restorable, UserKey
from hotmem.types.maintenance import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)

Row: TypeAlias = dict[str, Any]
"""Values by column name."""


NOT_KEPT: Final = frozenset(
    {
        *("meta", "users", "index_revisions", "former_vectors", "leases"),
        *("failures", "audit", "deletions", "deleted_rows"),
    }
)
"""Tables of which no deleted rows are kept: of the program, of its jobs, and of deletions."""

UNDECLARED: Final[Mapping[str, Mapping[str, str]]] = {
    "passages": {"session": "sessions"},
    "passage_entries": {"session": "sessions", "id": "passages"},
    "pending_extractions": {"session": "sessions"},
    "memory_entries": {"id": "memories"},
    "summary_entries": {"id": "summaries", "session": "sessions"},
}
"""Foreign keys that the schema does not declare."""

FOREIGN_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    name: {**table.parents, **UNDECLARED.get(name, {})}
    for name, table in SCHEMA.items()
    if name not in NOT_KEPT
}
"""Tables whose deleted rows are kept, parents before children, with their foreign keys."""

USER_TABLES: Final = tuple(
    name for name in FOREIGN_KEYS if any(one.parent == "users" for one in SCHEMA[name].columns)
)
"""Tables whose rows name a user. Rows of other tables are deleted with theirs."""

NULLABLE_KEYS: Final = frozenset(
    (table.name, column.name)
    for table in SCHEMA.values()
    for column in table.columns
    if column.name in table.parents and not column.required and column.name not in table.primary
)
"""Foreign keys that may be null; they are set once all rows are restored."""


READ_AGAIN: Final = """
    UPDATE pending_turns SET held = 0
    WHERE user_key = ANY(?) AND user_key NOT IN (SELECT user_key FROM deletions)"""
"""Lets the turns be read that wait until nothing of their user's can be brought back."""

VECTOR_COLUMNS: Final = frozenset({"vector", "bits", "centroid", "centre"})
"""Columns computed by an encoder."""


SIGN_TABLES: Final = ("passage_signs", "memory_signs")
"""Tables whose rows are computed by an encoder."""


class Change(NamedTuple):
    """A change of a row: its table, and the row before and after; None where there was no row."""

    relation: str
    before: Row | None
    after: Row | None


def net_changes(
    columns: Mapping[str, list[tuple[str, int]]], seen: list[tuple[str, Any, Any]]
) -> Iterator[Change]:
    """The net change of each row, parents before children."""
    net: dict[tuple[str, tuple[Any, ...]], tuple[Any, Any]] = {}
    for relation, old, new in seen:
        keyed = [place for place, (_, key) in enumerate(columns[relation]) if key]
        known = old if old is not None else new
        place = relation, tuple(known[key] for key in keyed)
        net[place] = (net[place][0] if place in net else old, new)
    order = {relation: place for place, relation in enumerate(FOREIGN_KEYS)}
    for (relation, _), (old, new) in sorted(net.items(), key=lambda one: order[one[0][0]]):
        names = [name for name, _ in columns[relation]]
        before, after = (
            None if row is None else dict(zip(names, row, strict=True)) for row in (old, new)
        )
        if before != after:
            yield Change(relation, before, after)


def to_json(row: Row | None) -> str | None:
    """A row as JSON; bytes are base64 in an object."""
    if row is None:
        return None
    return json.dumps(
        {
            name: {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
            for name, value in row.items()
        }
    )


def from_json(text: str | None) -> Row | None:
    """The row of a stored JSON text."""
    if text is None:
        return None
    return {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in json.loads(text).items()
    }


def load(conn: Connection, user: UserKey, deletion: int) -> Iterator[Change]:
    """The changes of a deletion of the user, in their order.

    Rows have the columns of this engine, also if they were deleted in another and copied.
    """
    owned: dict[str, bool] = {}
    for relation, before, after in conn.execute(
        "SELECT relation, before, after FROM deleted_rows WHERE deletion = ? ORDER BY place",
        (deletion,),
    ).fetchall():
        if relation not in owned:
            owned[relation] = "user_key" in dict(conn.table_columns(relation))
        rows = from_json(before), from_json(after)
        for row in rows:
            if row is not None and owned[relation]:
                row.setdefault("user_key", user)
            elif row is not None:
                row.pop("user_key", None)
        yield Change(relation, *rows)


NATURAL_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    name: SCHEMA[name].unique[0] for name in USER_TABLES if SCHEMA[name].unique
}
"""Columns that identify a row besides its row number: a row that has replaced a deleted one since
has the same values in them."""


@dataclass(slots=True)
class Restorer:
    """Inserts the rows of a deletion again.

    Attributes:
        conn: The writer, within a transaction.
        user: The user.
        asked_at: When the deletion was requested, as stored.
        embedded: Whether the vectors are of the database's encoder; others are computed again.
        new_keys: Row numbers of rows that replaced others, by table and former row number.
        existing: Rows that are known to exist.
        keys: Columns of each table's primary key.
    """

    conn: Connection
    user: UserKey
    asked_at: int
    embedded: bool
    new_keys: dict[tuple[str, int], int] = field(default_factory=dict)
    existing: set[tuple[str, int]] = field(default_factory=set)
    keys: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = {
            relation: [name for name, place in self.conn.table_columns(relation) if place]
            for relation in FOREIGN_KEYS
        }

    def restore(self, changes: list[Change]) -> None:
        """Deletes inserted rows, inserts deleted ones, and resets changed columns."""
        deleted = [
            (relation, before)
            for relation, before, after in changes
            if before is not None and after is None
        ]
        for relation, before, after in changes:
            if before is None and after is not None:
                self._remove(relation, after)
        for relation, row in deleted:
            self._insert(relation, row)
        for relation, row in deleted:
            self._restore_links(relation, row)
        for relation, before, after in changes:
            if before is not None and after is not None:
                self._restore_columns(relation, before, after)
        self._index_terms(deleted)

    def _remove(self, relation: str, row: Row) -> None:
        """Deletes a row that the deletion inserted."""
        kinds = {f"{kind}_entries": kind for kind in EvidenceKind}
        if relation in kinds:
            index_entries.remove(self.conn, self.user, kinds[relation], row["id"])
            return
        keys = self.keys[relation]
        self.conn.execute(
            f"DELETE FROM {relation} WHERE {_equal(keys)}", [row[name] for name in keys]
        )

    def _insert(self, relation: str, row: Row) -> None:
        """Inserts a row, unless another has replaced it or its parent no longer exists."""
        former = row.get("id")
        if row.get("import") is not None and not self._exists("imports", row["import"]):
            return  # its import was rolled back since
        if not self.embedded:
            if relation in SIGN_TABLES:
                return
            row = row | dict.fromkeys(VECTOR_COLUMNS & row.keys())
        if relation in NATURAL_KEYS and (known := self._find_equal(relation, row)) is not None:
            self.new_keys[relation, row["id"]] = known
            if relation == "sessions":
                self._join_session(known, row)
            return
        if relation == "passages" and ("turns", row["turn"]) in self.new_keys:
            return
        row = {
            name: None if (relation, name) in NULLABLE_KEYS else value
            for name, value in row.items()
        }
        for name, target in FOREIGN_KEYS[relation].items():
            if (relation, name) not in NULLABLE_KEYS:
                row[name] = self._current_key(target, row[name])
                if row[name] is None:
                    return
        if "held" in row:
            row["held"] = 0  # failed jobs are retried
        if relation == "summaries":
            self._replace_summary(row)
        if relation in ("entities", "recalls") and self._exists(relation, row["id"]):
            del row["id"]  # the row number was reused
        if relation == "evolutions" and row["state"] == "live":
            row["state"] = "past" if self._has_live(row) else "live"
        key = self.conn.insert(relation, row, anew=False)
        if former is not None and key is not None:
            self.existing.add((relation, key))
            if key != former:
                self.new_keys[relation, former] = key

    def _find_equal(self, relation: str, row: Row) -> int | None:
        """The row number of the row that has replaced this one."""
        keys = NATURAL_KEYS[relation]
        sql = f"SELECT id FROM {relation} WHERE {_equal(keys)}"
        key: int | None = self.conn.scalar(sql, [row[name] for name in keys])
        return key

    def _current_key(self, relation: str, former: int) -> int | None:
        """The present row number of a row by its former one; None if it does not exist."""
        key = self.new_keys.get((relation, former), former)
        return key if self._exists(relation, key) else None

    def _exists(self, relation: str, key: int) -> bool:
        if (relation, key) not in self.existing:
            keys = self.keys[relation]
            values = [self.user if name == "user_key" else key for name in keys]
            if not self.conn.exists(f"SELECT 1 FROM {relation} WHERE {_equal(keys)}", values):
                return False
            self.existing.add((relation, key))
        return True

    def _has_live(self, row: Row) -> bool:
        live = "SELECT 1 FROM evolutions WHERE user_key = ? AND category = ? AND state = 'live'"
        return self.conn.exists(live, (self.user, row["category"]))

    def _join_session(self, key: int, row: Row) -> None:
        """Makes room for the former turns at the beginning of a session that has continued."""
        self.conn.execute(
            "UPDATE passages SET position = -1 - position WHERE user_key = ? AND session = ?",
            (self.user, key),
        )
        self.conn.execute(
            "UPDATE passages SET position = -1 - position + ? WHERE user_key = ? AND session = ?",
            (row["passages"], self.user, key),
        )
        self.conn.execute(
            """UPDATE sessions SET started_at = least(started_at, :started_at),
                   last_at = greatest(last_at, :last_at),
                   order_time = greatest(order_time, :order_time),
                   passages = passages + :passages, summary_due = greatest(summary_due, :due)
                   WHERE user_key = :user_key AND id = :key""",
            {**row, "due": WHEN_IDLE, "key": key},
        )

    def _replace_summary(self, row: Row) -> None:
        """Deletes the session's present summary.

        The restored one becomes due again if the session has continued.
        """
        self.conn.execute(
            "DELETE FROM summaries WHERE user_key = ? AND id = ?", (self.user, row["id"])
        )
        self.conn.execute(
            """UPDATE sessions SET summary_due = greatest(summary_due, ?)
                WHERE user_key = ? AND id = ? AND touched_at > ?""",
            (WHEN_IDLE, self.user, row["id"], self.asked_at),
        )

    def _restore_links(self, relation: str, row: Row) -> None:
        """Sets the nullable foreign keys of a row."""
        for name, target in FOREIGN_KEYS[relation].items():
            if (
                (relation, name) in NULLABLE_KEYS
                and row[name] is not None
                and (now := self._current_key(target, row[name])) is not None
            ):
                keys = self.keys[relation]
                values = [
                    self.user
                    if key == "user_key"
                    else self._current_key(FOREIGN_KEYS[relation].get(key, relation), row[key])
                    for key in keys
                ]
                self.conn.execute(
                    f"UPDATE {relation} SET {name} = ? WHERE {_equal(keys)} AND {name} IS NULL",
                    (now, *values),
                )

    def _restore_columns(self, relation: str, before: Row, after: Row) -> None:
        """Resets columns that still have the value that the deletion gave them."""
        keys = self.keys[relation]
        for name in before:
            if before[name] == after[name]:
                continue
            target = FOREIGN_KEYS[relation].get(name)
            value = (
                before[name]
                if target is None or before[name] is None
                else self._current_key(target, before[name])
            )
            if (relation, name) == ("subcategories", "name") and self._is_taken(before):
                continue
            self.conn.execute(
                f"""UPDATE {relation} SET {name} = ? WHERE {_equal(keys)}
                    AND {name} IS NOT DISTINCT FROM ?""",
                (value, *(before[key] for key in keys), after[name]),
            )

    def _is_taken(self, subcategory: Row) -> bool:
        """Whether another subcategory has the name by now."""
        same = "SELECT 1 FROM subcategories WHERE evolution = ? AND name = ?"
        return self.conn.exists(same, (subcategory["evolution"], subcategory["name"]))

    def _index_terms(self, deleted: list[tuple[str, Row]]) -> None:
        """Adds the terms of restored rows to the full-text indexes."""
        for kind in WORDED:
            relation = f"{kind}_entries"
            for name, row in deleted:
                if name == relation and (text := self._unindexed_text(kind, row["id"])) is not None:
                    index_entries.put_words(self.conn, self.user, kind, row["id"], text)

    def _unindexed_text(self, kind: EvidenceKind, key: int) -> str | None:
        """The text of a row that exists and has no terms in the index."""
        if self.conn.search.has_terms(self.conn, self.user, kind, key):
            return None
        sql = (
            """SELECT t.text, p.start, p.stop FROM passages p JOIN turns t ON t.id = p.turn
                WHERE p.user_key = ? AND p.id = ?"""
            if kind is EvidenceKind.PASSAGE
            else f"SELECT text, 0, length(text) FROM {TABLES[kind]} WHERE user_key = ? AND id = ?"
        )
        row = self.conn.execute(sql, (self.user, key)).fetchone()
        return None if row is None else row[0][row[1] : row[2]]


def _equal(columns: Iterable[str]) -> str:
    """The condition that these columns have the bound values."""
    return " AND ".join(f"{name} = ?" for name in columns)


MISDATED: Final = "asked_at < ? OR asked_at > ?"
"""Condition of deletions made while the clock was wrong."""

LONGEST_PAUSE: Final = 366 * 86_400_000_000
"""Microseconds for which a database may have been closed before the clock is doubted."""


def delete(
    conn: Connection,
    user: UserKey,
    target: ForgetTarget,
    asked_at: datetime,
    erase_at: datetime,
    confirmed: Collection[str] | None = None,
) -> ForgetResult:
    """Deletes a target from all tables, and keeps its rows restorable until a time.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        target: What is deleted.
        asked_at: When it was requested, UTC.
        erase_at: When it is erased, UTC.
        confirmed: The only ids that may be deleted; None for any.

    Raises:
        DeletionChanged: If something else would be deleted.
    """
    with conn.row_changes(FOREIGN_KEYS) as changes:
        everything = isinstance(target, ForgetEverything)
        remove = _remove_all if everything else partial(forget.remove, target=target)
        removed = forget.count_removed(conn, user, remove, confirmed=confirmed)
    if not removed.anything:
        return removed
    again = [new[0] for name, old, new in changes if name == "pending_turns" and new and not old]
    conn.execute("UPDATE pending_turns SET held = 1 WHERE turn = ANY(?)", (again,))  # until erased
    counts = json.dumps(removed.counts())
    key = conn.scalar(
        """INSERT INTO deletions (user_key, asked_at, erase_at, counts, encoder)
            VALUES (?, ?, ?, ?, ?) RETURNING id""",
        (user, to_stored(asked_at), to_stored(erase_at), counts, _sole_encoder(conn)),
    )
    columns = {relation: conn.table_columns(relation) for relation in FOREIGN_KEYS}
    conn.executemany(
        """INSERT INTO deleted_rows (deletion, place, relation, before, after)
            VALUES (?, ?, ?, ?, ?)""",
        (
            (key, position, one.relation, to_json(one.before), to_json(one.after))
            for position, one in enumerate(net_changes(columns, changes))
        ),
    )
    return removed


def _sole_encoder(conn: Connection) -> str | None:
    """The encoder of all vectors in the database; None during a change of encoder."""
    return None if reembedding.former_encoder(conn) else reembedding.current(conn)


def latest(conn: Connection, user: UserKey) -> Restorable | None:
    """The user's latest deletion that can be restored."""
    row = conn.execute(
        """SELECT asked_at, erase_at, counts FROM deletions WHERE user_key = ? ORDER BY id DESC
            LIMIT 1""",
        (user,),
    ).fetchone()
    return None if row is None else _restorable(*row)


def restore(conn: Connection, user: UserKey) -> tuple[Restorable, list[str]] | None:
    """Restores the user's latest deletion.

    Returns:
        The deletion and the restored texts; None if there is none.
    """
    row = conn.execute(
        """SELECT id, encoder, asked_at, erase_at, counts FROM deletions WHERE user_key = ?
            ORDER BY id DESC LIMIT 1""",
        (user,),
    ).fetchone()
    if row is None:
        return None
    key, encoder, *description = row
    changes = list(load(conn, user, key))
    conn.hold_encoder()
    Restorer(conn, user, description[0], embedded=encoder == reembedding.current(conn)).restore(
        changes
    )
    conn.execute("DELETE FROM deletions WHERE user_key = ? AND id = ?", (user, key))
    texts = [
        change.before["text"]
        for change in changes
        if change.before is not None and change.relation in ("turns", "memories")
    ]
    return _restorable(*description), texts


def erase_due(conn: Connection, now: datetime) -> None:
    """Erases deletions whose period is over, and users of whom nothing else is left."""
    moment = to_stored(now)
    _lock_owners(conn, "erase_at <= ?", moment)
    owners = conn.column("DELETE FROM deletions WHERE erase_at <= ? RETURNING user_key", (moment,))
    conn.execute(READ_AGAIN, (owners,))
    for user in dict.fromkeys(owners):
        remaining = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE user_key = :user" for table in (*USER_TABLES, "deletions")
        )
        conn.execute(
            f"DELETE FROM users WHERE id = :user AND NOT EXISTS ({remaining})", {"user": user}
        )


def is_clock_plausible(conn: Connection, now: datetime) -> bool:
    """Whether the clock was set, and has not advanced by a year since it was last plausible."""
    seen = conn.scalar("SELECT value FROM meta WHERE key = 'clock'")
    return to_stored(now) >= FIRST and (seen is None or to_stored(now) <= int(seen) + LONGEST_PAUSE)


def has_misdated(conn: Connection, now: datetime) -> bool:
    """Whether a deletion was made while the clock was wrong."""
    limits = (FIRST, to_stored(now) + BEHIND)
    return conn.exists(f"SELECT 1 FROM deletions WHERE {MISDATED} LIMIT 1", limits)


def redate(conn: Connection, now: datetime) -> None:
    """Restarts the grace period of deletions made while the clock was wrong."""
    moment = to_stored(now)
    _lock_owners(conn, MISDATED, FIRST, moment + BEHIND)
    conn.execute(
        f"UPDATE deletions SET erase_at = ? + erase_at - asked_at, asked_at = ? WHERE {MISDATED}",
        (moment, moment, FIRST, moment + BEHIND),
    )


def any_due(conn: Connection, now: datetime) -> bool:
    """Whether the grace period of a deletion is over."""
    return conn.exists("SELECT 1 FROM deletions WHERE erase_at <= ? LIMIT 1", (to_stored(now),))


def erase_matching(conn: Connection, user: UserKey, target: ForgetTarget) -> None:
    """Erases the user's deletions that hold part of a target that is forgotten for good.

    Restoring them would bring it back.
    """
    keys = conn.column("SELECT id FROM deletions WHERE user_key = ?", (user,))
    names = frozenset(target.turn_ids) if isinstance(target, ForgetTurns) else frozenset()
    matches = name_finder(target.name) if isinstance(target, ForgetEntity) else None
    session_id = target.session_id if isinstance(target, ForgetSession) else None
    memory_id = target.memory_id if isinstance(target, ForgetMemory) else None
    timed = isinstance(target, ForgetSpan)
    after = target.after if isinstance(target, ForgetSpan) else None
    before = target.before if isinstance(target, ForgetSpan) else None
    live = conn.column(
        "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?", (user, session_id)
    )
    first = -(2**62) if after is None else to_stored(after)
    last = 2**62 if before is None else to_stored(before)

    def concerns(relation: str, row: Row, sessions: set[int]) -> bool:
        if matches is not None:
            texts = [value for value in row.values() if isinstance(value, str)]
            if relation == "decisions":
                texts += decisions.texts(row["changes"])
            return any(map(matches, texts))
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
            for change in load(conn, user, key)
            if change.before is not None
        ]
        sessions = {
            row["id"]
            for relation, row in rows
            if relation == "sessions" and row["public_id"] == session_id
        } | set(live)
        if any(concerns(relation, row, sessions) for relation, row in rows):
            conn.execute("DELETE FROM deletions WHERE user_key = ? AND id = ?", (user, key))
    conn.execute(READ_AGAIN, ([user],))


def _lock_owners(conn: Connection, condition: str, *values: int) -> None:
    """Locks the users of the deletions that meet a condition."""
    owners = f"SELECT DISTINCT user_key FROM deletions WHERE {condition}"
    lock_users(conn, conn.column(owners, values))


def _remove_all(conn: Connection, user: UserKey) -> None:
    """Deletes all rows of a user except the user, who owns the deletions."""
    forget.add_tombstones(conn, user)
    deletion_marks.count(conn, user, everything=True)
    for table in (*USER_TABLES, "failures"):
        conn.execute(f"DELETE FROM {table} WHERE user_key = ?", (user,))
    rewrite_indexes(conn)


def _restorable(asked_at: int, erase_at: int, counts: str) -> Restorable:
    return Restorable(
        from_stored(asked_at), from_stored(erase_at), ForgetResult(**json.loads(counts))
    )
