"""Names and concepts in a user's memories and turns, and which occur together.

Names are the extracted entities. Concepts are topics of summaries and tags of memories; they occur
where their words do.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

import numpy as np

from hotmem.storage.database import Connection
from hotmem.storage.queries.tags import SHOWN_TAGS
from hotmem.text.stemming import STOP_STEMS, terms
from hotmem.types import EvidenceKind, Label, LabelMentions, UserKey

MOST_PLACES: Final = 5_000
"""Latest turns, and latest memories, of one label that are considered."""

NAMED_SHARE: Final = 0.5
"""Least share of the turns with a name's words in which it was extracted as a name. Below it, it is
an ordinary word that began a sentence ("Glad")."""

NAMES: Final = """
    SELECT e.key, e.name,
        (SELECT count(*) FROM turn_entities x WHERE x.entity = e.id) + (SELECT count(*)
            FROM memory_entities x WHERE x.entity = e.id)
    FROM entities e WHERE e.user_key = :user ORDER BY 3 DESC, 1 LIMIT :most"""

NAMES_BESIDE: Final = """
    SELECT e.key, e.name, count(*) FROM (
        SELECT x.entity FROM turn_entities x WHERE x.turn = ANY(:turns)
        UNION ALL SELECT x.entity FROM memory_entities x WHERE x.memory = ANY(:memories)) f
    JOIN entities e ON e.id = f.entity WHERE e.user_key = :user
    GROUP BY e.key, e.name ORDER BY 3 DESC, 1 LIMIT :most"""

TOPICS: Final = f"""
    SELECT topic, sum(mentions) FROM (
        SELECT lower(t.value) AS topic, count(*) AS mentions
            FROM summaries y, json_each(y.topics) AS t WHERE y.user_key = :user GROUP BY 1
        UNION ALL SELECT g.name, count(DISTINCT x.memory) FROM memory_tags x
            JOIN tags o ON o.id = x.tag JOIN tags g ON g.id = coalesce(o.merged_into, o.id)
            WHERE g.user_key = :user AND g.archived = 0 GROUP BY g.id, g.name {SHOWN_TAGS})
            AS topics
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :most"""


def mentions(conn: Connection, user: UserKey, about: str | None, most: int) -> list[LabelMentions]:
    """Labels with the turns and memories that contain them, the most frequent first.

    Speakers are left out, as they occur with everything.

    Args:
        conn: A connection.
        user: The user.
        about: Only labels that occur with this name or these words, which come first; None for all.
        most: Names, and concepts, considered.
    """
    speaking = {
        word
        for row in conn.execute("SELECT name FROM speakers WHERE user_key = ?", (user,))
        for word in _parts(row[0])
    }
    centre = None if about is None else _centre(conn, user, about)
    asked = {"user": user, "most": most}
    if centre is None:
        named = conn.execute(NAMES, asked).fetchall()
    else:
        beside = {"turns": sorted(centre.turns), "memories": sorted(centre.memories)}
        named = conn.execute(NAMES_BESIDE, asked | beside).fetchall()
    found: dict[str, LabelMentions] = {}
    for key, name, _ in named:
        if key not in speaking and (mention := _of_name(conn, user, key, name)) is not None:
            found[key] = mention
    for topic, _ in conn.execute(TOPICS, asked).fetchall():
        if topic not in found and topic not in speaking and not set(terms(topic)) <= STOP_STEMS:
            entity = conn.execute(
                "SELECT name FROM entities WHERE user_key = ? AND key = ?", (user, topic)
            ).fetchone()
            mention = None if entity is None else _of_name(conn, user, topic, entity[0])
            found[topic] = mention or _of_words(conn, user, Label(topic, topic, named=False))
    ranked = sorted(found.values(), key=lambda one: (-one.count, one.label.key))
    return (
        ranked
        if centre is None
        else [centre, *(one for one in ranked if one.label.key != centre.label.key)]
    )


def texts(conn: Connection, user: UserKey, memories: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Ids and texts of memories, by row number."""
    rows = conn.execute(
        "SELECT id, public_id, text FROM memories WHERE user_key = ? AND id = ANY(?) ORDER BY id",
        (user, [*memories]),
    )
    return {key: (name, text) for key, name, text in rows}


