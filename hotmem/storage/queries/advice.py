"""What the state of a user's memory suggests to do."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import reduce
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.storage.queries import reembedding
from hotmem.storage.queries.evolutions import GROWTH
from hotmem.storage.queries.tags import SHOWN_TAGS
from hotmem.storage.queries.times import to_stored
from hotmem.storage.search.vectors import from_bytes
from hotmem.text.stemming import STOP_STEMS, terms
from hotmem.types import Category, EvidenceKind, JobKind, Kind, Label, LabelMentions, UserKey

CURRENT: Final = "m.merged_into IS NULL AND m.valid_until IS NULL"


class OpenConflict(NamedTuple):
    """A memory that is possibly outdated.

    Attributes:
        id: The memory's id.
        text: Its text.
        said_at: When it was last said, UTC.
        by: Text of what may contradict it; None if no memory was read from that.
        at: When that was said, UTC.
    """

    id: str
    text: str
    said_at: datetime
    by: str | None
    at: datetime


class ComparedMemories(NamedTuple):
    """Memories to be compared with each other; vectors are unit rows, float32."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


class UnusedMemories(NamedTuple):
    """Number of current memories, of those without an access, and of recalls with a reply."""

    memories: int
    unused: int
    recalls: int


def open_conflicts(conn: Connection, user: UserKey, limit: int) -> list[OpenConflict]:
    """Current memories that are possibly outdated, the latest doubt first."""
    return conn.records(
        OpenConflict,
        f"""SELECT m.public_id, m.text, m.said_at,
                coalesce(o.text, (SELECT t.text FROM turns t WHERE t.id = m.doubted_in)),
                m.doubted_at
            FROM memories m LEFT JOIN memories o ON o.id = m.doubted_by
            WHERE m.user_key = :user AND {CURRENT} AND m.doubted_at IS NOT NULL
            ORDER BY m.doubted_at DESC, m.id DESC LIMIT :limit""",
        {"user": user, "limit": limit},
    )


def latest(conn: Connection, user: UserKey, limit: int) -> ComparedMemories:
    """The latest current memories that are not in doubt, with vectors of the present encoder."""
    rows = conn.execute(
        f"""SELECT m.public_id, m.text, m.vector FROM memories m
            WHERE m.user_key = :user AND {CURRENT} AND m.doubted_at IS NULL
                AND m.vector IS NOT NULL AND m.id > :first
            ORDER BY m.order_time DESC, m.id DESC LIMIT :limit""",
        {
            "user": user,
            "first": reembedding.boundary(conn, EvidenceKind.MEMORY),
            "limit": limit,
        },
    ).fetchall()
    vectors = from_bytes([row[2] for row in rows])
    return ComparedMemories(tuple(row[0] for row in rows), tuple(row[1] for row in rows), vectors)


def reminders(conn: Connection, user: UserKey, limit: int) -> list[int]:
    """Row numbers of current reminders, the earliest first."""
    return conn.column(
        f"""SELECT m.id FROM memories m WHERE m.user_key = :user AND {CURRENT} AND m.kind = :kind
            ORDER BY m.order_time, m.id LIMIT :limit""",
        {"user": user, "kind": Kind.REMINDER, "limit": limit},
    )


def grown(conn: Connection, user: UserKey, least: int) -> dict[Category, int]:
    """The categories that have gained enough memories to evolve, and how many they have gained."""
    rows = conn.execute(
        """SELECT m.category, m.memories - coalesce(e.memories, 0) FROM (
               SELECT category, count(*) AS memories FROM memories
               WHERE user_key = :user AND merged_into IS NULL GROUP BY category) m
           LEFT JOIN evolutions e ON e.id = (SELECT max(id) FROM evolutions
               WHERE user_key = :user AND category = m.category AND state <> 'draft')
           WHERE m.memories >= coalesce(e.memories, 0)
               + greatest(:least, :growth * coalesce(e.memories, 0))
           ORDER BY 2 DESC, 1""",
        {"user": user, "least": least, "growth": GROWTH},
    )
    return {Category(category): int(gained) for category, gained in rows}


