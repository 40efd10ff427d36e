"""Subcategories: what a user's live ones are, and how they lose the words of forgotten memories."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Final

import numpy as np

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries.evolutions import (
    DRAFT,
    LIVE_EVOLUTION,
    insert_draft,
    live,
    make_live,
    mean_vector,
    update_centroid,
)
from hotmem.text.names import NameFinder
from hotmem.text.stemming import stems, terms
from hotmem.types import (
    Category,
    DecisionAction,
    EvidenceKind,
    EvolutionDraft,
    Subcategory,
    SubcategoryState,
    UserKey,
)

NAME_OF_MEMORY: Final = """
    SELECT s.name FROM subcategory_members x JOIN subcategories s ON s.id = x.subcategory
        JOIN evolutions e ON e.id = s.evolution
    WHERE x.memory = m.id AND e.state = 'live' LIMIT 1"""
"""The name of the live subcategory of a memory `m`."""


def of_user(conn: Connection, user: UserKey) -> list[Subcategory]:
    """The user's live subcategories by category, the largest first."""
    return conn.records(
        Subcategory,
        """SELECT e.category, s.name, s.keywords,
               (SELECT count(*) FROM subcategory_members x JOIN memories m ON m.id = x.memory
                   WHERE x.subcategory = s.id AND m.merged_into IS NULL) AS held,
               (SELECT json_group_array(o.text) FROM (
                   SELECT m.text FROM json_each(s.examples) AS j
                   JOIN memories m ON m.user_key = e.user_key AND m.public_id = j.value
                   ORDER BY j.key) o),
               s.since, e.evolved_at, s.pinned
           FROM evolutions e JOIN subcategories s ON s.evolution = e.id
           WHERE e.user_key = ? AND e.state = 'live' ORDER BY e.category, held DESC, s.name""",
        (user,),
    )


def remove_stale_words(conn: Connection, user: UserKey, categories: Iterable[Category]) -> None:
    """Removes from subcategories what only deleted memories of these categories contained.

    Past evolutions are deleted, and keywords that no assigned memory contains. A subcategory whose
    name has a word of such a keyword is dissolved: its memories are in the category itself until
    it evolves again.
    """
    for category in categories:
        conn.execute(
            """DELETE FROM evolutions WHERE user_key = ? AND category = ?
                AND state IN ('draft', 'past', 'undone')""",
            (user, category),
        )
        conn.execute(
            f"UPDATE evolutions SET centre = NULL WHERE id = ({LIVE_EVOLUTION})", (user, category)
        )
        rows = conn.execute(
            f"""SELECT id, name, keywords FROM subcategories WHERE evolution = ({LIVE_EVOLUTION})
                ORDER BY id""",
            (user, category),
        ).fetchall()
        for key, name, held in rows:
            keywords = json.loads(held)
            words = [word for word in keywords if has_word(conn, user, key, word)]
            conn.execute(
                "UPDATE subcategories SET keywords = ? WHERE id = ?", (json.dumps(words), key)
            )
            update_centroid(conn, key)
            removed = stems(" ".join(word for word in keywords if word not in words))
            member = "SELECT 1 FROM subcategory_members WHERE subcategory = ?"
            if not conn.exists(member, (key,)) or stems(name) & removed:
                conn.execute("DELETE FROM subcategories WHERE id = ?", (key,))


def remove_names(conn: Connection, user: UserKey, matches: NameFinder) -> None:
    """Dissolves the user's subcategories that are called by a name; a person may have done that."""
    for key, name in conn.execute(
        """SELECT s.id, s.name FROM subcategories s JOIN evolutions e ON e.id = s.evolution
            WHERE e.user_key = ? AND e.state = 'live'""",
        (user,),
    ).fetchall():
        if matches(name):
            conn.execute("DELETE FROM subcategories WHERE id = ?", (key,))


def has_word(conn: Connection, user: UserKey, subcategory: int, word: str) -> bool:
    """Whether an assigned memory has a tag, or contains a word in this form.

    The index finds the memories that contain its stem.
    """
    if conn.exists(
        """SELECT 1 FROM subcategory_members x JOIN memory_tags y ON y.memory = x.memory
            JOIN tags t ON t.id = y.tag
            WHERE x.subcategory = ? AND t.name = ? AND +t.user_key = ? LIMIT 1""",
        (subcategory, word, user),
    ):
        return True
    wanted = dict.fromkeys(terms(word, conn.search.language), 0)
    if not wanted:
        return False
    lists = conn.search.postings(conn, user, EvidenceKind.MEMORY, wanted)()
    keys = reduce(np.intersect1d, lists.values()).tolist()
    texts = conn.column(
        """SELECT m.text FROM subcategory_members x JOIN memories m ON m.id = x.memory
           WHERE x.subcategory = ? AND m.id = ANY(?)""",
        (subcategory, keys),
    )
    return any(word in text.lower() for text in texts)


