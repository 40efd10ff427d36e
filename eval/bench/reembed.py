"""A change of encoder while the memory is in use: late or failed recalls, and the final state.

The memory is built with the published encoder and opened with the default one. The user speaks
every `PAUSE_S` seconds until everything is re-embedded.
"""

import asyncio
import shutil
import time
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eval.bench.crowd import DEADLINE_MS, GRACE_MS
from eval.bench.history import SentenceCache
from eval.bench.scale import Size, stored
from eval.bench.synthetic import USER, SyntheticConversations
from eval.encoder.export import published_encoder
from hotmem import Memory
from hotmem.models import load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.storage import queries
from hotmem.storage.queries import reembedding
from hotmem.storage.queries.index_entries import TABLES, to_bits
from hotmem.storage.search.vectors import to_bytes
from hotmem.storage.sqlite.connection import connect
from hotmem.types import EvidenceKind, Role, Turn

PAUSE_S: Final = 2.0
"""Seconds between two utterances."""

QUESTIONS: Final = 1000
"""Number of questions asked in rotation."""

COMPARED: Final = 2000
"""Rows of each kind, evenly spaced, that are re-encoded at the end for comparison."""


@dataclass(slots=True)
class Change:
    """Results of a change of encoder.

    Attributes:
        turns: Turns in the memory.
        opened_s: Seconds until the memory was open, including models.
        changed_s: Seconds from then until all rows were re-embedded.
        recalls: Durations of recalls meanwhile, ms.
        late: Recalls that left out a layer because it was not ready.
        overdue: Recalls that returned more than `GRACE_MS` after their deadline.
        failed: Recalls that raised an error.
        after: Durations of as many recalls afterwards, ms.
        compared: Rows re-encoded at the end.
        different: Of these, rows with another vector, other signs or another index entry.
        missing: Rows without a vector at the end.
    """

    turns: int
    opened_s: float = 0.0
    changed_s: float = 0.0
    recalls: list[float] = field(default_factory=list)
    late: int = 0
    overdue: int = 0
    failed: int = 0
    after: list[float] = field(default_factory=list)
    compared: int = 0
    different: int = 0
    missing: int = 0


async def measure(turns: int, folder: Path, console: Console) -> Change:
    """Build the memory if the folder does not contain it, and change the encoder of a copy.

    Args:
        turns: Turns of one user.
        folder: Folder of the memory file.
        console: Console for the progress bar.
    """
    asked = SyntheticConversations().questions(QUESTIONS)
    with Progress(console=console) as progress:
        path = stored(
            Size(1, turns),
            folder,
            SentenceCache(published_encoder(), load_language()),
            asked,
            progress,
        )
        copy = Path(shutil.copyfile(path, path.with_suffix(".changed.db")))
        change = Change(turns)
        began = time.perf_counter()
        async with Memory.open(copy) as memory:
            change.opened_s = time.perf_counter() - began
            bar = progress.add_task("embedded anew", total=None)
            began = time.perf_counter()
            number = 0
            while (
                await memory.runtime.storage.database.read_all(queries.reembedding.former_encoder)
                is not None
            ):
                left = await asyncio.to_thread(_left, copy)
                progress.update(bar, description=f"embedded anew, {left:,} passages left")
                await _exchange(memory, change, asked[number % QUESTIONS], number)
                number += 1
                await asyncio.sleep(PAUSE_S)
            change.changed_s = time.perf_counter() - began
            await memory.settle()
            for question in asked[: max(min(len(change.recalls), QUESTIONS), 1)]:
                change.after.append((await _timed(memory, question))[0])
    await asyncio.to_thread(_compare, copy, change)
    return change


async def _exchange(memory: Memory, change: Change, question: str, number: int) -> None:
    try:
        took, late = await _timed(memory, question)
    except Exception:  # every failure is counted
        change.failed += 1
        return
    change.recalls.append(took)
    change.late += late
    change.overdue += took > DEADLINE_MS + GRACE_MS
    now = datetime.now(UTC)
    await memory.remember(Turn(USER, "live", Role.USER, question, now, id=f"live-{number}"))


async def _timed(memory: Memory, question: str) -> tuple[float, bool]:
    began = time.perf_counter()
    block = await memory.recall(question, user_id=USER, session_id="live", deadline_ms=DEADLINE_MS)
    return (time.perf_counter() - began) * 1000, bool(block.trace.late)


def _left(path: Path) -> int:
    with closing(connect(path, read_only=True)) as conn:
        return reembedding.boundary(conn, EvidenceKind.PASSAGE)


def _compare(path: Path, change: Change) -> None:
    """Re-encode some rows and compare them with the file."""
    encoder = load_encoder(ModelOptions())
    with closing(connect(path, read_only=True)) as conn:
        for kind, table in TABLES.items():
            change.missing += conn.execute(
                f"SELECT count(*) FROM {table} WHERE vector IS NULL"
            ).fetchone()[0]
            keys = [row[0] for row in conn.execute(f"SELECT id FROM {table} ORDER BY id")]
            some = keys[:: max(len(keys) // COMPARED, 1)]
            for key, text in reembedding.text_of(conn, kind, some):
                (reading,) = encoder.encode_tokens([text])
                row = conn.execute(
                    f"SELECT t.vector, e.bits FROM {table} t JOIN {kind}_entries e "
                    "ON e.user_key = t.user_key AND e.id = t.id WHERE t.id = ?",
                    (key,),
                ).fetchone()
                signs = (
                    conn.execute(
                        "SELECT signs FROM passage_signs WHERE passage = ?", (key,)
                    ).fetchone()
                    if kind is EvidenceKind.PASSAGE
                    else None
                )
                change.compared += 1
                same = row == (to_bytes(reading.vector), to_bits(reading.vector)) and (
                    signs is None or signs[0] == reading.token_signs.tobytes()
                )
                change.different += not same


def figures(change: Change) -> dict[str, float]:
    """Return the results as plain values."""
    return {
        "turns": change.turns,
        "opened_s": change.opened_s,
        "changed_s": change.changed_s,
        "recalls": len(change.recalls),
        "recall_p50_ms": float(np.percentile(change.recalls, 50)),
        "recall_p95_ms": float(np.percentile(change.recalls, 95)),
        "recall_max_ms": max(change.recalls),
        "late": change.late,
        "overdue": change.overdue,
        "failed": change.failed,
        "after_p50_ms": float(np.percentile(change.after, 50)),
        "after_p95_ms": float(np.percentile(change.after, 95)),
        "compared": change.compared,
        "different": change.different,
        "missing": change.missing,
    }


def show(change: Change, console: Console) -> None:
    """Print a row for each result."""
    table = Table("", "", title="another encoder during a conversation", title_justify="left")
    for name, value in figures(change).items():
        table.add_row(
            name.replace("_", " "),
            f"{value:,.0f}" if isinstance(value, int) or value >= 100 else f"{value:.1f}",
        )
    console.print(table)
