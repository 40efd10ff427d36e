"""Changes of subcategories by a person: rename, merge, split, pin.

Each makes a changed copy of the category's live evolution live, so that it is undone as an
evolution is. What a person changed is pinned: it stays when the category evolves. Reasons of the
decisions contain no names, which could outlive the memories that they come from.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import evolutions, placement, subcategories
from hotmem.storage.queries.evolutions import make_live
from hotmem.storage.queries.placement import LIVE_EVOLUTION
from hotmem.types import Category, DecisionAction, EvolutionDraft, UserKey

_WORD: Final = re.compile(r"[^\W_]+")


class _Copy(NamedTuple):
    """A copy of the live evolution of a category, not live yet.

    Attributes:
        evolution: Its row number.
        keys: Row numbers of its subcategories by name.
    """

    evolution: int
    keys: dict[str, int]


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

    Raises:
        InvalidInput: If there is no such subcategory, or another has the new name.
    """
    copied = _copy(conn, user, category, [name])
    if new in copied.keys:
        raise InvalidInput(
            f"{category} has a subcategory {new!r} already. Merge them, or choose another name."
        )
    _call(conn, user, copied.keys[name], new)
    reason = f"a subcategory of {category} renamed"
    return make_live(conn, user, category, copied.evolution, DecisionAction.REGROUPED, reason, now)


def pin(
    conn: Connection, user: UserKey, category: Category, name: str, pinned: bool, now: datetime
) -> str:
    """Pins a subcategory, or lets it change again; returns the decision's id.

    Raises:
        InvalidInput: If there is no such subcategory.
    """
    copied = _copy(conn, user, category, [name])
    conn.execute(
        "UPDATE subcategories SET pinned = ? WHERE id = ?", (int(pinned), copied.keys[name])
    )
    reason = f"a subcategory of {category} {'pinned' if pinned else 'released'}"
    return make_live(conn, user, category, copied.evolution, DecisionAction.REGROUPED, reason, now)


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
    copied = _copy(conn, user, category, names)
    kept, merged = copied.keys[into], [copied.keys[name] for name in others]
    conn.execute(
        "UPDATE subcategory_members SET subcategory = ? WHERE subcategory = ANY(?)", (kept, merged)
    )
    keywords = [
        word
        for (held,) in conn.execute(
            "SELECT keywords FROM subcategories WHERE id = ANY(?) ORDER BY id", ([kept, *merged],)
        )
        for word in json.loads(held)
    ]
    conn.execute("DELETE FROM subcategories WHERE id = ANY(?)", (merged,))
    conn.execute(
        "UPDATE subcategories SET keywords = ?, centroid = NULL, pinned = 1 WHERE id = ?",
        (json.dumps(list(dict.fromkeys(keywords))), kept),
    )
    placement.update_centroid(conn, kept)
    reason = f"{len(names)} subcategories of {category} merged"
    return make_live(conn, user, category, copied.evolution, DecisionAction.REGROUPED, reason, now)


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
    copied = _copy(conn, user, category, [name])
    held = {
        row[0]
        for row in conn.execute(
            "SELECT memory FROM subcategory_members WHERE subcategory = ?", (copied.keys[name],)
        )
    }
    conn.execute("DELETE FROM subcategories WHERE id = ?", (copied.keys[name],))
    for part in parts.subcategories:
        evolutions.insert_draft(conn, copied.evolution, part, held.intersection(part.members))
    reason = f"a subcategory of {category} split into {len(parts.subcategories)}"
    return make_live(conn, user, category, copied.evolution, DecisionAction.REGROUPED, reason, now)


def _copy(conn: Connection, user: UserKey, category: Category, names: Sequence[str]) -> _Copy:
    """Copies the live evolution of a category, which must have subcategories of these names."""
    live = conn.execute(LIVE_EVOLUTION, (user, category)).fetchone()
    former = (
        conn.execute(
            "SELECT id, name FROM subcategories WHERE evolution = ? ORDER BY id", live
        ).fetchall()
        if live
        else []
    )
    for name in names:
        if name not in {one for _, one in former}:
            raise missing(category, name)
    (evolution,) = conn.execute(
        """INSERT INTO evolutions (user_key, category, state, evolved_at, memories, centre)
            SELECT user_key, category, ?, evolved_at, memories, centre FROM evolutions
            WHERE id = ? RETURNING id""",
        (evolutions.DRAFT, *live),
    ).fetchone()
    keys = {}
    for key, name in former:
        (keys[name],) = conn.execute(
            """INSERT INTO subcategories
                (evolution, name, keywords, examples, since, centroid, pinned)
                SELECT CAST(? AS BIGINT), name, keywords, examples, since, centroid, pinned
                FROM subcategories WHERE id = ? RETURNING id""",
            (evolution, key),
        ).fetchone()
        conn.execute(
            """INSERT INTO subcategory_members (subcategory, memory)
                SELECT CAST(? AS BIGINT), memory FROM subcategory_members WHERE subcategory = ?""",
            (keys[name], key),
        )
    return _Copy(evolution, keys)


def _call(conn: Connection, user: UserKey, subcategory: int, name: str) -> None:
    """Names and pins a subcategory.

    Words of the name that its memories contain become keywords, so that the name does not outlive
    them (`subcategories.remove_stale_words`).
    """
    (held,) = conn.execute(
        "SELECT keywords FROM subcategories WHERE id = ?", (subcategory,)
    ).fetchone()
    own = [
        word
        for word in _WORD.findall(name.lower())
        if subcategories.has_word(conn, user, subcategory, word)
    ]
    conn.execute(
        "UPDATE subcategories SET name = ?, keywords = ?, pinned = 1 WHERE id = ?",
        (name, json.dumps(list(dict.fromkeys((*json.loads(held), *own)))), subcategory),
    )
