"""Subcategories: what a user's live ones are, and how they lose the words of forgotten memories."""

import json
from collections.abc import Iterable
from functools import reduce
from typing import Final

import numpy as np

from hotmem.storage.database import Connection
from hotmem.storage.queries.placement import LIVE_EVOLUTION, update_centroid
from hotmem.storage.queries.times import from_stored
from hotmem.text.ascii_case import ascii_lower
from hotmem.text.labels import KEYWORD_SEPARATOR, propose_names
from hotmem.text.stemming import terms
from hotmem.types import (
    Category,
    EvidenceKind,
    Subcategory,
    UserKey,
)

NAME_OF_MEMORY: Final = """
    SELECT s.name FROM subcategory_members x JOIN subcategories s ON s.id = x.subcategory
        JOIN evolutions e ON e.id = s.evolution
    WHERE x.memory = m.id AND e.state = 'live' LIMIT 1"""
"""The name of the live subcategory of a memory `m`."""


def of_user(conn: Connection, user: UserKey) -> list[Subcategory]:
    """The user's live subcategories by category, the largest first."""
    rows = conn.execute(
        """SELECT e.category, s.name, s.keywords, s.since, e.evolved_at,
               (SELECT count(*) FROM subcategory_members x JOIN memories m ON m.id = x.memory
                   WHERE x.subcategory = s.id AND m.merged_into IS NULL) AS held, s.examples
           FROM evolutions e JOIN subcategories s ON s.evolution = e.id
           WHERE e.user_key = ? AND e.state = 'live' ORDER BY e.category, held DESC, s.name""",
        (user,),
    ).fetchall()
    examples = [json.loads(row[-1]) for row in rows]
    texts = dict(
        conn.execute(
            "SELECT public_id, text FROM memories WHERE user_key = ? AND public_id = ANY(?)",
            (user, [name for names in examples for name in names]),
        ).fetchall()
    )
    return [
        Subcategory(
            Category(category),
            name,
            tuple(json.loads(words)),
            held,
            tuple(texts[name] for name in names if name in texts),
            from_stored(since),
            from_stored(evolved_at),
        )
        for (category, name, words, since, evolved_at, held, _), names in zip(
            rows, examples, strict=True
        )
    ]


def remove_stale_words(conn: Connection, user: UserKey, categories: Iterable[Category]) -> None:
    """Removes from subcategories what only deleted memories of these categories contained.

    Past evolutions are deleted. Names and keywords that no assigned memory contains are replaced or
    removed.
    """
    for category in categories:
        conn.execute(
            """DELETE FROM evolutions WHERE user_key = ? AND category = ?
                AND state IN ('draft', 'past', 'undone')""",
            (user, category),
        )
        rows = conn.execute(
            f"""SELECT id, name, keywords FROM subcategories WHERE evolution = ({LIVE_EVOLUTION})
                ORDER BY id""",
            (user, category),
        ).fetchall()
        taken = {name for _, name, _ in rows}
        for key, name, held in rows:
            if not conn.execute(
                "SELECT 1 FROM subcategory_members WHERE subcategory = ?", (key,)
            ).fetchone():
                conn.execute("DELETE FROM subcategories WHERE id = ?", (key,))
                continue
            words = [word for word in json.loads(held) if _has_word(conn, user, key, word)]
            numbered = name.startswith(f"{category} ")
            if not numbered and not all(
                _has_word(conn, user, key, word) for word in name.split(KEYWORD_SEPARATOR)
            ):
                name = next(fresh for fresh in propose_names(words, category) if fresh not in taken)
                taken.add(name)
            conn.execute(
                "UPDATE subcategories SET name = ?, keywords = ?, centroid = NULL WHERE id = ?",
                (name, json.dumps(words), key),
            )
            update_centroid(conn, key)


def _has_word(conn: Connection, user: UserKey, subcategory: int, word: str) -> bool:
    """Whether an assigned memory has a tag, or contains a word in this form.

    The index finds the memories that contain its stem.
    """
    if conn.execute(
        """SELECT 1 FROM subcategory_members x JOIN memory_tags y ON y.memory = x.memory
            JOIN tags t ON t.id = y.tag
            WHERE x.subcategory = ? AND t.name = ? AND +t.user_key = ? LIMIT 1""",
        (subcategory, word, user),
    ).fetchone():
        return True
    wanted = dict.fromkeys(terms(word), 0)
    if not wanted:
        return False
    lists = conn.search.postings(conn, user, EvidenceKind.MEMORY, wanted)()
    keys = reduce(np.intersect1d, lists.values()).tolist()
    texts = conn.execute(
        """SELECT m.text FROM subcategory_members x JOIN memories m ON m.id = x.memory
           WHERE x.subcategory = ? AND m.id = ANY(?)""",
        (subcategory, keys),
    )
    return any(word in ascii_lower(text) for (text,) in texts.fetchall())
