"""The command that forgets what has been kept for as long as it may be."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from hotmem.cli import console
from hotmem.cli.console import Database
from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.operations.retention import Retention
from hotmem.options import Options
from hotmem.settings import Settings
from hotmem.storage import Storage, open_storage
from hotmem.text import escaping
from hotmem.types import Overdue


def retain(
    database: Database = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only says how much would go, by user and rule.")
    ] = False,
    trust_clock: Annotated[
        bool,
        typer.Option(
            "--trust-clock", help="Take this machine's clock as right, however far it has gone on."
        ),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="The answer as JSON.")] = False,
) -> None:
    """Forgets what is too old by HOTMEM_RETENTION_DAYS and HOTMEM_RETENTION_FILE, everywhere and for good; the background does so once a day."""
    options = Settings().options()
    if not options.retention:
        raise InvalidInput(
            "There is no rule of how long anything is kept. Set HOTMEM_RETENTION_DAYS, or HOTMEM_RETENTION_FILE for more of them."
        )
    path, key = console.existing(database), EncryptionKey.from_source(options.key)
    found = asyncio.run(
        _retained(open_storage(path, key), options, dry_run=dry_run, trusted=trust_clock)
    )
    if json_:
        rows = [{"user": one.user_id, "rule": one.rule} | _counts(one) for one in found]
        console.screen.print(escaping.format_json(rows), soft_wrap=True)
    elif not found:
        console.screen.print("nothing is too old")
    else:
        console.screen.print(_table(found, "would go" if dry_run else "gone"))


async def _retained(
    storage: Storage, options: Options, *, dry_run: bool, trusted: bool
) -> list[Overdue]:
    now = datetime.now(UTC)
    retention = Retention(storage, options.retention, options.audit.days)
    try:
        if dry_run:
            return await retention.preview(now)
        if reason := await retention.check_clock(now, trusted=trusted):
            raise InvalidInput(
                f"Nothing was removed: {reason}. If that is right, add --trust-clock; look at --dry-run first."
            )
        return await retention.run_all(now)
    finally:
        await storage.database.close()


def _counts(one: Overdue) -> dict[str, int]:
    return {"turns": one.gone.turns, "memories": one.gone.memories, "sessions": one.gone.sessions}


def _table(found: Sequence[Overdue], title: str) -> Table:
    table = Table(
        "user", "rule", "turns", "memories", "sessions", title=title, title_justify="left"
    )
    for one in found:
        table.add_row(one.user_id, one.rule, *map(str, _counts(one).values()))
    return table
