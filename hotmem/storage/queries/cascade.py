"""Deletes turns and memories with everything that depends on them.

Triggers delete the index rows of every passage, memory and summary that goes. SQLite overwrites
freed bytes (`secure_delete`), and the full-text indexes are rewritten without the deleted words.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, deletion_marks, derivation, effects, subcategories
from hotmem.storage.queries.effects import Group
from hotmem.storage.queries.index_entries import WORDED
from hotmem.storage.queries.jobs import WHEN_ENDED
from hotmem.types import Category, UserKey

MERGED_AND_AMENDING: Final = """
    WITH RECURSIVE deleted (id, public_id) AS (
        SELECT id, public_id FROM memories WHERE +user_key = :user AND id = ANY(:keys)
        UNION SELECT m.id, m.public_id FROM deleted g JOIN memories m
            ON +m.user_key = :user AND (m.merged_into = g.id OR m.amends = g.id))
    SELECT id, public_id FROM deleted"""
"""Memories with those merged into them and those that amend them."""


CHANGES_OF_MEMORIES: Final = """
    SELECT d.changes FROM decision_memories x JOIN decisions d ON d.id = x.decision
    WHERE x.memory = ANY(:keys) AND +d.user_key = :user AND d.changes IS NOT NULL"""
"""Recorded changes of memories, which tell their former categories."""


RECALLS_OF_TURNS: Final = """
    WITH deleted AS MATERIALIZED (SELECT public_id, text FROM turns
        WHERE +user_key = :user AND id = ANY(:turns))
    DELETE FROM recalls WHERE user_key = :user AND (
        query IN (SELECT text FROM deleted)
        OR id IN (SELECT u.recall FROM recalls r JOIN recall_items u ON u.recall = r.id
            CROSS JOIN json_each(u.turns) AS j
                  WHERE r.user_key = :user AND j.value IN (SELECT public_id FROM deleted)))"""
"""Recalls whose query is the text of one of the turns, or whose block contained one."""


FIRST_SAID: Final = """
    SELECT x.memory FROM sources x JOIN memories m ON m.id = x.memory
    WHERE +m.user_key = :user AND m.stored_at IS NULL AND x.memory = ANY(:affected)
        AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.amends = m.id OR o.merged_into = m.id)
    GROUP BY x.memory HAVING min(x.turn) = ANY(:turns)"""
"""Memories that one of the turns said first, in its words."""

READ_AGAIN: Final = """
    INSERT INTO pending_turns (turn, user_key) SELECT DISTINCT turn, CAST(:user AS BIGINT)
    FROM sources WHERE memory = ANY(:memories) OR memory IN (SELECT id FROM memories
        WHERE +user_key = :user AND amends = ANY(:orphans)) ON CONFLICT DO NOTHING"""
"""Has the turns read again that repeated or corrected memories whose words are forgotten."""


def delete_memories(
    conn: Connection, user: UserKey, keys: Sequence[int], affected: Collection[Group] = ()
) -> list[str]:
    """Deletes memories with everything that belongs to them alone, and the decisions about them.

    What is left is derived again, as if they had never been.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        keys: Row numbers of the memories.
        affected: More that has to be derived again.

    Returns:
        Public ids of the deleted memories, including those merged into them.
    """
    deleted = conn.execute(MERGED_AND_AMENDING, {"user": user, "keys": list(keys)}).fetchall()
    deleted_keys = [key for key, _ in deleted]
    values = {"user": user, "keys": deleted_keys, "names": [name for _, name in deleted]}
    categories = conn.column(
        "SELECT DISTINCT category FROM memories WHERE +user_key = :user AND id = ANY(:keys)", values
    )
    for changes in conn.column(CHANGES_OF_MEMORIES, values):
        categories += decisions.former_categories(changes)
    conn.execute(
        """DELETE FROM recalls WHERE user_key = :user AND id IN (
                SELECT r.id FROM recalls r JOIN recall_items u ON u.recall = r.id
                    WHERE r.user_key = :user AND u.memory = ANY(:names))""",
        values,
    )
    groups = {*affected, *effects.take_out(conn, user, deleted_keys)}
    conn.execute(
        """DELETE FROM decisions WHERE +user_key = :user AND id IN (
                SELECT decision FROM decision_memories WHERE memory = ANY(:keys)
                UNION SELECT decision FROM decision_memories WHERE into_memory = ANY(:keys))""",
        values,
    )
    conn.execute("DELETE FROM memories WHERE +user_key = :user AND id = ANY(:keys)", values)
    derivation.rederive(conn, user, groups)
    conn.execute(
        """DELETE FROM tags WHERE user_key = :user AND
            NOT EXISTS (SELECT 1 FROM memory_tags x WHERE x.tag = tags.id)""",
        values,
    )
    subcategories.remove_stale_words(conn, user, map(Category, dict.fromkeys(categories)))
    return [name for _, name in deleted]


def delete(
    conn: Connection,
    user: UserKey,
    turns: Sequence[int],
    memories: Sequence[int],
    *,
    kept: Collection[int] = (),
    categories: Iterable[Category] = (),
    summaries: Iterable[int] = (),
) -> None:
    """Deletes turns, memories, and memories with their words or left without a turn.

    A turn that repeated such a memory is read again. Summaries of the affected sessions are deleted
    and become due again.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        turns: Row numbers of turns.
        memories: Row numbers of memories.
        kept: Memories that stay although their turns are deleted.
        categories: Categories whose subcategories lose keywords that no memory of theirs
            contains.
        summaries: Further sessions whose summaries are deleted.
    """
    deletion_marks.count(conn, user, everything=False)
    values = {"user": user, "turns": list(turns), "memories": list(memories)}
    sessions_of = [
        *summaries,
        *conn.column(
            """SELECT session FROM turns WHERE +user_key = :user AND id = ANY(:turns)
            UNION SELECT t.session FROM sources x JOIN turns t ON t.id = x.turn
                WHERE x.memory = ANY(:memories)""",
            values,
        ),
    ]
    affected = conn.execute(
        "SELECT memory, count(*) FROM sources WHERE turn = ANY(:turns) GROUP BY memory", values
    ).fetchall()
    losing = [key for key, _ in affected if key not in kept]
    worded = conn.column(FIRST_SAID, values | {"affected": losing})
    conn.execute(RECALLS_OF_TURNS, values)
    effects.clear_caused_doubts(conn, user, turns=turns)
    conn.execute(effects.REPETITIONS, values)
    removed = conn.execute(
        """DELETE FROM turns WHERE +user_key = :user AND id = ANY(:turns)
            RETURNING public_id, speaker""",
        values,
    ).fetchall()
    deletion_marks.add(conn, user, "turn", [name for name, _ in removed])
    orphans = conn.column(
        """SELECT id FROM memories m WHERE +user_key = ? AND id = ANY(?) AND
            NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id)""",
        (user, losing),
    )
    conn.execute(READ_AGAIN, {"user": user, "memories": worded, "orphans": orphans})
    groups = effects.count_sources_gone(conn, user, affected)
    for key in orphans:
        decisions.release_merged(conn, user, key)
    deleted = delete_memories(conn, user, [*memories, *orphans, *worded], groups)
    deletion_marks.add(conn, user, "memory", deleted)
    subcategories.remove_stale_words(conn, user, categories)
    sessions = {"user": user, "sessions": sessions_of, "due": WHEN_ENDED}
    deletion_marks.add(
        conn,
        user,
        "summary",
        conn.column(
            "SELECT public_id FROM sessions WHERE +user_key = :user AND id = ANY(:sessions)",
            sessions,
        ),
    )
    conn.execute("DELETE FROM summaries WHERE user_key = :user AND id = ANY(:sessions)", sessions)
    conn.execute(
        """UPDATE sessions SET summary_due = :due
            WHERE +user_key = :user AND id = ANY(:sessions)""",
        sessions,
    )
    conn.execute(
        """DELETE FROM sessions WHERE +user_key = :user AND id = ANY(:sessions) AND
            NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = sessions.id)""",
        sessions,
    )
    conn.execute(
        """DELETE FROM entities WHERE user_key = ? AND
               NOT EXISTS (SELECT 1 FROM turn_entities x WHERE x.entity = entities.id)
               AND NOT EXISTS (SELECT 1 FROM memory_entities x WHERE x.entity = entities.id)""",
        (user,),
    )
    for speaker in {speaker for _, speaker in removed if speaker is not None}:
        one = {"user": user, "speaker": speaker}
        heard = "SELECT 1 FROM turns WHERE user_key = :user AND speaker = :speaker LIMIT 1"
        if not conn.exists(heard, one):
            conn.execute("DELETE FROM speakers WHERE user_key = :user AND name = :speaker", one)
            conn.execute(
                "UPDATE users SET speaker = NULL WHERE id = :user AND speaker = :speaker", one
            )
    rewrite_indexes(conn)


def rewrite_indexes(conn: Connection) -> None:
    """Rewrites the full-text indexes.

    Their rows do not record their terms, so the terms of one row cannot be deleted alone.
    """
    for kind in WORDED:
        conn.search.compact_terms(conn, kind)
