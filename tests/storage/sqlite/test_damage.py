"""Files whose content is not what was written.

Noticed when they are opened or read, and not written into from then on.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from hotmem.core.location import EncryptionKey
from hotmem.errors import HotMemError, StoreDamaged
from hotmem.storage.queries import turns
from hotmem.storage.search import vectors
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.storage.sqlite.migrations import migrate
from tests.conversation import closed, said
from tests.letters import NO_SIGNS, LetterEncoder

NOW = datetime(2026, 3, 2, tzinfo=UTC)

PAGE: Final = 4096

SEEDS: Final = 30
"""Files of each kind of damage: 75 in all."""

TURNS: Final = 250


def filled(path: Path, key: EncryptionKey | None = None) -> bytes:
    """The content of a file with some hundred pages of turns and passages."""
    with closing(connect(path, key=key)) as conn:
        conn.execute("PRAGMA synchronous = OFF")
        migrate(conn, path)
        conn.execute("BEGIN")
        vectors.adopt(conn, LetterEncoder.name, LetterEncoder.dimension)
        for number in range(TURNS):
            barks = "the dog barks " * (number % 60)
            text = f"The ferry number {number} is {number % 7} hours late and {barks}."
            turns.add(conn, said(text, session=f"session {number % 20}", name=str(number)), NOW)
        while waiting := vectors.waiting(conn, 100):
            for kind, passage, text in waiting:
                vectors.put(conn, kind, [passage], list(LetterEncoder().encode([text])), [NO_SIGNS])
        conn.execute("COMMIT")
    return path.read_bytes()


def flipped(content: bytearray, random: Random) -> None:
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)


def zeroed(content: bytearray, random: Random) -> None:
    start = PAGE * random.randrange(len(content) // PAGE)
    content[start : start + PAGE] = bytes(PAGE)


def swapped(content: bytearray, random: Random) -> None:
    one, other = (PAGE * page for page in random.sample(range(len(content) // PAGE), 2))
    content[one : one + PAGE], content[other : other + PAGE] = (
        content[other : other + PAGE],
        content[one : one + PAGE],
    )


def truncated(content: bytearray, random: Random) -> None:
    del content[random.randrange(1, len(content)) :]


def header_hit(content: bytearray, random: Random) -> None:
    content[random.randrange(100)] ^= random.randrange(1, 256)


KINDS: Final[tuple[Callable[[bytearray, Random], None], ...]] = (
    flipped,
    zeroed,
    swapped,
    truncated,
    header_hit,
)


def everything(conn: Connection) -> dict[str, list[Any]]:
    """Every row of every table, as it is stored and as its indexes lead to it."""
    tables = conn.column("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    rows = {
        name: conn.execute(f'SELECT * FROM "{name}"').fetchall()
        for name in tables
        if not name.endswith(("_config", "sqlite_sequence"))
    }
    rows["turns by time"] = conn.execute(
        "SELECT id FROM turns INDEXED BY turns_by_time WHERE user_key = 1 ORDER BY spoken_at, id"
    ).fetchall()
    return rows


async def outcome(path: Path, key: EncryptionKey | None, sound: Mapping[str, list[Any]]) -> str:
    """How a damaged file is taken.

    Refused at "open" or on the first "read", "harmless", as all is read that was written, or
    "missed".
    """
    try:
        opened = SqliteDatabase.open(path, key)
    except HotMemError:
        return "open"
    try:
        return "harmless" if await opened.read_all(everything) == sound else "missed"
    except HotMemError:
        with pytest.raises(StoreDamaged):
            await opened.write_all(
                lambda conn: conn.execute("INSERT INTO users (public_id) VALUES ('ben')")
            )
        return "read"
    finally:
        await opened.close()


async def outcomes(
    folder: Path, content: bytes, key: EncryptionKey | None
) -> dict[str, Counter[str]]:
    """How many files of each kind of damage are taken how."""
    whole = folder / "whole.db"
    whole.write_bytes(content)
    with closing(connect(whole, key=key)) as conn:
        sound = everything(conn)
    found: dict[str, Counter[str]] = {}
    for kind in KINDS:
        for seed in range(SEEDS):
            broken = bytearray(content)
            kind(broken, Random(seed))
            path = folder / f"{kind.__name__}-{seed}.db"
            path.write_bytes(broken)
            found.setdefault(kind.__name__, Counter())[await outcome(path, key, sound)] += 1
    return found


async def test_damage_is_noticed_at_open_or_when_it_is_read(database: Path, tmp_path: Path) -> None:
    found = await outcomes(tmp_path, filled(database), None)
    assert all(told["missed"] == 0 for kind, told in found.items() if kind != "flipped"), found
    assert found["flipped"]["missed"] < SEEDS / 3, (
        "a page has no checksum: a bit of the words may be another"
    )
    assert sum(told["open"] + told["read"] for told in found.values()) > 0.6 * SEEDS * len(KINDS), (
        found
    )


async def test_damage_of_an_encrypted_file_is_never_missed(database: Path, tmp_path: Path) -> None:
    key = EncryptionKey("a long and secret sentence")
    found = await outcomes(tmp_path, filled(database, key), key)
    assert sum(told["open"] for told in found.values()) == SEEDS * len(KINDS), found


@pytest.fixture
def broken(database: Path) -> Path:
    """A file with a page of passages that is none."""
    content = bytearray(filled(database))
    with closing(connect(database, read_only=True)) as conn:
        page = conn.scalar("SELECT rootpage FROM sqlite_schema WHERE name = 'passages'") - 1
    content[page * PAGE : (page + 1) * PAGE] = b"\xff" * PAGE
    database.write_bytes(content)
    return database


async def test_what_is_damaged_behind_the_look_at_open_stops_writes_once_it_is_read(
    broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hotmem.storage.sqlite.opening.CHECK_S", 0)
    monkeypatch.setattr(connection, "LOOK_STEPS", 1)
    async with closed(SqliteDatabase.open(broken)) as opened:
        assert await opened.write_all(
            lambda conn: conn.execute(
                "INSERT INTO users (public_id) VALUES ('ben') RETURNING id"
            ).fetchone()
        )
        with pytest.raises(StoreDamaged, match="Restore it from a backup"):
            await opened.read_all(everything)
        with pytest.raises(StoreDamaged, match="Restore it from a backup"):
            await opened.write_all(
                lambda conn: conn.execute("INSERT INTO users (public_id) VALUES ('eva')")
            )
        assert await opened.read_all(lambda conn: conn.scalar("SELECT count(*) FROM users")) == 2, (
            "what is whole is read on"
        )
