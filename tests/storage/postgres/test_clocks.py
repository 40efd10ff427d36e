"""Workers whose machines' clocks are wrong: leases and periods of grace follow the server's."""

import sys
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

import pytest

from hotmem import Memory, Options
from hotmem.models import Language
from hotmem.options import BackgroundMode
from hotmem.storage import queries
from hotmem.types import JobKind
from hotmem.types.maintenance import ForgetTurns
from tests.conversation import said
from tests.letters import LetterEncoder
from tests.storage.contract.story import user_key


def shift_clock(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Set the clock of this process, for all modules of the package."""

    class AnyDatetime(type):
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, datetime)

    class Shifted(datetime, metaclass=AnyDatetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # not Self
            return datetime.now(tz) + by

    for name, module in list(sys.modules.items()):
        if name.startswith("hotmem.") and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", Shifted)


@pytest.mark.parametrize("days", [-1, 1])
async def test_a_worker_with_a_wrong_clock_neither_takes_over_nor_erases(
    days: int, url: str, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options()
    off = replace(options, background=replace(options.background, mode=BackgroundMode.OFF))
    async with Memory.open(url, off, encoder=LetterEncoder(), language=language) as memory:
        database = memory.runtime.database
        await memory.remember(said("My dog is called Potola."))
        await memory.remember(said("I live in Porto.", name="second"))
        ana = await database.write_all(user_key, "ana")
        await memory.runtime.storage.forgetting.forget(
            ana, ForgetTurns(("second",)), grace=timedelta(hours=1)
        )
        await database.write_all(queries.jobs.take, "elsewhere/1/x", JobKind.TURN, [ana])
        shift_clock(monkeypatch, timedelta(days=days))
        async with Memory.open(url, encoder=LetterEncoder(), language=language) as wrong:
            while (await waiting(wrong))[JobKind.PASSAGE]:  # the job of a kind that is free
                wrong.runtime.worker.wake()
                await wrong.runtime.worker._settled.wait()
            assert (await waiting(wrong))[JobKind.TURN] == 1
            assert await database.read_all(queries.jobs.owners) == ["elsewhere/1/x"]
            assert await database.read(queries.deletions.latest, ana) is not None
            await database.write_all(queries.jobs.release_all, "elsewhere/1/x")
            await wrong.settle()
            assert [known.text for known in await memory.memories("ana")]


async def waiting(memory: Memory) -> dict[JobKind, int]:
    return await memory.runtime.database.read_all(queries.jobs.waiting_counts)
