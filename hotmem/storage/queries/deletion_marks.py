"""What tells later that something was forgotten: marks of ids, and a number for each time.

An import of an older export, or the record of a block that was made before, would bring back what
was forgotten since. A mark is a keyed hash of a user's id and the id of a turn or memory of theirs;
the key is the file's own. It can be asked whether an id is known, and tells nothing else.
"""

import hmac
import secrets
from collections.abc import Collection, Iterable
from typing import Final, Literal, TypeAlias

from hotmem.storage.database import Connection
from hotmem.types import UserKey

Sort: TypeAlias = Literal["turn", "memory", "summary"]
"""Of what an id is; a summary has that of its session."""

BYTES: Final = 16
"""Of a mark: among a thousand million of them two are alike with a chance of 1 to 10^21."""

KEY_BYTES: Final = 32

_KEY: Final = "forgetting key"
_FORGOTTEN: Final = "forgotten"
_ERASED: Final = "erased"
_FILE: Final = UserKey(0)
"""No user's number: what is counted for the whole file."""


def add(conn: Connection, user: UserKey, sort: Sort, ids: Iterable[str]) -> None:
    """Marks ids of the user's as forgotten."""
    key, user_id = _key(conn), _id_of(conn, user)
    conn.executemany(
        "INSERT OR IGNORE INTO tombstones (mark) VALUES (?)",
        [(_mark(key, user_id, sort, one),) for one in ids],
    )


def has(conn: Connection, user: UserKey, sort: Sort, one: str) -> bool:
    """Whether the user had this forgotten."""
    if conn.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None:
        return False
    mark = _mark(_key(conn), _id_of(conn, user), sort, one)
    return conn.execute("SELECT 1 FROM tombstones WHERE mark = ?", (mark,)).fetchone() is not None


def remove(conn: Connection, user: UserKey, sort: Sort, ids: Collection[str]) -> None:
    """Takes marks away: what has them is to be there again."""
    key, user_id = _key(conn), _id_of(conn, user)
    conn.executemany(
        "DELETE FROM tombstones WHERE mark = ?", [(_mark(key, user_id, sort, one),) for one in ids]
    )


def count(conn: Connection, user: UserKey, *, everything: bool) -> None:
    """Counts one more time that something was forgotten."""
    (number,) = conn.execute(
        """INSERT INTO index_revisions VALUES (?, ?, 1) ON CONFLICT DO UPDATE
            SET number = number + 1 RETURNING number""",
        (_FILE, _FORGOTTEN),
    ).fetchone()
    conn.execute(
        "INSERT OR REPLACE INTO index_revisions VALUES (?, ?, ?)", (user, _FORGOTTEN, number)
    )
    if (
        everything
    ):  # the user's number goes with them, and who comes back under the same id has another
        conn.execute(
            "INSERT OR REPLACE INTO index_revisions VALUES (?, ?, ?)", (_FILE, _ERASED, number)
        )


def number(conn: Connection) -> int:
    """How many times something was forgotten in this file."""
    row = conn.execute(
        "SELECT number FROM index_revisions WHERE user_key = ? AND kind = ?", (_FILE, _FORGOTTEN)
    ).fetchone()
    return 0 if row is None else int(row[0])


def forgot_since(conn: Connection, user: UserKey, number: int | None) -> bool:
    """Whether the user had something forgotten since the file's number was this.

    None is before all.
    """
    row = conn.execute(
        """SELECT 1 FROM index_revisions WHERE number > ?
            AND ((user_key = ? AND kind = ?) OR (user_key = ? AND kind = ?)) LIMIT 1""",
        (number or 0, user, _FORGOTTEN, _FILE, _ERASED),
    ).fetchone()
    return row is not None


def _key(conn: Connection) -> bytes:
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    if row is None:
        row = conn.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) RETURNING value",
            (_KEY, secrets.token_hex(KEY_BYTES)),
        ).fetchone()
    return bytes.fromhex(row[0])


def _id_of(conn: Connection, user: UserKey) -> str:
    return str(conn.execute("SELECT public_id FROM users WHERE id = ?", (user,)).fetchone()[0])


def _mark(key: bytes, user_id: str, sort: Sort, one: str) -> bytes:
    return hmac.digest(
        key, "\x1f".join((user_id, sort, one)).encode(errors="surrogatepass"), "sha256"
    )[:BYTES]
