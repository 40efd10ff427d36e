"""What it would cost to store a decision for each fact that is read, and what the list costs.

Decisions about facts read from speech are derived from the memories. The same file with a row for
each is the other arm.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from eval.bench.synthetic import USER, SyntheticConversations
from hotmem import Memory
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.tools.maintenance import DecisionsArguments, memory_decisions
from hotmem.types import DecisionAction, UserKey

LISTED: Final = 20
"""Times that the list is read."""


@dataclass(frozen=True, slots=True)
class DecisionCosts:
    """Results.

    Attributes:
        turns: Turns of the one user.
        facts: Facts that were read from them.
        others: Decisions that have a row in any case.
        derived_bytes: Bytes a turn with derived decisions.
        stored_bytes: Bytes a turn with a row for each.
        read_s: Seconds from the first turn until all facts were read.
        store_s: Seconds that storing the rows took.
        list_ms: Median milliseconds of the list of the latest 50.
    """

    turns: int
    facts: int
    others: int
    derived_bytes: float
    stored_bytes: float
    read_s: float
    store_s: float
    list_ms: float


async def measure(turns: int, folder: Path) -> DecisionCosts:
    """Store turns in a new memory file, and then a row for each reading.

    Args:
        turns: Turns of the one user.
        folder: Folder of the file.
    """
    async with Memory.open(folder / "decisions.db") as memory:
        begun = perf_counter()
        for turn in SyntheticConversations().turns(turns):
            await memory.remember(turn)
        await memory.settle()
        read_s = perf_counter() - begun
        database = memory.runtime.database
        user = await database.read_all(queries.users.find, USER)
        assert user is not None
        times = []
        for _ in range(LISTED):
            begun = perf_counter()
            await memory_decisions(memory, USER, DecisionsArguments())
            times.append(1000 * (perf_counter() - begun))
        readings = await database.read(
            queries.readings.of_user, user, 2 * turns + 1000, (DecisionAction.READ,)
        )
        others = len(await database.read(queries.decisions.of_user, user, 2 * turns + 1000))
        derived = await database.read_all(_used_bytes)
        begun = perf_counter()
        await database.write(_store, user, [one.id for one in readings])
        store_s = perf_counter() - begun
        stored = await database.read_all(_used_bytes)
    return DecisionCosts(
        turns=turns,
        facts=len(readings),
        others=others,
        derived_bytes=derived / turns,
        stored_bytes=stored / turns,
        read_s=read_s,
        store_s=store_s,
        list_ms=median(times),
    )


def _store(conn: Connection, user: UserKey, names: list[str]) -> None:
    for name in names:
        queries.readings.store(conn, user, name)


def _used_bytes(conn: Connection) -> int:
    """Bytes of the pages in use."""
    pages, free, size = (
        conn.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def show(result: DecisionCosts, console: Console) -> None:
    """Print both arms."""
    title = (
        f"{result.turns:,} turns, {result.facts:,} facts read from them, {result.others} other "
        "decisions"
    )
    table = Table(
        "decisions of facts", "bytes a turn", "seconds", title=title, title_justify="left"
    )
    table.add_row("derived", f"{result.derived_bytes:,.0f}", f"{result.read_s:.1f}")
    table.add_row(
        "a row each",
        f"{result.stored_bytes:,.0f} (+{result.stored_bytes / result.derived_bytes - 1:.1%})",
        f"{result.read_s + result.store_s:.1f} (+{result.store_s / result.read_s:.1%})",
    )
    console.print(table)
    console.print(f"the latest 50 are listed in {result.list_ms:.1f} ms", highlight=False)


def figures(result: DecisionCosts) -> dict[str, Any]:
    """Return the results as plain values."""
    return asdict(result)
