"""Write transactions of turns and recalls, counted on both engines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hotmem import Memory, Options, Turn
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.types import Role
from tests.conversation import remember
from tests.postgres import VERSIONS
from tests.storage.contract.story import NOW

TALK = (
    (Role.USER, "My sister Beth works as a nurse in Lisbon."),
    (Role.ASSISTANT, "What does she like about Lisbon?"),
    (Role.USER, "She likes the river, and I like her flat in Alfama."),
    (Role.ASSISTANT, "That sounds lovely."),
)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Gets an element for each write transaction of this process."""
    begun: list[str] = []

    def counting(write: Callable[..., Any]) -> Callable[..., Any]:
        def count(database: object, ending: str, /, *args: object, **kwargs: object) -> object:
            begun.append(ending)
            return write(database, ending, *args, **kwargs)

        return count

    for engine in (SqliteDatabase, PostgresDatabase):
        monkeypatch.setattr(engine, "write_here", counting(engine.write_here))
    return begun


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_a_user_turn_takes_six_writes_a_reply_four_a_recall_none(
    engine: str,
    tmp_path: Path,
    postgres_url: Callable[[str], str],
    writes: list[str],
) -> None:
    """The turn; then each job is claimed and its result written, the latter in one write a kind.

    A turn's vectors and its facts are one claim and two results, the vectors of the facts one of
    each. `docs/deploy.md` and `docs/scale.md` state these numbers.
    """
    location = tmp_path / "memory.db" if engine == "sqlite" else postgres_url(next(iter(VERSIONS)))
    counts = []
    async with Memory.open(location, Options()) as memory:
        for number, (role, text) in enumerate(TALK):
            writes.clear()
            await remember(memory, Turn("ana", "s", role, text, NOW, "Ana", f"t{number}"))
            counts.append(len(writes))
        writes.clear()
        await memory.recall("Where does my sister work?", user_id="ana", session_id="s2", at=NOW)
        assert not writes
    first_uses_of_the_clock = 1
    assert counts[0] - first_uses_of_the_clock == counts[2] == 6
    assert counts[1] == counts[3] == 4