def _centre(conn: Connection, user: UserKey, about: str) -> LabelMentions:
    """The label to centre on: a known name, whatever its share, or any words."""
    key = " ".join(about.split()).casefold()
    row = conn.execute(
        "SELECT key, name FROM entities WHERE user_key = ? AND key = ?", (user, key)
    ).fetchone()
    return (
        _of_words(conn, user, Label(key, about.strip(), named=False))
        if row is None
        else _entity(conn, user, Label(row[0], row[1], named=True))
    )


def _of_name(conn: Connection, user: UserKey, key: str, name: str) -> LabelMentions | None:
    """Where a name occurs, whether it was extracted or not.

    None where its words are mostly ordinary words.
    """
    label = Label(key, name, named=True)
    read, said = _entity(conn, user, label), _of_words(conn, user, label)
    return (
        LabelMentions(label, read.turns | said.turns, read.memories | said.memories)
        if len(read.turns) >= NAMED_SHARE * len(said.turns)
        else None
    )


def _entity(conn: Connection, user: UserKey, label: Label) -> LabelMentions:
    def places(of: str) -> frozenset[int]:
        rows = conn.execute(
            f"""SELECT x.{of} FROM entities e JOIN {of}_entities x ON x.entity = e.id
                WHERE e.user_key = ? AND e.key = ? ORDER BY x.{of} DESC LIMIT ?""",
            (user, label.key, MOST_PLACES),
        )
        return frozenset(row[0] for row in rows)

    return LabelMentions(label, places("turn"), _unmerged(conn, user, places("memory")))


def _of_words(conn: Connection, user: UserKey, label: Label) -> LabelMentions:
    """Where all the words of a label occur, and memories with it as a tag."""
    passages = _holding(conn, user, EvidenceKind.PASSAGE, label.key)
    tagged = conn.execute(
        """SELECT x.memory FROM tags o JOIN memory_tags x ON x.tag = o.id LEFT JOIN tags g
           ON g.id = o.merged_into
           WHERE o.user_key = ? AND coalesce(g.name, o.name) = ? ORDER BY 1 DESC LIMIT ?""",
        (user, label.key, MOST_PLACES),
    )
    memories = {row[0] for row in tagged} | set(
        _holding(conn, user, EvidenceKind.MEMORY, label.key)
    )
    return LabelMentions(label, _turns(conn, user, passages), _unmerged(conn, user, memories))


def _holding(conn: Connection, user: UserKey, kind: EvidenceKind, words: str) -> list[int]:
    """Row numbers of the latest passages or memories that contain all the words."""
    wanted = dict.fromkeys(terms(words, conn.search.language), 0)
    if not wanted:
        return []
    found = reduce(np.intersect1d, conn.search.postings(conn, user, kind, wanted)().values())
    return [int(key) for key in found[-MOST_PLACES:][::-1]]


def _turns(conn: Connection, user: UserKey, passages: Sequence[int]) -> frozenset[int]:
    rows = conn.execute(
        "SELECT DISTINCT turn FROM passages WHERE user_key = ? AND id = ANY(?)",
        (user, [*passages]),
    )
    return frozenset(row[0] for row in rows)


def _unmerged(conn: Connection, user: UserKey, memories: Iterable[int]) -> frozenset[int]:
    rows = conn.execute(
        "SELECT id FROM memories WHERE +user_key = ? AND merged_into IS NULL AND id = ANY(?)",
        (user, [*memories]),
    )
    return frozenset(row[0] for row in rows)


def _parts(name: str) -> set[str]:
    return {name.casefold(), *name.casefold().split()}
