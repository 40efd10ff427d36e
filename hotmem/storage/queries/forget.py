"""Forgets a target: a memory, an entity, a session, turns, a time span, or a user.

Texts, memories, summaries, entities, vectors, index entries and recalls are deleted (`cascade`).
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from hotmem.errors import DeletionChanged
from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, deletion_marks, subcategories
from hotmem.storage.queries.cascade import delete, rewrite_indexes
from hotmem.storage.queries.times import row_of, span
from hotmem.storage.queries.turns import stored_stems
from hotmem.text.languages import ENGLISH
from hotmem.text.names import NameFinder, name_finder, whole_words
from hotmem.types import Category, ForgetResult, Role, UserKey
from hotmem.types.maintenance import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)

EARLIER_VERSIONS: Final = """
    WITH RECURSIVE earlier (id) AS (
        SELECT id FROM memories WHERE user_key = ? AND public_id = ?
        UNION SELECT m.amends FROM earlier e JOIN memories m ON m.id = e.id
            WHERE m.stored_at IS NOT NULL AND m.amends IS NOT NULL)
    SELECT id FROM earlier"""
"""A memory and its versions before it was edited."""

WITHDRAWN_COPIES: Final = """
    SELECT id FROM memories WHERE user_key = ? AND merged_into = id AND id <> ALL(?)
        AND text IN (SELECT text FROM memories WHERE +user_key = ? AND id = ANY(?))"""
"""Withdrawn memories with the text of others, which no list shows any more."""


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
"""Tables whose deleted rows are counted, in the order of `ForgetResult`."""

MARKED: Final[tuple[tuple[deletion_marks.Sort, str], ...]] = (
    ("turn", "turns"),
    ("memory", "memories"),
    ("summary", "sessions"),
)
"""Kinds of ids that get tombstones, with their tables."""


def count_removed(
    conn: Connection,
    user: UserKey,
    remove: Callable[[Connection, UserKey], None],
    *,
    named: bool = False,
    confirmed: Collection[str] | None = None,
) -> ForgetResult:
    """Runs a deletion and counts the deleted rows.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        remove: Deletes rows of the user.
        named: Whether the result has the deleted ids.
        confirmed: The only ids that may be deleted (`ForgetResult.ids`); None for any.

    Raises:
        DeletionChanged: If something else was deleted; the transaction must be rolled back.
    """
    # Another process may have forgotten the user meanwhile.
    if not conn.exists("SELECT 1 FROM users WHERE id = ?", (user,)):
        return ForgetResult(0, 0, 0)
    before = _counts(conn, user)
    stored = _ids(conn, user) if named or confirmed is not None else None
    remove(conn, user)
    after = _counts(conn, user)
    gone: list[Any] = [count - left for count, left in zip(before, after, strict=True)]
    removed = ForgetResult(*gone)
    if stored is None:
        return removed
    ids = _removed_ids(stored, _ids(conn, user))
    if confirmed is not None and not ids.issubset(confirmed):
        raise DeletionChanged(
            "What would be deleted has changed since it was confirmed, and nothing was deleted. "
            "Preview the deletion again, and have it confirmed."
        )
    return replace(removed, ids=ids)


def words_by_speaker(conn: Connection, user: UserKey) -> tuple[frozenset[str], frozenset[str]]:
    """The whole words of the user's turns and memories, and those of all turns and memories.

    Stored stems are the same where they are English and of a script with spaces.
    """
    english = conn.search.language == ENGLISH
    said: dict[bool, set[str]] = {True: set(), False: set()}
    for role, terms, text in conn.execute(
        """SELECT t.role, p.terms, substr(t.text, p.start + 1, p.stop - p.start)
            FROM passages p JOIN turns t ON t.id = p.turn WHERE p.user_key = ?""",
        (user,),
    ):
        words = stored_stems(terms) if english and terms.isascii() else whole_words(text)
        said[role == Role.USER].update(words)
    for text in conn.column("SELECT text FROM memories WHERE user_key = ?", (user,)):
        said[True] |= whole_words(text)
    return frozenset(said[True]), frozenset(said[True] | said[False])


def remove(conn: Connection, user: UserKey, target: ForgetTarget) -> None:
    """Deletes a target from all tables."""
    match target:
        case ForgetMemory(memory_id):
            remove_memory(conn, user, memory_id)
        case ForgetEntity(name):
            remove_entity(conn, user, name)
        case ForgetSession(session_id):
            remove_session(conn, user, session_id)
        case ForgetTurns(turn_ids):
            remove_turns(conn, user, turn_ids)
        case ForgetSpan(after, before):
            remove_span(conn, user, after, before)
        case ForgetEverything():
            remove_user(conn, user)


def remove_user(conn: Connection, user: UserKey) -> None:
    """Deletes the user."""
    add_tombstones(conn, user)
    deletion_marks.count(conn, user, everything=True)
    conn.execute("DELETE FROM users WHERE id = ?", (user,))
    rewrite_indexes(conn)


def add_tombstones(conn: Connection, user: UserKey) -> None:
    """Adds tombstones of all turns, memories and summaries of a user."""
    for sort, table in MARKED:
        ids = conn.column(f"SELECT public_id FROM {table} WHERE user_key = ?", (user,))
        deletion_marks.add(conn, user, sort, ids)


def remove_memory(conn: Connection, user: UserKey, name: str) -> None:
    """Deletes a memory, its earlier versions and withdrawn copies, and the turns they are from.

    Other memories extracted from the same turns stay.
    """
    deleted = conn.column(EARLIER_VERSIONS, (user, name))
    if not deleted:
        return
    deleted += conn.column(WITHDRAWN_COPIES, (user, deleted, user, deleted))
    turns = conn.column("SELECT DISTINCT turn FROM sources WHERE memory = ANY(?)", (deleted,))
    kept = conn.column(
        "SELECT DISTINCT memory FROM sources WHERE turn = ANY(?) AND memory <> ALL(?)",
        (turns, deleted),
    )
    delete(conn, user, turns, deleted, kept=kept)


def remove_entity(conn: Connection, user: UserKey, name: str) -> None:
    """Deletes all rows whose text contains a name as whole words (`hotmem.text.names`)."""
    matches = name_finder(name)

    def containing(table: str, *columns: str) -> list[int]:
        rows = conn.execute(
            f"SELECT id, {', '.join(columns)} FROM {table} WHERE user_key = ?", (user,)
        )
        return [row[0] for row in rows if any(value and matches(value) for value in row[1:])]

    turns = containing("turns", "text", "speaker")
    memories = containing("memories", "text", "subject", "object", "note", "source")
    sessions = containing("summaries", "text", "topics")
    _delete_rows(conn, user, "tags", containing("tags", "name"))
    changed = conn.execute("SELECT id, changes FROM decisions WHERE user_key = ?", (user,))
    named = [key for key, changes in changed if any(map(matches, decisions.texts(changes)))]
    _delete_rows(conn, user, "decisions", [*containing("decisions", "reason"), *named])
    _delete_rows(conn, user, "recalls", containing("recalls", "query"))
    _delete_rows(conn, user, "entities", containing("entities", "name"))
    for speaker in conn.column("SELECT name FROM speakers WHERE user_key = ?", (user,)):
        if matches(speaker):
            conn.execute("DELETE FROM speakers WHERE user_key = ? AND name = ?", (user, speaker))
    delete(
        conn,
        user,
        turns,
        memories,
        categories=_named_categories(conn, user, matches),
        summaries=sessions,
    )
    subcategories.remove_names(conn, user, matches)


def remove_session(conn: Connection, user: UserKey, name: str) -> None:
    """Deletes a session, its turns, and the memories extracted from them alone."""
    key = row_of(conn, user, "sessions", name)
    if key is None:
        return
    turns = conn.column("SELECT id FROM turns WHERE +user_key = ? AND session = ?", (user, key))
    conn.execute("DELETE FROM recalls WHERE user_key = ? AND session = ?", (user, name))
    delete(conn, user, turns, [])


def remove_turns(conn: Connection, user: UserKey, names: Sequence[str]) -> None:
    """Deletes turns and the memories extracted from them alone."""
    named = "SELECT id FROM turns WHERE user_key = ? AND public_id = ANY(?)"
    delete(conn, user, conn.column(named, (user, list(names))), [])


def remove_span(
    conn: Connection, user: UserKey, after: datetime | None, before: datetime | None
) -> None:
    """Deletes what was said or stored at or after `after` and before `before`."""
    said = (user, *span(after, before))
    turns = conn.column(
        "SELECT id FROM turns WHERE user_key = ? AND spoken_at >= ? AND spoken_at < ?", said
    )
    memories = conn.column(
        "SELECT id FROM memories WHERE user_key = ? AND stored_at >= ? AND stored_at < ?", said
    )
    conn.execute("DELETE FROM recalls WHERE user_key = ? AND asked_at >= ? AND asked_at < ?", said)
    delete(conn, user, turns, memories)


def _named_categories(conn: Connection, user: UserKey, matches: NameFinder) -> list[Category]:
    """Categories with a subcategory whose name or keywords contain a name."""
    rows = conn.execute(
        """SELECT DISTINCT e.category, s.name, s.keywords FROM evolutions e JOIN subcategories s
            ON s.evolution = e.id WHERE e.user_key = ?""",
        (user,),
    )
    found = {
        category
        for category, name, keywords in rows
        if matches(name) or any(map(matches, json.loads(keywords)))
    }
    return [Category(category) for category in sorted(found)]


def _delete_rows(conn: Connection, user: UserKey, table: str, keys: list[int]) -> None:
    conn.execute(f"DELETE FROM {table} WHERE +user_key = ? AND id = ANY(?)", (user, keys))


class _Ids(NamedTuple):
    """Ids of a user's turns, and of the user's memories with those of their source turns."""

    turns: frozenset[str]
    memories: Mapping[str, frozenset[str]]


def _ids(conn: Connection, user: UserKey) -> _Ids:
    turns = conn.column("SELECT public_id FROM turns WHERE user_key = ?", (user,))
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for memory, turn in conn.execute(
        """SELECT m.public_id, t.public_id FROM memories m LEFT JOIN sources x ON x.memory = m.id
            LEFT JOIN turns t ON t.id = x.turn WHERE m.user_key = ?""",
        (user,),
    ):
        sources[memory].update(() if turn is None else (turn,))
    return _Ids(frozenset(turns), {memory: frozenset(spoken) for memory, spoken in sources.items()})


def _removed_ids(before: _Ids, after: _Ids) -> frozenset[str]:
    """Ids of deleted turns, and of deleted memories that were not read from these turns alone.

    A memory that is read from a turn between preview and deletion is no news to who confirmed the
    deletion of the turn.
    """
    turns = before.turns - after.turns
    return turns | {
        memory
        for memory, spoken in before.memories.items()
        if memory not in after.memories and not (spoken and spoken <= turns)
    }


def _counts(conn: Connection, user: UserKey) -> list[int]:
    return [
        conn.scalar(f"SELECT count(*) FROM {table} WHERE user_key = ?", (user,))
        for table in COUNTED
    ]
