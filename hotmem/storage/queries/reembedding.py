"""A change of encoder in a database that is in use.

Rows keep the vectors of the former encoder until they are embedded again, the newest first, so one
row number of each kind is the boundary: rows up to it are left. Meanwhile a search compares them
with the query vector of the former encoder, and all others with that of the current one.

    begin ─▶ former_vectors ─▶ following ─▶ advance ─▶ ... ─▶ none left
"""

from collections.abc import Iterable, Sequence
from typing import Final

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries.index_entries import SIGNED, TABLES, unsign
from hotmem.types import EvidenceKind

NONE_LEFT: Final = 0
"""Below every row number."""

TEXTS: Final = {
    EvidenceKind.PASSAGE: """SELECT b.id, coalesce(t.speaker || ': ', '') || substr(t.text,
        b.start + 1, b.stop - b.start)
        FROM passages b JOIN turns t ON t.id = b.turn""",
    EvidenceKind.MEMORY: "SELECT b.id, b.text FROM memories b",
    EvidenceKind.SUMMARY: "SELECT b.id, b.text FROM summaries b",
}
"""Row numbers and the texts to embed; a passage's text begins with its speaker's name."""


def begin(conn: Connection, former: str, encoder: str, *, comparable: bool) -> None:
    """Records that the vectors in the database are of a former encoder.

    If the database is still being embedded again, it has vectors of two encoders, and those of the
    encoder with fewer rows of a kind are deleted: when the encoder is changed back at once, nearly
    all rows have its vectors already.

    Args:
        conn: The writer, within a transaction.
        former: Name and dimension of the former encoder.
        encoder: Name and dimension of the new one.
        comparable: Whether the former vectors can be searched meanwhile, having the same dimension;
            if not, they are deleted at once.
    """
    for kind, table in TABLES.items():
        older = conn.execute(
            "DELETE FROM former_vectors WHERE kind = ? RETURNING encoder, upto", (kind,)
        ).fetchone()
        sql = f"SELECT coalesce(max(id), {NONE_LEFT}) FROM {table}"
        latest, back = int(conn.scalar(sql)), False
        if not comparable:
            _clear(conn, kind, NONE_LEFT, latest)
        elif older:
            back = older[0] == encoder and older[1] >= latest - older[1]
            _clear(conn, kind, *((older[1], latest) if back else (NONE_LEFT, older[1])))
        failed = conn.column("DELETE FROM failures WHERE kind = ? RETURNING key", (kind,))
        conn.execute(f"UPDATE {table} SET held = 0 WHERE id = ANY(?)", ([*map(int, failed)],))
        if comparable and not back:
            conn.execute(
                "INSERT INTO former_vectors (kind, encoder, upto) VALUES (?, ?, ?)",
                (kind, former, latest),
            )


def former_encoder(conn: Connection) -> str | None:
    """Name and dimension of the encoder that some vectors are still of; None if there are none."""
    encoder: str | None = conn.scalar("SELECT encoder FROM former_vectors LIMIT 1")
    return encoder


def ask_boundaries(conn: Connection) -> Pending[dict[EvidenceKind, int]]:
    """The last row with a former vector, of each kind that has one."""
    rows = conn.execute("SELECT kind, upto FROM former_vectors")
    return lambda: {EvidenceKind(kind): upto for kind, upto in rows}


def boundary(conn: Connection, kind: EvidenceKind) -> int:
    """The last row of a kind with a former vector; below every row number if there is none."""
    return ask_boundaries(conn)().get(kind, NONE_LEFT)


def left(conn: Connection) -> int:
    """Number of rows with vectors of the former encoder."""
    counts = (
        f"SELECT count(*) FROM {TABLES[kind]} WHERE vector IS NOT NULL AND id <= {upto}"
        for kind, upto in ask_boundaries(conn)().items()
    )
    return sum(map(conn.scalar, counts))


def following(conn: Connection, limit: int) -> list[tuple[EvidenceKind, int, str]]:
    """The next rows to embed again, all of one kind: kind, row number, text.

    Rows without a vector wait in their own queue.
    """
    for kind, upto in ask_boundaries(conn)().items():
        rows = conn.execute(
            f"""{TEXTS[kind]} WHERE b.id IN (SELECT id FROM {TABLES[kind]} WHERE id <= ?
                AND vector IS NOT NULL ORDER BY id DESC LIMIT ?)
                ORDER BY b.id DESC""",
            (upto, limit),
        ).fetchall()
        if rows:
            return [(kind, key, text) for key, text in rows]
    return []


def advance(conn: Connection, kind: EvidenceKind, keys: Iterable[int]) -> None:
    """Records that these rows, which `following` returned, have the new encoder's vectors."""
    conn.execute(
        "UPDATE former_vectors SET upto = least(upto, ?) WHERE kind = ?", (min(keys) - 1, kind)
    )


def postpone(conn: Connection, kind: EvidenceKind, keys: Sequence[int]) -> None:
    """Deletes the vectors of rows that were skipped; they wait like new rows.

    Cached user indexes are read again.
    """
    for key in keys:
        conn.execute(f"UPDATE {TABLES[kind]} SET vector = NULL WHERE id = ?", (key,))
        conn.execute(
            f"""UPDATE {kind}_entries SET bits = NULL WHERE id = ?
                AND user_key = (SELECT user_key FROM {TABLES[kind]} WHERE id = ?)""",
            (key, key),
        )
        _clear_signs(conn, kind, key - 1, key)


def finish(conn: Connection) -> None:
    """Records that no vector of the former encoder is left, once `following` returns none."""
    conn.execute("DELETE FROM former_vectors")


def text_of(conn: Connection, kind: EvidenceKind, keys: Iterable[int]) -> list[tuple[int, str]]:
    """Row numbers and texts of some rows, in order."""
    return conn.execute(
        f"{TEXTS[kind]} WHERE b.id = ANY(?) ORDER BY b.id", (list(keys),)
    ).fetchall()


def _clear(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Deletes vectors, sign bits and token signs of the rows above one number and up to another."""
    conn.execute(
        f"UPDATE {TABLES[kind]} SET vector = NULL WHERE vector IS NOT NULL AND id > ? AND id <= ?",
        (after, upto),
    )
    unsign(conn, kind, after, upto)
    _clear_signs(conn, kind, after, upto)


def current(conn: Connection) -> str | None:
    """Name and dimension of the database's encoder; None if it has none yet."""
    return ask_current(conn)()


def ask_current(conn: Connection) -> Pending[str | None]:
    """Name and dimension of the database's encoder; None if it has none yet."""
    rows = conn.execute("SELECT value FROM meta WHERE key = 'encoder'")
    return lambda: next((str(value) for (value,) in rows.fetchall()), None)


def dimension(conn: Connection) -> int | None:
    """The dimension of all stored vectors; None if the database has no encoder yet."""
    size = (current(conn) or "").rpartition("/")[2]
    return int(size) if size.isdecimal() else None


def is_current(conn: Connection, encoder: str) -> bool:
    """Whether the database has this encoder, and keeps it until this transaction ends."""
    conn.hold_encoder()
    return current(conn) == encoder


def identified(encoder: str, dimension: int) -> str:
    """The stored form of an encoder's name and dimension."""
    return f"{encoder}/{dimension}"


def _clear_signs(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Removes the signs of the rows of a kind above a row number and up to another."""
    if kind in SIGNED:
        conn.execute(f"DELETE FROM {kind}_signs WHERE {kind} > ? AND {kind} <= ?", (after, upto))
