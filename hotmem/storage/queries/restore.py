"""Restores a deletion: its rows, their links, and the former values of changed columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import index_entries
from hotmem.storage.queries.deleted_rows import (
    FOREIGN_KEYS,
    NULLABLE_KEYS,
    SIGN_TABLES,
    VECTOR_COLUMNS,
    Change,
    Row,
)
from hotmem.storage.queries.index_entries import TABLES, WORDED
from hotmem.storage.queries.jobs import WHEN_IDLE
from hotmem.types import EvidenceKind, UserKey

NATURAL_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "sessions": ("user_key", "public_id"),
    "entities": ("user_key", "key"),
    "tags": ("user_key", "name"),
    "turns": ("user_key", "public_id"),
    "memories": ("user_key", "public_id"),
    "decisions": ("user_key", "public_id"),
    "recalls": ("user_key", "public_id"),
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
        returning = " RETURNING id" if former is not None else ""
        inserted = self.conn.execute(
            f"""INSERT INTO {relation} ({", ".join(row)})
                VALUES ({", ".join("?" * len(row))}) ON CONFLICT DO NOTHING{returning}""",
            tuple(row.values()),
        )
        if former is not None and (found := inserted.fetchone()) is not None:
            self.existing.add((relation, found[0]))
            if found[0] != former:
                self.new_keys[relation, former] = found[0]

    def _find_equal(self, relation: str, row: Row) -> int | None:
        """The row number of the row that has replaced this one."""
        keys = NATURAL_KEYS[relation]
        found = self.conn.execute(
            f"SELECT id FROM {relation} WHERE {_equal(keys)}", [row[name] for name in keys]
        ).fetchone()
        return None if found is None else int(found[0])

    def _current_key(self, relation: str, former: int) -> int | None:
        """The present row number of a row by its former one; None if it does not exist."""
        key = self.new_keys.get((relation, former), former)
        return key if self._exists(relation, key) else None

    def _exists(self, relation: str, key: int) -> bool:
        if (relation, key) not in self.existing:
            keys = self.keys[relation]
            found = self.conn.execute(
                f"SELECT 1 FROM {relation} WHERE {_equal(keys)}",
                [self.user if name == "user_key" else key for name in keys],
            ).fetchone()
            if found is None:
                return False
            self.existing.add((relation, key))
        return True

    def _has_live(self, row: Row) -> bool:
        live = "SELECT 1 FROM evolutions WHERE user_key = ? AND category = ? AND state = 'live'"
        return self.conn.execute(live, (self.user, row["category"])).fetchone() is not None

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
        row = self.conn.execute(same, (subcategory["evolution"], subcategory["name"])).fetchone()
        return row is not None

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
