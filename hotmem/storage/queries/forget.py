"""Removes what is to be forgotten, everywhere.

Words, memories, summaries, entities, vectors, indexes and records of use.

Triggers remove the index rows of every passage, memory and summary that goes; SQLite overwrites the
freed bytes (secure_delete), and the full-text indexes are rewritten without the words that are
gone.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, deletion_marks, derived, subcategories
from hotmem.storage.queries.index_entries import WORDED
from hotmem.storage.queries.jobs import WHEN_ENDED
from hotmem.storage.queries.times import to_stored
from hotmem.text.labels import KEYWORD_SEPARATOR
from hotmem.text.names import NameFinder, name_finder
from hotmem.text.stemming import stems
from hotmem.types import Category, ForgetResult, Role, UserKey
from hotmem.types.forgetting import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)

WITH_THEIRS: Final = """
    WITH RECURSIVE going (id) AS (
        SELECT value FROM json_each(?)
        UNION SELECT m.id FROM going g JOIN memories m ON m.merged_into = g.id
        UNION SELECT m.id FROM going g JOIN memories m ON m.amends = g.id)
    SELECT m.id, m.public_id FROM going g JOIN memories m ON m.id = g.id"""
"""Memories, those that went into them and those that amend them: they go together."""

WITH_EARLIER: Final = """
    WITH RECURSIVE earlier (id) AS (
        SELECT id FROM memories WHERE user_key = ? AND public_id = ?
        UNION SELECT m.amends FROM earlier e JOIN memories m ON m.id = e.id
            WHERE m.stored_at NOT NULL AND m.amends NOT NULL)
    SELECT id FROM earlier"""
"""A memory and what it was before it was edited, if it was."""

RECALLS_OF_TURNS: Final = """
    WITH going AS MATERIALIZED (SELECT public_id, text FROM turns
        WHERE id IN (SELECT value FROM json_each(:turns)))
    DELETE FROM recalls WHERE user_key = :user AND (
        query IN (SELECT text FROM going)
        OR id IN (SELECT u.recall FROM recalls r JOIN recall_items u ON u.recall = r.id
            JOIN json_each(u.turns) j
                  WHERE r.user_key = :user AND j.value IN (SELECT public_id FROM going)))"""
"""What was asked with the words of turns, and what was given of them. Ids of turns are each
user's own."""


COUNTED: Final = (
    "turns",
    "memories",
    "sessions",
    "summaries",
    "entities",
    "tags",
    "decisions",
    "recalls",
)
"""Tables of which the receipt tells how many rows went, in its order."""

MARKED: Final[tuple[tuple[deletion_marks.Sort, str], ...]] = (
    ("turn", "turns"),
    ("memory", "memories"),
    ("summary", "sessions"),
)


def counted(
    conn: Connection, user: UserKey, remove: Callable[[Connection, UserKey], None]
) -> ForgetResult:
    """Removes what a function removes, and counts it.

    Args:
        conn: The writer, within a transaction.
        user: Whose.
        remove: Removes something of theirs.
    """
    before = _counts(conn, user)
    remove(conn, user)
    after = _counts(conn, user)
    turns, known, sessions, summaries, names, tags, decided, recalls = (
        held - left for held, left in zip(before, after, strict=True)
    )
    return ForgetResult(turns, known, sessions, summaries, names, tags, decided, recalls)


def words(conn: Connection, user: UserKey) -> tuple[frozenset[str], frozenset[str]]:
    """The stems of what the user said or noted, and of all that is kept of them with what the bot said."""
    said: dict[bool, set[str]] = {True: set(), False: set()}
    for role, terms in conn.execute(
        "SELECT t.role, p.terms FROM passages p JOIN turns t ON t.id = p.turn WHERE p.user_key = ?",
        (user,),
    ):
        said[role == Role.USER].update(derived.read(terms))
    for (text,) in conn.execute("SELECT text FROM memories WHERE user_key = ?", (user,)):
        said[True] |= stems(text)
    return frozenset(said[True]), frozenset(said[True] | said[False])


def remove(conn: Connection, user: UserKey, target: ForgetTarget) -> None:
    """Removes a target, everywhere."""
    match target:
        case ForgetMemory(memory_id):
            memory(conn, user, memory_id)
        case ForgetEntity(name):
            entity(conn, user, name)
        case ForgetSession(session_id):
            session(conn, user, session_id)
        case ForgetTurns(turn_ids):
            turns(conn, user, turn_ids)
        case ForgetSpan(after, before):
            between(conn, user, after, before)
        case ForgetEverything():
            everything(conn, user)


def everything(conn: Connection, user: UserKey) -> None:
    """Removes the user."""
    for sort, table in MARKED:
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
    conn.execute("DELETE FROM users WHERE id = ?", (user,))
    rewrite_indexes(conn)


