"""A change of encoder in a file that is in use.

Rows keep the vectors of the former encoder until they are embedded anew, the newest first, so that
of each kind one row number tells which are left: those up to it. Meanwhile a search compares them
with the query as the former encoder reads it, and all others with the query as the file's encoder
does.

    begin ─▶ former_vectors ─▶ following ─▶ advance ─▶ ... ─▶ none left
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.index_entries import TABLES, unsign
from hotmem.storage.search import token_signs
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
"""Row numbers and texts as they are embedded; a passage's begins with its speaker's name."""


def begin(conn: Connection, former: str, encoder: str, *, comparable: bool) -> None:
    """Says that the vectors in the file are of a former encoder.

    If the file is still being embedded anew, it holds those of two, and of each kind the fewer go:
    when the encoder is changed back at once, nearly all rows have its vectors already.

    Args:
        conn: The writer, within a transaction.
        former: Its name and dimension.
        encoder: Those of the new one.
        comparable: Whether its vectors can be searched meanwhile: they are as long as the new
            encoder's. Others go at once.
    """
    for kind, table in TABLES.items():
        older = conn.execute(
            "SELECT encoder, upto FROM former_vectors WHERE kind = ?", (kind,)
        ).fetchone()
        conn.execute("DELETE FROM former_vectors WHERE kind = ?", (kind,))
        latest, back = _latest(conn, table), False
        if not comparable:
            _clear(conn, kind, NONE_LEFT, latest)
        elif older:
            back = older[0] == encoder and older[1] >= latest - older[1]
            _clear(conn, kind, *((older[1], latest) if back else (NONE_LEFT, older[1])))
        for (key,) in conn.execute("SELECT key FROM failures WHERE kind = ?", (kind,)).fetchall():
            conn.execute(f"UPDATE {table} SET held = 0 WHERE id = ?", (key,))
        conn.execute("DELETE FROM failures WHERE kind = ?", (kind,))
        if comparable and not back:
            conn.execute(
                "INSERT INTO former_vectors (kind, encoder, upto) VALUES (?, ?, ?)",
                (kind, former, latest),
            )


def former_encoder(conn: Connection) -> str | None:
    """Name and dimension of the encoder that some vectors are still of.

    None if all are of the file's.
    """
    row = conn.execute("SELECT encoder FROM former_vectors LIMIT 1").fetchone()
    return None if row is None else str(row[0])


def boundaries(conn: Connection) -> dict[EvidenceKind, int]:
    """Of each kind that has such vectors, the last row that does."""
    return {
        EvidenceKind(kind): upto
        for kind, upto in conn.execute("SELECT kind, upto FROM former_vectors")
    }


def boundary(conn: Connection, kind: EvidenceKind) -> int:
    """The last row of a kind whose vector is of the former encoder.

    Below every row number if there is none.
    """
    return boundaries(conn).get(kind, NONE_LEFT)


def left(conn: Connection) -> int:
    """How many rows have vectors of the former encoder."""
    counts = (
        f"SELECT count(*) FROM {TABLES[kind]} WHERE vector NOT NULL AND id <= {upto}"
        for kind, upto in boundaries(conn).items()
    )
    return sum(conn.execute(count).fetchone()[0] for count in counts)


def following(conn: Connection, limit: int) -> list[tuple[EvidenceKind, int, str]]:
    """The next rows that are embedded anew, all of one kind: their kind, number and text.

    What has no vector waits in its own queue.
    """
    for kind, upto in boundaries(conn).items():
        rows = conn.execute(
            f"""{TEXTS[kind]} WHERE b.id IN (SELECT id FROM {TABLES[kind]} WHERE id <= ?
                AND vector NOT NULL ORDER BY id DESC LIMIT ?)
                ORDER BY b.id DESC""",
            (upto, limit),
        ).fetchall()
        if rows:
            return [(kind, key, text) for key, text in rows]
    return []


def advance(conn: Connection, kind: EvidenceKind, keys: Iterable[int]) -> None:
    """Says that these rows, the next that `following` gave, have the new encoder's vectors."""
    conn.execute(
        "UPDATE former_vectors SET upto = min(upto, ?) WHERE kind = ?", (min(keys) - 1, kind)
    )


def postpone(conn: Connection, kind: EvidenceKind, keys: Sequence[int]) -> None:
    """Takes their vectors from these rows, which have been passed by.

    They wait as new ones do, and an index in memory is read again.
    """
    for key in keys:
        conn.execute(f"UPDATE {TABLES[kind]} SET vector = NULL WHERE id = ?", (key,))
        conn.execute(
            f"""UPDATE {kind}_entries SET bits = NULL WHERE id = ?
                AND user_key = (SELECT user_key FROM {TABLES[kind]} WHERE id = ?)""",
            (key, key),
        )
        token_signs.clear(conn, kind, key - 1, key)


def finish(conn: Connection) -> None:
    """Says that no vectors of the former encoder are left.

    To be called when `following` gives nothing.
    """
    conn.execute("DELETE FROM former_vectors")


def text_of(conn: Connection, kind: EvidenceKind, keys: Iterable[int]) -> list[tuple[int, str]]:
    """Row numbers and texts of some rows, in order."""
    return conn.execute(
        f"{TEXTS[kind]} WHERE b.id IN (SELECT value FROM json_each(?)) ORDER BY b.id",
        (json.dumps(list(keys)),),
    ).fetchall()


def _clear(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Takes vectors, index entries and token signs from the rows above one number and up to another."""
    conn.execute(
        f"UPDATE {TABLES[kind]} SET vector = NULL WHERE vector NOT NULL AND id > ? AND id <= ?",
        (after, upto),
    )
    unsign(conn, kind, after, upto)
    token_signs.clear(conn, kind, after, upto)


def _latest(conn: Connection, table: str) -> int:
    return int(conn.execute(f"SELECT coalesce(max(id), {NONE_LEFT}) FROM {table}").fetchone()[0])
