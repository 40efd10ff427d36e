"""Users, their locks, and the names that they speak of."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import deletion_marks, layer_weights, reembedding
from hotmem.text.phonetics import KnownName, encode_sounds
from hotmem.types import Profile, UserKey
from hotmem.types.maintenance import UserSummary

MOST_SPEAKERS: Final = 20
"""Speakers whose names words may sound like."""

MOST_RUNS: Final = 500
"""Word runs looked up."""


MOST_KNOWN: Final = 2000
"""Newest names that words may sound like."""


def find(conn: Connection, name: str) -> UserKey | None:
    """The user's row number, or None for an unknown user."""
    user: UserKey | None = conn.scalar("SELECT id FROM users WHERE public_id = ?", (name,))
    return user


def name(conn: Connection, user: UserKey) -> str:
    """The id of a row number; empty if the user was erased."""
    return ask_name(conn, user)()


def ask_name(conn: Connection, user: UserKey) -> Pending[str]:
    """The id of a row number; empty if the user was erased."""
    rows = conn.execute("SELECT public_id FROM users WHERE id = ?", (user,))
    return lambda: next((str(name) for (name,) in rows.fetchall()), "")


def set_speaker(conn: Connection, name: str, speaker: str) -> None:
    """Stores the name that the user speaks under; who speaks under another is somebody else."""
    conn.execute("UPDATE users SET speaker = ? WHERE id = ?", (speaker, ensure(conn, name)))


def ensure(conn: Connection, name: str) -> UserKey:
    """The user's row number; an unknown user is created. The user is locked.

    Another program may create or forget the user meanwhile, where an engine has several writers.
    """
    while True:
        user = find(conn, name)
        if user is None:
            user = conn.insert("users", {"public_id": name}, anew=False)
        if user is None:
            continue
        conn.lock_user(user)
        if find(conn, name) == user:
            return user


def profile(conn: Connection, user: UserKey, runs: Sequence[str]) -> Profile:
    """The user's profile for a recall, see `ask_profile`."""
    return ask_profile(conn, user, runs)()


def ask_profile(conn: Connection, user: UserKey, runs: Sequence[str]) -> Pending[Profile]:
    """The user's profile for a recall.

    Args:
        conn: A connection.
        user: The user.
        runs: Words and word runs of the utterance, of which at most `MOST_RUNS` are looked up,
            ignoring case.
    """
    keys = [run.casefold() for run in runs[:MOST_RUNS]]
    named = conn.execute(
        "SELECT name FROM entities WHERE user_key = ? AND key = ANY(?) ORDER BY key", (user, keys)
    )
    speaking = conn.execute("SELECT name FROM speakers WHERE user_key = ? ORDER BY name", (user,))
    owning = conn.execute("SELECT speaker FROM users WHERE id = ?", (user,))
    newest = conn.execute(
        "SELECT name, sound FROM entities WHERE user_key = ? ORDER BY id DESC LIMIT ?",
        (user, MOST_KNOWN if runs else 0),
    )
    weights, moved = layer_weights.ask_weights(conn, user), layer_weights.ask_moved(conn, user)
    forget_version, encoder = deletion_marks.ask_number(conn), reembedding.ask_current(conn)

    def read() -> Profile:
        speakers = tuple(row[0] for row in speaking)
        return Profile(
            speakers=speakers,
            owner=next((row[0] for row in owning), None),
            entities=tuple(row[0] for row in named),
            known_names=(
                *(KnownName(name, encode_sounds(name)) for name in speakers[:MOST_SPEAKERS]),
                *(KnownName(name, sound) for name, sound in newest),
            ),
            weights=weights(),
            moved=moved(),
            forget_version=forget_version(),
            encoder=encoder(),
        )

    return read


def vocabulary(conn: Connection, user: UserKey, limit: int) -> list[str]:
    """Names that occur in the user's turns: speakers first, then by number of turns."""
    speaking = conn.column(
        "SELECT name FROM speakers WHERE user_key = ? ORDER BY name LIMIT ?", (user, limit)
    )
    spoken_of = conn.execute(
        """SELECT e.name FROM entities e JOIN turn_entities t ON t.entity = e.id
           WHERE e.user_key = ?
           GROUP BY e.id, e.name ORDER BY count(*) DESC, e.name, e.id LIMIT ?""",
        (user, limit),
    )
    return list(dict.fromkeys([*speaking, *(row[0] for row in spoken_of)]))[:limit]


def overview(conn: Connection, limit: int) -> list[UserSummary]:
    """What is stored of each user, in order of creation."""
    return conn.records(
        UserSummary,
        """SELECT u.public_id,
            (SELECT count(*) FROM turns t WHERE t.user_key = u.id),
            (SELECT count(*) FROM memories m WHERE m.user_key = u.id AND m.merged_into IS NULL),
            (SELECT max(spoken_at) FROM turns t WHERE t.user_key = u.id)
        FROM users u ORDER BY u.id LIMIT ?""",
        (limit,),
    )


def names(conn: Connection, limit: int) -> list[str]:
    """Ids of users in order of creation."""
    return conn.column("SELECT public_id FROM users ORDER BY id LIMIT ?", (limit,))


def lock_users(conn: Connection, users: Iterable[UserKey]) -> None:
    """Locks users in ascending order, so that two writes never wait for each other."""
    for user in sorted(set(users)):
        conn.lock_user(user)


def lock_owners(conn: Connection, table: str, keys: Iterable[int]) -> None:
    """Locks the users of rows of a table."""
    owners = f"SELECT DISTINCT user_key FROM {table} WHERE id = ANY(?)"
    lock_users(conn, conn.column(owners, ([*keys],)))


def ensure_entities(conn: Connection, user: UserKey, names: Sequence[str]) -> list[int]:
    """Row numbers of the entities with these names, whatever their case; new ones are made."""
    keys = []
    for name in names:
        shown = re.sub(r"\s+", " ", name).strip()
        conn.execute(
            """INSERT INTO entities (user_key, key, name, sound) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING""",
            (user, shown.casefold(), shown, encode_sounds(shown)),
        )
        named = "SELECT id FROM entities WHERE user_key = ? AND key = ?"
        keys.append(conn.scalar(named, (user, shown.casefold())))
    return keys


def link_entities(
    conn: Connection, user: UserKey, kind: str, row: int, names: Sequence[str]
) -> None:
    """Records that a "turn" or a "memory" speaks of names."""
    conn.executemany(
        f"INSERT INTO {kind}_entities (entity, {kind}) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(entity, row) for entity in ensure_entities(conn, user, names)],
    )
