"""Functions that change rows of several users lock each of them."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.queries.imports import ImportSession
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import EvidenceKind, JobKind, Understanding, UserKey
from hotmem.types.maintenance import ForgetEverything
from tests.storage.contract.story import ENCODER, NOW, adopt, embed, say, turn

HOUR = timedelta(hours=1)
ANA, BEN = UserKey(1), UserKey(2)


def tell(conn: Connection) -> None:
    adopt(conn)
    for user in ("ana", "ben"):
        say(conn, "My boat is Albatross.", user=user)


def store_turn(conn: Connection) -> None:
    for user in ("ben", "ana"):
        queries.turns.add(conn, turn("It leaks.", user=user, name="t9"), NOW)


def store_facts(conn: Connection) -> None:
    waiting = queries.turns.waiting(conn, UserRotation(), 9)
    for key, _ in waiting:
        store_understanding(conn, key, Understanding())


def fail(conn: Connection) -> None:
    for key, _ in queries.turns.waiting(conn, UserRotation(), 9):
        queries.job_failures.record(conn, JobKind.TURN, key, "OSError", 3, 1.0, NOW, None)


def skip(conn: Connection) -> None:
    keys = conn.column("SELECT id FROM passages")
    queries.embedding.skip(conn, ENCODER, EvidenceKind.PASSAGE, keys)


def forget(conn: Connection) -> None:
    for user in (ANA, BEN):
        queries.deletions.delete(conn, user, ForgetEverything(), NOW, NOW + HOUR)


def take(conn: Connection) -> ImportSession:
    session = queries.imported_records.start(conn, "a file", "a test")
    turns = [turn("Rain.", user=user, name="t8") for user in ("ana", "ben")]
    assert queries.imported_records.import_records(conn, session, turns, NOW, 9.0) == 2
    return session


@pytest.mark.parametrize(
    ("before", "change"),
    [
        (None, store_turn),
        (None, store_facts),
        (None, embed),
        (None, fail),
        (None, skip),
        (None, take),
        (None, lambda conn: queries.jobs.end_idle_sessions(conn, NOW + HOUR, 60)),
        (fail, lambda conn: queries.job_failures.resume(conn, NOW + HOUR)),
        (fail, queries.job_failures.reset_all),
        (forget, lambda conn: queries.deletions.redate(conn, NOW - 400 * 24 * HOUR)),
        (forget, lambda conn: queries.deletions.erase_due(conn, NOW + 2 * HOUR)),
        (take, lambda conn: queries.imports.abort(conn, "a file")),
        (
            take,
            lambda conn: queries.imported_records.finish(
                conn, ImportSession("a file", "a test", Counter()), NOW
            ),
        ),
        (
            None,
            lambda conn: queries.imported_records.end_sessions(
                conn, [("ben", "harbour"), ("ana", "harbour"), ("cleo", "harbour")]
            ),
        ),
    ],
)
def test_every_user_whose_rows_change_is_locked(
    conn: Connection,
    monkeypatch: pytest.MonkeyPatch,
    before: Callable[[Connection], Any] | None,
    change: Callable[[Connection], Any],
) -> None:
    tell(conn)
    if before is not None:
        before(conn)
    locked: list[UserKey] = []
    monkeypatch.setattr(Connection, "lock_user", lambda _, user: locked.append(user))
    changes = conn.total_changes()
    change(conn)
    assert conn.total_changes() > changes
    assert set(locked) == {ANA, BEN}


def test_users_are_locked_in_one_order(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(conn)
    locked: list[UserKey] = []
    monkeypatch.setattr(Connection, "lock_user", lambda _, user: locked.append(user))
    queries.users.lock_users(conn, [BEN, ANA, BEN])
    queries.users.lock_owners(conn, "turns", [2, 1, 99])
    assert locked == [ANA, BEN, ANA, BEN]