_WORD: Final = re.compile(r"[^\W_]+")


def missing(category: Category, name: str) -> InvalidInput:
    """The error that a category has no subcategory of a name."""
    return InvalidInput(
        f"{category} has no subcategory {name!r}. memory_subcategories (`hotmem subcategories`) "
        "lists them."
    )


def rename(
    conn: Connection, user: UserKey, category: Category, name: str, new: str, now: datetime
) -> str:
    """Renames and pins a subcategory; returns the decision's id.

    Words of the name that its memories contain become keywords, so that the name does not outlive
    them (`remove_stale_words`).

    Raises:
        InvalidInput: If there is no such subcategory, or another has the new name.
    """
    held = _live(conn, user, category, [name])
    if new in held:
        raise InvalidInput(
            f"{category} has a subcategory {new!r} already. Merge them, or choose another name."
        )
    key = conn.scalar(
        f"SELECT id FROM subcategories WHERE evolution = ({LIVE_EVOLUTION}) AND name = ?",
        (user, category, name),
    )
    own = [word for word in _WORD.findall(new.lower()) if has_word(conn, user, key, word)]
    keywords = tuple(dict.fromkeys((*held[name].keywords, *own)))
    held[name] = replace(held[name], name=new, keywords=keywords, pinned=True)
    return _regroup(conn, user, category, held, f"a subcategory of {category} renamed", now)


def pin(
    conn: Connection, user: UserKey, category: Category, name: str, pinned: bool, now: datetime
) -> str:
    """Pins a subcategory, or lets it change again; returns the decision's id.

    Raises:
        InvalidInput: If there is no such subcategory.
    """
    held = _live(conn, user, category, [name])
    held[name] = replace(held[name], pinned=pinned)
    reason = f"a subcategory of {category} {'pinned' if pinned else 'released'}"
    return _regroup(conn, user, category, held, reason, now)


def merge(
    conn: Connection,
    user: UserKey,
    category: Category,
    into: str,
    others: Sequence[str],
    now: datetime,
) -> str:
    """Moves the memories of subcategories into another, which is pinned; returns the decision's id.

    Raises:
        InvalidInput: If there is no such subcategory, or one is named twice.
    """
    names = (into, *others)
    if len(set(names)) < len(names):
        raise InvalidInput("A subcategory cannot be merged into itself. Name each once.")
    held = _live(conn, user, category, names)
    merged = [one for one in held.values() if one.name in names]
    members = frozenset[int]().union(*(one.members for one in merged))
    held[into] = replace(
        held[into],
        keywords=tuple(dict.fromkeys(word for one in merged for word in one.keywords)),
        centroid=mean_vector(conn, user, members),
        members=members,
        pinned=True,
    )
    for name in others:
        del held[name]
    reason = f"{len(names)} subcategories of {category} merged"
    return _regroup(conn, user, category, held, reason, now)


def split(
    conn: Connection,
    user: UserKey,
    category: Category,
    name: str,
    parts: EvolutionDraft,
    now: datetime,
) -> str:
    """Replaces a subcategory by pinned parts of it; returns the decision's id.

    Memories in no part move to the nearest subcategory, if one is near enough.

    Raises:
        InvalidInput: If there is no such subcategory.
    """
    held = _live(conn, user, category, [name])
    former = held.pop(name)
    for part in parts.subcategories:
        held[part.name] = replace(part, members=part.members & former.members)
    reason = f"a subcategory of {category} split into {len(parts.subcategories)}"
    return _regroup(conn, user, category, held, reason, now)


def _live(
    conn: Connection, user: UserKey, category: Category, names: Sequence[str]
) -> dict[str, SubcategoryState]:
    """The live subcategories of a category, which must have some of these names."""
    held = live(conn, user, category)
    for name in names:
        if name not in held:
            raise missing(category, name)
    return held


def _regroup(
    conn: Connection,
    user: UserKey,
    category: Category,
    held: Mapping[str, SubcategoryState],
    reason: str,
    now: datetime,
) -> str:
    """Makes these subcategories of a category the live ones; returns the decision's id."""
    evolution = conn.scalar(
        f"""INSERT INTO evolutions (user_key, category, state, evolved_at, memories, centre)
            SELECT user_key, category, ?, evolved_at, memories, centre FROM evolutions
            WHERE id = ({LIVE_EVOLUTION}) RETURNING id""",
        (DRAFT, user, category),
    )
    for one in held.values():
        insert_draft(conn, evolution, one)
    return make_live(conn, user, category, evolution, DecisionAction.REGROUPED, reason, now)
