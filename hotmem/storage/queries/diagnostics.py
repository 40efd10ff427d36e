"""Finds the rows of what a search was expected to return."""

import re
from typing import Final

from hotmem.storage.database import Connection
from hotmem.text.utterance import ascii_lower
from hotmem.types import EvidenceKind, LocatedRow, UserKey

MEMORY: Final = """
    SELECT m.id, m.public_id, m.text, m.vector IS NOT NULL, (SELECT o.public_id FROM memories o
        WHERE o.id = m.merged_into)
    FROM memories m WHERE m.user_key = :user AND {which}
        ORDER BY m.merged_into IS NOT NULL, m.said_at DESC, m.id DESC LIMIT :most"""

PASSAGE: Final = """
    SELECT p.id, t.public_id, substr(t.text, p.start + 1, p.stop - p.start), p.vector IS NOT NULL,
        NULL
    FROM turns t JOIN passages p ON p.turn = t.id WHERE t.user_key = :user AND {which}
        ORDER BY t.spoken_at DESC, p.id LIMIT :most"""


def located(conn: Connection, user: UserKey, expected: str, most: int) -> list[LocatedRow]:
    """The memory or turn of an id, otherwise the latest memories and passages with the words.

    Case is ignored.

    Args:
        conn: A connection.
        user: The user.
        expected: A memory's id, a turn's id, or words in this order.
        most: Rows at most.
    """
    found: list[LocatedRow] = []
    words = "lower({text}) LIKE :sought ESCAPE '\\'"
    said = "substr(t.text, p.start + 1, p.stop - p.start)"
    for memory, passage, sought in (
        ("m.public_id = :sought", "t.public_id = :sought", expected),
        (words.format(text="m.text"), words.format(text=said), _pattern(expected)),
    ):
        for kind, sql, which in (
            (EvidenceKind.MEMORY, MEMORY, memory),
            (EvidenceKind.PASSAGE, PASSAGE, passage),
        ):
            asked = {"user": user, "sought": sought, "most": most - len(found)}
            rows = conn.execute(sql.format(which=which), asked)
            found += [
                LocatedRow(kind, key, name, text, bool(embedded), into)
                for key, name, text, embedded, into in rows
            ]
        if found:
            break
    return found


def _pattern(words: str) -> str:
    """The LIKE pattern of texts in lower case that contain the words."""
    literal = re.sub(r"([%_\\])", r"\\\1", ascii_lower(words))
    return f"%{literal}%"
