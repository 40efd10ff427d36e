"""Full-text search: BM25 over stemmed words, within one user's rows."""

from collections.abc import Sequence

from hotmem.store.driver import Connection
from hotmem.store.vectors import TABLES
from hotmem.types import EvidenceKind, UserKey


def search(conn: Connection, kind: EvidenceKind, user: UserKey, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Rows that hold any of the terms, best first.

    Args:
        conn: A connection.
        kind: What to search.
        user: Whose rows.
        terms: Words or phrases; no character in them is an operator.
        limit: Rows at most.

    Returns:
        Row numbers and BM25 scores (FTS5's k1 = 1.2, b = 0.75; larger is better).
    """
    match = " OR ".join(filter(None, map(quoted, terms)))
    if not match:
        return []
    rows = conn.execute(
        f"""SELECT n.id, n.score
            FROM (SELECT rowid AS id, -bm25({kind}_words, 0.0, 1.0) AS score FROM {kind}_words WHERE {kind}_words MATCH ?
                  ORDER BY score DESC LIMIT ?) n
            JOIN {TABLES[kind]} b ON b.id = n.id WHERE b.user = ? ORDER BY n.score DESC""",
        (f"owner : u{user} AND - owner : ({match})", limit, user),
    )
    return [(key, score) for key, score in rows]


def quoted(term: str) -> str:
    """The term as an FTS5 string, or "" if it holds nothing to search for."""
    kept = term.replace('"', " ").replace("\x00", " ").strip()
    return f'"{kept}"' if any(character.isalnum() for character in kept) else ""