def unused(conn: Connection, user: UserKey, before: datetime) -> UnusedMemories:
    """How many memories from before a time were never used, and how many recalls there were."""
    values = {"user": user, "before": to_stored(before)}
    (found,) = conn.records(
        UnusedMemories,
        f"""SELECT count(*), coalesce(sum(CASE WHEN m.accesses = 0 THEN 1 ELSE 0 END), 0),
                (SELECT count(*) FROM recalls r WHERE r.user_key = :user)
            FROM memories m WHERE m.user_key = :user AND {CURRENT} AND m.said_at < :before""",
        values,
    )
    return found


def set_aside(conn: Connection, user: UserKey) -> dict[JobKind, int]:
    """Number of the user's background jobs that failed and were set aside, by kind."""
    rows = conn.execute(
        """SELECT kind, count(*) FROM failures WHERE user_key = ? AND again_at IS NULL
           GROUP BY kind ORDER BY kind""",
        (user,),
    )
    return {JobKind(kind): int(number) for kind, number in rows}


MOST_PLACES: Final = 5_000
"""Latest turns, and latest memories, of one label that are considered."""

NAMED_SHARE: Final = 0.5
"""Least share of the turns with a name's words in which it was extracted as a name. Below it, it is
an ordinary word that began a sentence ("Glad")."""

NAME: Final = "SELECT name FROM entities WHERE user_key = ? AND key = ?"

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
    speakers = conn.column("SELECT name FROM speakers WHERE user_key = ?", (user,))
    speaking = set[str]().union(*map(_parts, speakers))
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
            name = conn.scalar(NAME, (user, topic))
            mention = None if name is None else _of_name(conn, user, topic, name)
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
    name = conn.scalar(NAME, (user, key))
    return (
        _of_words(conn, user, Label(key, about.strip(), named=False))
        if name is None
        else _entity(conn, user, Label(key, name, named=True))
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
        sql = f"""SELECT x.{of} FROM entities e JOIN {of}_entities x ON x.entity = e.id
            WHERE e.user_key = ? AND e.key = ? ORDER BY x.{of} DESC LIMIT ?"""
        return frozenset(conn.column(sql, (user, label.key, MOST_PLACES)))

    return LabelMentions(label, places("turn"), _unmerged(conn, user, places("memory")))


def _of_words(conn: Connection, user: UserKey, label: Label) -> LabelMentions:
    """Where all the words of a label occur, and memories with it as a tag."""
    passages = _holding(conn, user, EvidenceKind.PASSAGE, label.key)
    tagged = conn.column(
        """SELECT x.memory FROM tags o JOIN memory_tags x ON x.tag = o.id LEFT JOIN tags g
           ON g.id = o.merged_into
           WHERE o.user_key = ? AND coalesce(g.name, o.name) = ? ORDER BY 1 DESC LIMIT ?""",
        (user, label.key, MOST_PLACES),
    )
    memories = {*tagged, *_holding(conn, user, EvidenceKind.MEMORY, label.key)}
    return LabelMentions(label, _turns(conn, user, passages), _unmerged(conn, user, memories))


def _holding(conn: Connection, user: UserKey, kind: EvidenceKind, words: str) -> list[int]:
    """Row numbers of the latest passages or memories that contain all the words."""
    wanted = dict.fromkeys(terms(words, conn.search.language), 0)
    if not wanted:
        return []
    found = reduce(np.intersect1d, conn.search.postings(conn, user, kind, wanted)().values())
    return [int(key) for key in found[-MOST_PLACES:][::-1]]


def _turns(conn: Connection, user: UserKey, passages: Sequence[int]) -> frozenset[int]:
    sql = "SELECT DISTINCT turn FROM passages WHERE user_key = ? AND id = ANY(?)"
    return frozenset(conn.column(sql, (user, [*passages])))


def _unmerged(conn: Connection, user: UserKey, memories: Iterable[int]) -> frozenset[int]:
    sql = "SELECT id FROM memories WHERE +user_key = ? AND merged_into IS NULL AND id = ANY(?)"
    return frozenset(conn.column(sql, (user, [*memories])))


def _parts(name: str) -> set[str]:
    return {name.casefold(), *name.casefold().split()}
