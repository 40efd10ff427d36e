"""Removes what is to be forgotten, everywhere: words, memories, summaries, entities, vectors, indexes and records of use.

Triggers remove the index rows of every passage, memory and summary that goes; SQLite overwrites the freed bytes
(secure_delete), and the full-text indexes are rewritten without the words that are gone.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from hotmem.store import decisions, subcategories
from hotmem.store.driver import Connection
from hotmem.store.entries import WORDED
from hotmem.store.summaries import WHEN_ENDED
from hotmem.store.times import to_stored
from hotmem.types import Category, Forgotten, UserKey

WITH_THEIRS: Final = """
    WITH RECURSIVE going (id) AS (
        SELECT value FROM json_each(?)
        UNION SELECT m.id FROM going g JOIN memories m ON m.merged_into = g.id
        UNION SELECT m.id FROM going g JOIN memories m ON m.amends = g.id)
    SELECT m.id, m.name FROM going g JOIN memories m ON m.id = g.id"""
"""Memories, those that went into them and those that amend them: they go together."""

WITH_EARLIER: Final = """
    WITH RECURSIVE earlier (id) AS (
        SELECT id FROM memories WHERE user = ? AND name = ?
        UNION SELECT m.amends FROM earlier e JOIN memories m ON m.id = e.id WHERE m.noted_at NOT NULL AND m.amends NOT NULL)
    SELECT id FROM earlier"""
"""A memory and what it was before it was edited, if it was."""


def everything(conn: Connection, user: UserKey) -> Forgotten:
    """Removes the user."""
    removed = Forgotten(*(_count(conn, table, user) for table in ("turns", "memories", "sessions")))
    _remove_memories(conn, user, [row[0] for row in conn.execute("SELECT id FROM memories WHERE user = ?", (user,))])
    for table in ("sessions", "users"):
        conn.execute(f"DELETE FROM {table} WHERE {'user' if table == 'sessions' else 'id'} = ?", (user,))
    _rewrite_indexes(conn)
    return removed


def memory(conn: Connection, user: UserKey, name: str) -> Forgotten:
    """Removes one memory, what it was before it was edited, and the turns whose words it was read from; what else those told stays known."""
    going = [row[0] for row in conn.execute(WITH_EARLIER, (user, name))]
    if not going:
        return Forgotten(0, 0, 0)
    keys = json.dumps(going)
    turns = [row[0] for row in conn.execute("SELECT DISTINCT turn FROM sources WHERE memory IN (SELECT value FROM json_each(?))", (keys,))]
    kept = [
        row[0]
        for row in conn.execute(
            """SELECT DISTINCT memory FROM sources WHERE turn IN (SELECT value FROM json_each(:turns))
                   AND memory NOT IN (SELECT value FROM json_each(:keys))""",
            {"turns": json.dumps(turns), "keys": keys},
        )
    ]
    return _remove(conn, user, turns, going, kept=kept)


def entity(conn: Connection, user: UserKey, name: str) -> Forgotten:
    """Removes every turn, memory and record that holds the name as a whole word, whatever its case."""
    holds = re.compile(rf"(?<!\w){re.escape(name.strip())}(?!\w)", re.IGNORECASE)

    def holding(table: str, *columns: str) -> list[int]:
        rows = conn.execute(f"SELECT id, {', '.join(columns)} FROM {table} WHERE user = ?", (user,))
        return [row[0] for row in rows if any(value and holds.search(value) for value in row[1:])]

    turns, memories = holding("turns", "text", "speaker"), holding("memories", "text", "subject", "object", "remark", "origin")
    _delete(conn, "tags", holding("tags", "name"))
    _delete(conn, "decisions", holding("decisions", "reason"))
    _delete(conn, "recalls", holding("recalls", "query"))
    _delete(conn, "entities", holding("entities", "name"))
    for (speaker,) in conn.execute("SELECT name FROM speakers WHERE user = ?", (user,)).fetchall():
        if holds.search(speaker):
            conn.execute("DELETE FROM speakers WHERE user = ? AND name = ?", (user, speaker))
    return _remove(conn, user, turns, memories)


def session(conn: Connection, user: UserKey, name: str) -> Forgotten:
    """Removes a session with all that was said in it and all that only it told."""
    row = conn.execute("SELECT id FROM sessions WHERE user = ? AND name = ?", (user, name)).fetchone()
    if row is None:
        return Forgotten(0, 0, 0)
    turns = [turn[0] for turn in conn.execute("SELECT id FROM turns WHERE session = ?", (row[0],))]
    conn.execute("DELETE FROM recalls WHERE user = ? AND session = ?", (user, name))
    return _remove(conn, user, turns, [])


def between(conn: Connection, user: UserKey, after: datetime | None, before: datetime | None) -> Forgotten:
    """Removes what was said or noted at or after `after` and before `before`."""
    first = -(2**62) if after is None else to_stored(after)
    last = 2**62 if before is None else to_stored(before)
    span = (user, first, last)
    turns = [row[0] for row in conn.execute("SELECT id FROM turns WHERE user = ? AND spoken_at >= ? AND spoken_at < ?", span)]
    noted = [row[0] for row in conn.execute("SELECT id FROM memories WHERE user = ? AND noted_at >= ? AND noted_at < ?", span)]
    conn.execute("DELETE FROM recalls WHERE user = ? AND asked_at >= ? AND asked_at < ?", span)
    return _remove(conn, user, turns, noted)


def _remove(conn: Connection, user: UserKey, turns: list[int], memories: list[int], kept: Iterable[int] = ()) -> Forgotten:
    """Removes turns, memories, and memories left without a turn; the summaries of touched sessions are made anew."""
    touched = {row[0] for turn in turns for row in conn.execute("SELECT session FROM turns WHERE id = ?", (turn,))}
    touched |= {
        row[0] for key in memories for row in conn.execute("SELECT t.session FROM sources x JOIN turns t ON t.id = x.turn WHERE x.memory = ?", (key,))
    }
    told = {row[0] for turn in turns for row in conn.execute("SELECT memory FROM sources WHERE turn = ?", (turn,))}
    names = [row[0] for turn in turns for row in conn.execute("SELECT name FROM turns WHERE id = ?", (turn,))]
    asked = [row[0] for turn in turns for row in conn.execute("SELECT text FROM turns WHERE id = ?", (turn,))]
    conn.execute("DELETE FROM recalls WHERE user = ? AND query IN (SELECT value FROM json_each(?))", (user, json.dumps(asked)))
    for name in names:
        conn.execute("DELETE FROM recalls WHERE id IN (SELECT u.recall FROM uses u, json_each(u.turns) j WHERE j.value = ?)", (name,))
    _delete(conn, "turns", turns)
    for key in told - set(kept):
        if not conn.execute("SELECT 1 FROM sources WHERE memory = ?", (key,)).fetchone():
            decisions.give_back(conn, user, key)
            memories.append(key)
    gone = _remove_memories(conn, user, memories)
    _delete(conn, "summaries", touched)
    conn.executemany("UPDATE sessions SET summary_due = ? WHERE id = ?", [(WHEN_ENDED, key) for key in touched])
    emptied = [key for key in touched if not conn.execute("SELECT 1 FROM turns WHERE session = ?", (key,)).fetchone()]
    _delete(conn, "sessions", emptied)
    conn.execute(
        """DELETE FROM entities WHERE user = ? AND NOT EXISTS (SELECT 1 FROM turn_entities x WHERE x.entity = entities.id)
               AND NOT EXISTS (SELECT 1 FROM memory_entities x WHERE x.entity = entities.id)""",
        (user,),
    )
    conn.execute("DELETE FROM speakers WHERE user = ? AND name NOT IN (SELECT speaker FROM turns WHERE user = ? AND speaker NOT NULL)", (user, user))
    _rewrite_indexes(conn)
    return Forgotten(len(turns), gone, len(emptied))


def _remove_memories(conn: Connection, user: UserKey, memories: list[int]) -> int:
    """Removes the memories with all that only they had, and what was decided about them; what they had replaced stays replaced."""
    before = conn.execute("SELECT count(*) FROM memories").fetchone()[0]
    going = conn.execute(WITH_THEIRS, (json.dumps(memories),)).fetchall()
    keys, names = json.dumps([key for key, _ in going]), json.dumps([name for _, name in going])
    categories = [row[0] for row in conn.execute("SELECT DISTINCT category FROM memories WHERE id IN (SELECT value FROM json_each(?))", (keys,))]
    tags = [row[0] for row in conn.execute("SELECT DISTINCT tag FROM memory_tags WHERE memory IN (SELECT value FROM json_each(?))", (keys,))]
    conn.execute("DELETE FROM recalls WHERE id IN (SELECT recall FROM uses WHERE memory IN (SELECT value FROM json_each(?)))", (names,))
    conn.execute(
        """DELETE FROM decisions WHERE id IN (SELECT decision FROM decided WHERE memory IN (SELECT value FROM json_each(:keys))
               UNION SELECT decision FROM decided WHERE into_memory IN (SELECT value FROM json_each(:keys)))""",
        {"keys": keys},
    )
    _delete(conn, "memories", memories)
    _delete(conn, "tags", [tag for tag in tags if not conn.execute("SELECT 1 FROM memory_tags WHERE tag = ?", (tag,)).fetchone()])
    subcategories.lose_words(conn, user, map(Category, categories))
    return int(before - conn.execute("SELECT count(*) FROM memories").fetchone()[0])


def _delete(conn: Connection, table: str, keys: Iterable[int]) -> None:
    conn.executemany(f"DELETE FROM {table} WHERE id = ?", [(key,) for key in keys])


def _rewrite_indexes(conn: Connection) -> None:
    for kind in WORDED:
        conn.execute(f"INSERT INTO {kind}_words ({kind}_words) VALUES ('optimize')")


def _count(conn: Connection, table: str, user: UserKey) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {table} WHERE user = ?", (user,)).fetchone()[0])
