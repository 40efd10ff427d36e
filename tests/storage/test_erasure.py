"""No byte is left once `forget` returns.

With the process alive, after a kill, beside readers, in an encrypted file; or the receipt says so.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from hotmem import Memory, Options
from hotmem.core.location import EncryptionKey
from hotmem.models import CachedEncoder, Language
from hotmem.options import BackgroundOptions
from hotmem.storage import open_storage
from hotmem.storage.sqlite.connection import connect
from hotmem.text.stemming import stem, stems
from hotmem.types.maintenance import ForgetEntity, Leftovers
from hotmem.understanding.query.command_rules import find_command
from tests import warm
from tests.conversation import life, said, store_turns, user_of
from tests.letters import LetterEncoder

SECRET = "Xylomander"
STEM = b"xyloman"
TURNS = (f"My dog is called {SECRET}.", f"{SECRET} lives in Porto, I think.", "I like walnuts.")
EAGER = Options(background=BackgroundOptions(idle_s=0.1))
"""Options with which the background looks around every tenth of a second."""


READING = """
import pathlib, sys
for file in pathlib.Path(sys.argv[1]).iterdir():
    sys.stdout.buffer.write(file.read_bytes())
"""


def whole(path: Path) -> bytes:
    """Every byte of the file and of whatever lies beside it, in lower case.

    Read by another process, as closing a file drops this one's locks.
    """
    return subprocess.run(
        [sys.executable, "-ISc", READING, str(path.parent)], check=True, capture_output=True
    ).stdout.lower()


async def copies(path: Path) -> int:
    return (await asyncio.to_thread(whole, path)).count(STEM)


@pytest.fixture
async def memory(database: Path, language: Language) -> AsyncIterator[Memory]:
    async with Memory.open(
        database, EAGER, encoder=CachedEncoder(LetterEncoder(), 100), language=language
    ) as opened:
        for number, turn in enumerate(TURNS):
            await opened.remember(said(turn, minutes=number))
        await opened.settle()
        yield opened


async def test_nothing_is_left_while_the_process_lives(memory: Memory, database: Path) -> None:
    assert await copies(database) > 10
    receipt = await memory.forget(user_id="ana", entity=SECRET)
    assert await copies(database) == 0
    assert receipt.leftovers is Leftovers.NONE and receipt.turns == 2
    assert "Nothing of it is left in the memory file." in str(receipt) and "Backups" in str(receipt)


VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
from hotmem.storage import open_storage, queries
from hotmem.types.maintenance import ForgetEntity, Leftovers
from tests.conversation import START, said

async def run(path):
    storage = open_storage(path)
    database = storage.database
    for number in range(40):
        turn = said(f"Xylomander is number {number} of my dogs.", minutes=number)
        await database.write(queries.turns.add, turn, START)
    user = await database.read(queries.users.find, "ana")
    await storage.forgetting.forget(user, ForgetEntity("Xylomander"))
    if sys.argv[2] == "emptied":
        assert await database.purge(1.0) is Leftovers.NONE
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(run(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("when", ["emptied", "committed"])
async def test_nothing_is_left_after_a_kill(when: str, database: Path) -> None:
    died = await asyncio.to_thread(warm.run, ["-c", VICTIM, str(database), when])
    assert died.returncode == -signal.SIGKILL
    if when == "committed":
        assert await copies(database), "what is not emptied yet is there"
        await open_storage(database).database.close()
    assert await copies(database) == 0


async def test_what_another_program_keeps_goes_once_it_stops_reading(
    memory: Memory, database: Path
) -> None:
    with closing(connect(database, read_only=True)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM turns").fetchone()
        receipt = await memory.forget(user_id="ana", entity=SECRET)
        assert receipt.leftovers is Leftovers.JOURNAL and "another program reads it" in str(receipt)
        assert await copies(database)
        assert await asyncio.wait_for(memory.remember(said("I like ferns.")), 1), (
            "others write meanwhile"
        )
        other.execute("ROLLBACK")
        left = 1
        for _ in range(100):
            if not (left := await copies(database)):
                break
            await asyncio.sleep(0.1)
        assert left == 0


async def test_forgetting_waits_for_a_short_read(memory: Memory, database: Path) -> None:
    with closing(connect(database, read_only=True)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM turns").fetchone()
        asyncio.get_running_loop().call_later(0.2, lambda: other.execute("ROLLBACK"))
        assert (await memory.forget(user_id="ana", entity=SECRET)).leftovers is Leftovers.NONE
        assert await copies(database) == 0


async def test_closing_tells_of_what_another_program_keeps(
    memory: Memory, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(connect(database, read_only=True)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM turns").fetchone()
        await memory.forget(user_id="ana", entity=SECRET)
        await memory.close()
        assert "journal not purged" in capsys.readouterr().err
    await open_storage(database).database.close()
    assert await copies(database) == 0


async def test_nothing_is_left_beneath_the_cipher(database: Path, language: Language) -> None:
    def pages() -> bytes:
        with closing(
            connect(database, key=EncryptionKey.from_source("a long passphrase"), read_only=True)
        ) as conn:
            return conn.serialize("main").lower()

    options = Options(key="a long passphrase")
    async with Memory.open(database, options, encoder=LetterEncoder(), language=language) as memory:
        for number, turn in enumerate(TURNS):
            await memory.remember(said(turn, minutes=number))
        await memory.settle()
        assert (await asyncio.to_thread(pages)).count(STEM)
        assert (await memory.forget(user_id="ana", entity=SECRET)).leftovers is Leftovers.NONE
        assert (await asyncio.to_thread(pages)).count(STEM) == 0


async def test_nothing_is_left_among_many_turns(database: Path) -> None:
    """Pages are split, joined and moved; what a moved row leaves behind is overwritten too."""
    storage = open_storage(database)
    for turn in life(turns=600):
        await store_turns(storage.database, turn)
    for number in range(0, 300, 3):
        await store_turns(
            storage.database,
            said(
                f"{SECRET} was here, {number} times. " * (1 + number % 40),
                session=f"week {number % 10}",
            ),
        )
    user = await user_of(storage.database)
    await storage.forgetting.forget(user, ForgetEntity(SECRET))
    assert await storage.database.purge(1.0) is Leftovers.NONE
    assert await copies(database) == 0
    await storage.database.close()


async def test_the_process_keeps_no_words_to_save_time(memory: Memory) -> None:
    await memory.recall(f"Where does {SECRET} live?", user_id="ana")
    encoder = memory.runtime.recall.encoder
    assert isinstance(encoder, CachedEncoder)
    find_command(f"Forget everything about {SECRET}.")
    before = encoder.misses
    encoder.encode([f"Was {SECRET} there?"])
    await memory.forget(user_id="ana", entity=SECRET)
    for function in (stem, stems, find_command):
        assert function.cache_info().currsize == 0
    encoder.encode([f"Was {SECRET} there?"])
    assert encoder.misses == before + 2
    assert memory.runtime.suppression.withholds(f"{SECRET} lives in Porto.", user_id="ana")
    assert STEM.decode() not in repr(vars(memory.runtime.suppression.forgotten)).lower()


async def test_nothing_is_left_of_what_waited_beside_the_file(
    memory: Memory, database: Path
) -> None:
    await memory.forget(user_id="ana", entity=SECRET)
    await memory.runtime.spool.put(said(f"{SECRET} waits."))
    assert await copies(database)
    assert (await memory.forget(user_id="ana", entity=SECRET)).turns == 1
    assert await copies(database) == 0