def memory(conn: Connection, user: UserKey, name: str) -> None:
    """Removes one memory, what it was before it was edited, and the turns whose words it was read from; what else those told stays known."""
    going = [row[0] for row in conn.execute(WITH_EARLIER, (user, name))]
    if not going:
        return
    keys = json.dumps(going)
    turns = [
        row[0]
        for row in conn.execute(
            "SELECT DISTINCT turn FROM sources WHERE memory IN (SELECT value FROM json_each(?))",
            (keys,),
        )
    ]
    kept = [
        row[0]
        for row in conn.execute(
            """SELECT DISTINCT memory FROM sources WHERE turn IN (SELECT value
                   FROM json_each(:turns))
                   AND memory NOT IN (SELECT value FROM json_each(:keys))""",
            {"turns": json.dumps(turns), "keys": keys},
        )
    ]
    _remove(conn, user, turns, going, kept=kept)


def entity(conn: Connection, user: UserKey, name: str) -> None:
    """Removes every turn, memory and record that holds the name as a whole, however it is spelled (`hotmem.text.names`)."""
    holds = name_finder(name)

    def holding(table: str, *columns: str) -> list[int]:
        rows = conn.execute(
            f"SELECT id, {', '.join(columns)} FROM {table} WHERE user_key = ?", (user,)
        )
        return [row[0] for row in rows if any(value and holds(value) for value in row[1:])]

    turns, known = (
        holding("turns", "text", "speaker"),
        holding("memories", "text", "subject", "object", "note", "source"),
    )
    sessions = holding("summaries", "text", "topics")
    _delete(conn, "tags", holding("tags", "name"))
    _delete(conn, "decisions", holding("decisions", "reason"))
    _delete(conn, "recalls", holding("recalls", "query"))
    _delete(conn, "entities", holding("entities", "name"))
    for (speaker,) in conn.execute(
        "SELECT name FROM speakers WHERE user_key = ?", (user,)
    ).fetchall():
        if holds(speaker):
            conn.execute("DELETE FROM speakers WHERE user_key = ? AND name = ?", (user, speaker))
    _remove(
        conn, user, turns, known, named=_named_categories(conn, user, holds), summarised=sessions
    )


def session(conn: Connection, user: UserKey, name: str) -> None:
    """Removes a session with all that was said in it and all that only it told."""
    row = conn.execute(
        "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?", (user, name)
    ).fetchone()
    if row is None:
        return
    turns = [turn[0] for turn in conn.execute("SELECT id FROM turns WHERE session = ?", (row[0],))]
    conn.execute("DELETE FROM recalls WHERE user_key = ? AND session = ?", (user, name))
    _remove(conn, user, turns, [])


def turns(conn: Connection, user: UserKey, names: Sequence[str]) -> None:
    """Removes turns with all that only they told."""
    named = {"user": user, "names": json.dumps(names)}
    _remove(
        conn,
        user,
        _column(
            conn,
            f"SELECT id FROM turns WHERE user_key = :user AND public_id IN {_listed('names')}",
            named,
        ),
        [],
    )


def between(
    conn: Connection, user: UserKey, after: datetime | None, before: datetime | None
) -> None:
    """Removes what was said or noted at or after `after` and before `before`."""
    first = -(2**62) if after is None else to_stored(after)
    last = 2**62 if before is None else to_stored(before)
    span = (user, first, last)
    turns = [
        row[0]
        for row in conn.execute(
            "SELECT id FROM turns WHERE user_key = ? AND spoken_at >= ? AND spoken_at < ?", span
        )
    ]
    noted = [
        row[0]
        for row in conn.execute(
            "SELECT id FROM memories WHERE user_key = ? AND stored_at >= ? AND stored_at < ?", span
        )
    ]
    conn.execute("DELETE FROM recalls WHERE user_key = ? AND asked_at >= ? AND asked_at < ?", span)
    _remove(conn, user, turns, noted)


def memories(conn: Connection, user: UserKey, keys: Sequence[int]) -> list[str]:
    """Removes memories with all that only they had, and what was decided about them.

    What they had replaced stays replaced.

    Returns:
        Ids of those that went, those that had gone into them among them.
    """
    going = conn.execute(WITH_THEIRS, (json.dumps(keys),)).fetchall()
    named = {
        "user": user,
        "keys": json.dumps([key for key, _ in going]),
        "names": json.dumps([name for _, name in going]),
    }
    categories = [
        row[0]
        for row in conn.execute(
            f"SELECT DISTINCT category FROM memories WHERE id IN {_listed('keys')}", named
        )
    ]
    conn.execute(
        f"""DELETE FROM recalls WHERE id IN (
                SELECT r.id FROM recalls r JOIN recall_items u ON u.recall = r.id
                    WHERE r.user_key = :user AND u.memory IN {_listed("names")})""",
        named,
    )
    conn.execute(
        f"""DELETE FROM decisions WHERE id IN (SELECT decision FROM decision_memories
                WHERE memory IN {_listed("keys")}
                UNION SELECT decision FROM decision_memories
                    WHERE into_memory IN {_listed("keys")})""",
        named,
    )
    conn.execute(f"DELETE FROM memories WHERE id IN {_listed('keys')}", named)
    conn.execute(
        """DELETE FROM tags WHERE user_key = :user AND
            NOT EXISTS (SELECT 1 FROM memory_tags x WHERE x.tag = tags.id)""",
        named,
    )
    subcategories.lose_words(conn, user, map(Category, categories))
    return [name for _, name in going]


