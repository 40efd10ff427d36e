"""Tombstones of forgotten ids, and a counter of deletions.

An import of an older export, or the usage of a block composed before, would bring back what was
forgotten since. A tombstone is a keyed hash of a user's id and the id of a turn or memory; the key
is the database's own. It can only be tested whether an id has one.
"""

import hmac
import secrets
from collections.abc import Collection, Iterable
from typing import Final, Literal, TypeAlias

from hotmem.storage.database import Connection, Pending
from hotmem.types import UserKey

Sort: TypeAlias = Literal["turn", "memory", "summary"]
"""What an id belongs to; a summary has the id of its session."""

BYTES: Final = 16
"""Bytes of a tombstone."""

KEY_BYTES: Final = 32

_KEY: Final = "forgetting key"
_FORGOTTEN: Final = "forgotten"
_ERASED: Final = "erased"
_FILE: Final = UserKey(0)
"""No user's row number: counters of the whole database."""


def add(conn: Connection, user: UserKey, sort: Sort, ids: Iterable[str]) -> None:
    """Adds tombstones of the user's ids."""
    key, user_id = _key(conn), _id_of(conn, user)
    conn.executemany(
        "INSERT INTO tombstones (mark) VALUES (?) ON CONFLICT DO NOTHING",
        [(_mark(key, user_id, sort, one),) for one in ids],
    )


def has(conn: Connection, user: UserKey, sort: Sort, one: str) -> bool:
    """Whether an id of the user has a tombstone."""
    if not conn.exists("SELECT 1 FROM tombstones LIMIT 1"):
        return False
    mark = _mark(_key(conn), _id_of(conn, user), sort, one)
    return conn.exists("SELECT 1 FROM tombstones WHERE mark = ?", (mark,))


def remove(conn: Connection, user: UserKey, sort: Sort, ids: Collection[str]) -> None:
    """Removes tombstones of ids that are to be stored again."""
    key, user_id = _key(conn), _id_of(conn, user)
    conn.executemany(
        "DELETE FROM tombstones WHERE mark = ?", [(_mark(key, user_id, sort, one),) for one in ids]
    )


def count(conn: Connection, user: UserKey, *, everything: bool) -> None:
    """Increments the counter of deletions."""
    number = conn.scalar(
        """INSERT INTO index_revisions (user_key, kind, number) VALUES (?, ?, 1)
            ON CONFLICT (user_key, kind) DO UPDATE SET number = index_revisions.number + 1
                RETURNING number""",
        (_FILE, _FORGOTTEN),
    )
    counters = [(user, _FORGOTTEN)]
    if everything:
        # The user's row is deleted too: one who returns under the same id has another row number.
        counters.append((_FILE, _ERASED))
    for owner, kind in counters:
        conn.upsert("index_revisions", {"user_key": owner, "kind": kind, "number": number})


def number(conn: Connection) -> int:
    """Number of deletions in this database."""
    return ask_number(conn)()


def ask_number(conn: Connection) -> Pending[int]:
    """Number of deletions in this database."""
    rows = conn.execute(
        "SELECT number FROM index_revisions WHERE user_key = ? AND kind = ?", (_FILE, _FORGOTTEN)
    )
    return lambda: int(next(iter(rows.fetchall()), (0,))[0])


def forgot_since(conn: Connection, user: UserKey, number: int | None) -> bool:
    """Whether the user forgot something since the counter had this value; None is before all."""
    return conn.exists(
        """SELECT 1 FROM index_revisions WHERE number > ?
            AND ((user_key = ? AND kind = ?) OR (user_key = ? AND kind = ?)) LIMIT 1""",
        (number or 0, user, _FORGOTTEN, _FILE, _ERASED),
    )


def _key(conn: Connection) -> bytes:
    key = conn.scalar("SELECT value FROM meta WHERE key = ?", (_KEY,))
    if key is None:
        key = conn.scalar(
            """INSERT INTO meta (key, value) VALUES (?, ?)
                ON CONFLICT (key) DO UPDATE SET value = meta.value RETURNING value""",
            (_KEY, secrets.token_hex(KEY_BYTES)),
        )  # another program may have made one meanwhile
    return bytes.fromhex(key)


def _id_of(conn: Connection, user: UserKey) -> str:
    return str(conn.scalar("SELECT public_id FROM users WHERE id = ?", (user,)))


def _mark(key: bytes, user_id: str, sort: Sort, one: str) -> bytes:
    return hmac.digest(
        key, "\x1f".join((user_id, sort, one)).encode(errors="surrogatepass"), "sha256"
    )[:BYTES]
