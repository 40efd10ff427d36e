"""Turns, stored verbatim and searchable by their words once committed."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import index_entries, jobs, times, users
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.text.answer_types import answer_types
from hotmem.text.passages import split_passages
from hotmem.text.stemming import stems
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import EvidenceKind, JobKind, Role, Turn, UserKey


def add(
    conn: Connection,
    turn: Turn,
    now: datetime,
    came_with: int | None = None,
    order_time: datetime | None = None,
) -> bool:
    """Stores a turn with its session, passages and pending job.

    Args:
        conn: The writer, within a transaction.
        turn: The turn.
        now: The wall clock, from which the session's idle time counts.
        came_with: Row number of its import.
        order_time: Its order time, if it has one.

    Returns:
        False if the same turn was stored before.

    Raises:
        InvalidInput: If its id belongs to another turn of this user.
    """
    user = users.ensure(conn, turn.user_id)
    known = conn.scalar(
        "SELECT text FROM turns WHERE user_key = ? AND public_id = ?", (user, turn.id)
    )
    if known is not None:
        if known != turn.text:
            raise InvalidInput(
                "This turn id was already used for other words. Give every turn an id of "
                "its own, or none."
            )
        return False
    spoken_at = to_stored(turn.spoken_at)
    if order_time is None:
        place = times.order_time(conn, user, spoken_at, to_stored(now))
    else:
        times.note(conn, user, place := to_stored(order_time))
    session, position = conn.execute(
        """INSERT INTO sessions (user_key, public_id, started_at, last_at, order_time, touched_at,
           summary_due) VALUES (?, ?, ?, ?, ?, ?, 1)
           ON CONFLICT (user_key, public_id) DO UPDATE
               SET started_at = least(sessions.started_at, excluded.started_at),
                   last_at = greatest(sessions.last_at, excluded.last_at),
                   order_time = greatest(sessions.order_time, excluded.order_time),
                   touched_at = excluded.touched_at,
                   summary_due = greatest(sessions.summary_due, 1)
           RETURNING id, passages""",
        (user, turn.session_id, spoken_at, spoken_at, place, to_stored(now)),
    ).fetchone()
    row = {
        "user_key": user,
        "session": session,
        "public_id": turn.id,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": turn.text,
        "spoken_at": spoken_at,
        "order_time": place,
        "zone": zone_name(turn.spoken_at),
        "import": came_with,
    }
    key = conn.insert("turns", row)
    if turn.speaker:
        conn.execute(
            "INSERT INTO speakers (user_key, name, import) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (user, turn.speaker, came_with),
        )
    spans = split_passages(turn.text)
    for place, (start, stop) in enumerate(spans, position):
        columns = derived_columns(turn.text[start:stop], conn.search.language)
        passage = conn.scalar(
            """INSERT INTO passages (user_key, session, turn, position, start, stop, terms, forms,
               import)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
            (user, session, key, place, start, stop, *columns, came_with),
        )
        index_entries.add(conn, user, EvidenceKind.PASSAGE, passage, session, turn.text[start:stop])
    conn.execute("UPDATE sessions SET passages = ? WHERE id = ?", (position + len(spans), session))
    conn.execute(
        "INSERT INTO pending_turns (turn, user_key, import) VALUES (?, ?, ?)",
        (key, user, came_with),
    )
    return True


def of_keys(conn: Connection, user: UserKey, keys: Collection[int]) -> list[tuple[int, Turn]]:
    """The user's turns of row numbers, in order."""
    where = "t.id = ANY(?) AND +t.user_key = ? ORDER BY t.order_time, t.id"
    return list(select(conn, where, ([*keys], user)))


def latest(conn: Connection, user: UserKey, session_name: str, limit: int) -> list[Turn]:
    """The last turns of the user's session, in order."""
    return ask_latest(conn, user, session_name, limit)()


def ask_latest(
    conn: Connection, user: UserKey, session_name: str, limit: int
) -> Pending[list[Turn]]:
    """The last turns of the user's session, in order."""
    session = "(SELECT id FROM sessions WHERE user_key = ? AND public_id = ?)"
    found = select(
        conn, f"t.session = {session} ORDER BY t.id DESC LIMIT ?", (user, session_name, limit)
    )
    return lambda: [turn for _, turn in found][::-1]


def numbered(conn: Connection, keys: Sequence[int]) -> list[tuple[int, Turn]]:
    """The existing turns of row numbers, by row number."""
    return list(select(conn, "t.id = ANY(?) ORDER BY t.id", ([*keys],)))


def waiting(
    conn: Connection, rotation: jobs.UserRotation, limit: int, worker: str | None = None
) -> list[tuple[int, Turn]]:
    """The next turns to understand with their row numbers, users in turn, each user's in order."""
    return numbered(conn, jobs.next_rows(conn, JobKind.TURN, rotation, limit, worker))


def preceding(conn: Connection, key: int, limit: int) -> list[Turn]:
    """The turns directly before one in its session, the nearest first."""
    where = """t.session = (SELECT session FROM turns WHERE id = ?) AND t.id < ?
        ORDER BY t.id DESC LIMIT ?"""
    return [turn for _, turn in select(conn, where, (key, key, limit))]


def of_user(conn: Connection, user: UserKey, after: int, limit: int) -> list[tuple[int, Turn]]:
    """The user's next turns after a row number, by row number."""
    return list(
        select(conn, "t.user_key = ? AND t.id > ? ORDER BY t.id LIMIT ?", (user, after, limit))
    )


def select(conn: Connection, where: str, values: tuple[object, ...]) -> Iterator[tuple[int, Turn]]:
    """Turns with their row numbers.

    `where` is SQL over t (turns), s (sessions) and u (users), without text from users.
    """
    rows = conn.execute(
        f"""SELECT t.id, u.public_id, s.public_id, t.role, t.text, t.spoken_at, t.zone, t.speaker,
            t.public_id
            FROM turns t JOIN sessions s ON s.id = t.session JOIN users u ON u.id = t.user_key
                WHERE {where}""",
        values,
    )
    return (
        (
            key,
            Turn(
                user,
                session,
                Role(role),
                text,
                to_named_zone(from_stored(spoken_at), zone),
                speaker,
                name,
            ),
        )
        for key, user, session, role, text, spoken_at, zone, speaker, name in rows
    )


def derived_columns(text: str, language: str) -> tuple[str, int]:
    """The distinct stems of a text, and its answer types, as two columns of a passage."""
    return " ".join(sorted(stems(text, language))), int(answer_types(text))


def stored_stems(terms: str) -> frozenset[str]:
    """The stems of a stored column."""
    return frozenset(terms.split())