def _remove(
    conn: Connection,
    user: UserKey,
    turns: Sequence[int],
    noted: Sequence[int],
    *,
    kept: Iterable[int] = (),
    named: Iterable[Category] = (),
    summarised: Iterable[int] = (),
) -> None:
    """Removes turns, memories, and memories left without a turn.

    The summaries of touched sessions are made anew.

    Args:
        conn: The writer, within a transaction.
        user: Whose.
        turns: Row numbers of turns.
        noted: Row numbers of memories.
        kept: Memories that stay, though the turns they were read from go.
        named: Categories whose subcategories are to lose words that none of their memories holds.
        summarised: Sessions whose summaries go, besides those of the turns and memories.
    """
    deletion_marks.count(conn, user, everything=False)
    values = {"user": user, "turns": json.dumps(turns), "noted": json.dumps(noted)}
    touched = [
        *summarised,
        *_column(
            conn,
            f"""SELECT session FROM turns WHERE id IN {_listed("turns")}
            UNION SELECT t.session FROM sources x JOIN turns t ON t.id = x.turn
                WHERE x.memory IN {_listed("noted")}""",
            values,
        ),
    ]
    spared = set(kept)
    told = _column(
        conn, f"SELECT DISTINCT memory FROM sources WHERE turn IN {_listed('turns')}", values
    )
    conn.execute(RECALLS_OF_TURNS, values)
    deletion_marks.add(
        conn,
        user,
        "turn",
        [
            name
            for (name,) in conn.execute(
                f"DELETE FROM turns WHERE id IN {_listed('turns')} RETURNING public_id", values
            ).fetchall()
        ],
    )
    sourceless = _column(
        conn,
        f"""SELECT id FROM memories m WHERE id IN {_listed("told")} AND
            NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id)""",
        {"told": json.dumps([key for key in told if key not in spared])},
    )
    for key in sourceless:
        decisions.give_back(conn, user, key)
    deletion_marks.add(conn, user, "memory", memories(conn, user, [*noted, *sourceless]))
    subcategories.lose_words(conn, user, named)
    sessions = {"sessions": json.dumps(touched), "due": WHEN_ENDED}
    deletion_marks.add(
        conn,
        user,
        "summary",
        [
            name
            for (name,) in conn.execute(
                f"SELECT public_id FROM sessions WHERE id IN {_listed('sessions')}", sessions
            ).fetchall()
        ],
    )
    conn.execute(f"DELETE FROM summaries WHERE id IN {_listed('sessions')}", sessions)
    conn.execute(
        f"UPDATE sessions SET summary_due = :due WHERE id IN {_listed('sessions')}", sessions
    )
    conn.execute(
        f"""DELETE FROM sessions WHERE id IN {_listed("sessions")} AND
            NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = sessions.id)""",
        sessions,
    )
    conn.execute(
        """DELETE FROM entities WHERE user_key = ? AND
               NOT EXISTS (SELECT 1 FROM turn_entities x WHERE x.entity = entities.id)
               AND NOT EXISTS (SELECT 1 FROM memory_entities x WHERE x.entity = entities.id)""",
        (user,),
    )
    conn.execute(
        """DELETE FROM speakers WHERE user_key = ?
            AND name NOT IN (SELECT speaker FROM turns WHERE user_key = ? AND speaker NOT NULL)""",
        (user, user),
    )
    rewrite_indexes(conn)


def _named_categories(conn: Connection, user: UserKey, holds: NameFinder) -> list[Category]:
    """Categories with a subcategory that is named or described by a name."""
    rows = conn.execute(
        """SELECT DISTINCT e.category, s.name, s.keywords FROM evolutions e JOIN subcategories s
            ON s.evolution = e.id WHERE e.user_key = ?""",
        (user,),
    )
    found = {
        category
        for category, name, keywords in rows
        if holds(name.replace(KEYWORD_SEPARATOR, ", ")) or any(map(holds, json.loads(keywords)))
    }
    return [Category(category) for category in sorted(found)]


def _listed(name: str) -> str:
    """What is in the JSON list of that name, as SQL."""
    return f"(SELECT value FROM json_each(:{name}))"


def _column(conn: Connection, sql: str, values: Mapping[str, object]) -> list[int]:
    return [row[0] for row in conn.execute(sql, values)]


def _delete(conn: Connection, table: str, keys: Iterable[int]) -> None:
    conn.executemany(f"DELETE FROM {table} WHERE id = ?", [(key,) for key in keys])


def rewrite_indexes(conn: Connection) -> None:
    """Writes the full-text indexes anew.

    Their rows do not tell which words they held, so that no words can be taken out one by one.
    """
    for kind in WORDED:
        conn.search.compact_terms(conn, kind)


def _counts(conn: Connection, user: UserKey) -> list[int]:
    return [
        conn.execute(f"SELECT count(*) FROM {table} WHERE user_key = ?", (user,)).fetchone()[0]
        for table in COUNTED
    ]
