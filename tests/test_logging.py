"""Log records go where the application sends them, and never to standard output."""

from typing import Any

from loguru import logger

from hotmem.core.logs import log
from tests import warm

APPLICATION = """
import asyncio
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
{setup}
from hotmem import Memory, Turn

async def main():
    with TemporaryDirectory() as folder:
        async with Memory.open(Path(folder) / "memory.db") as memory:
            turn = Turn("ana", "monday", "user", "My dog is called Potola.", datetime.now(UTC))
            await memory.remember(turn)
            await memory.forget(user_id="ana", everything=True)

asyncio.run(main())
"""


def run(setup: str = "") -> tuple[str, str]:
    """Return standard output and standard error of an application."""
    done = warm.run(["-c", APPLICATION.format(setup=setup)])
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_nothing_goes_to_standard_output() -> None:
    out, err = run()
    assert out == ""
    assert "hotmem.memory" in err and "forgotten turns=1" in err and "Potola" not in err


def test_level_and_destination_are_set_by_the_application() -> None:
    out, err = run(
        "import sys; from loguru import logger; logger.remove(); logger.add(sys.stdout, "
        "level='INFO', format='app {message}')"
    )
    assert "app forgotten turns=1" in out and err == ""
    assert run("from loguru import logger; logger.disable('hotmem')") == ("", "")


def test_a_record_has_the_fields_and_the_logging_module() -> None:
    records: list[Any] = []
    sink = logger.add(lambda message: records.append(message.record))
    log.warning("recall {late} <red>", session_id="monday", ms=3, reason=None)
    logger.remove(sink)
    (record,) = records
    assert (record["name"], record["level"].name) == (__name__, "WARNING")
    assert record["message"] == "recall {late} <red> session_id=monday ms=3"
    assert record["extra"] == {
        "event": "recall {late} <red>",
        "session_id": "monday",
        "ms": 3,
        "reason": None,
    }
