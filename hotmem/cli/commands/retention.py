"""`hotmem retain`: apply the retention rules."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from hotmem.cli import console
from hotmem.cli.memory_file import existing_database, with_storage
from hotmem.cli.parameters import Database, Json
from hotmem.errors import InvalidInput
from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem.storage import Storage
    from hotmem.types import Overdue


def retain(
    database: Database = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be deleted, by user and rule.")
    ] = False,
    trust_clock: Annotated[
        bool,
        typer.Option("--trust-clock", help="Accept a clock that has jumped far ahead."),
    ] = False,
    json_: Json = False,
) -> None:
    """Delete data that is older than the retention rules allow.

    Rules come from HOTMEM_RETENTION_DAYS and HOTMEM_RETENTION_FILE. Running programs apply them
    once a day.
    """
    options = Settings().options()
    if not options.retention:
        raise InvalidInput(
            "No retention rule is set. Set HOTMEM_RETENTION_DAYS, or HOTMEM_RETENTION_FILE for "
            "several rules."
        )

    async def run(storage: "Storage") -> list["Overdue"]:
        from hotmem.operations.retention import Retention

        now = datetime.now(UTC)
        retention = Retention(storage, options.retention, options.audit.days)
        if dry_run:
            return await retention.preview(now)
        if reason := await retention.check_clock(now, trusted=trust_clock):
            raise InvalidInput(
                f"Nothing was deleted: {reason}. If that is right, add --trust-clock; run with "
                "--dry-run first."
            )
        return await retention.run_all(now)

    found = with_storage(existing_database(database), run)
    if json_:
        console.print_json(
            [{"user": one.user_id, "rule": one.rule} | _counts(one) for one in found]
        )
    elif not found:
        console.screen.print("no data is older than the rules allow")
    else:
        console.screen.print(_table(found, "would be deleted" if dry_run else "deleted"))


def _counts(one: "Overdue") -> dict[str, int]:
    return {"turns": one.gone.turns, "memories": one.gone.memories, "sessions": one.gone.sessions}


def _table(found: Sequence["Overdue"], title: str) -> Table:
    table = Table(
        "user", "rule", "turns", "memories", "sessions", title=title, title_justify="left"
    )
    for one in found:
        table.add_row(one.user_id, one.rule, *map(str, _counts(one).values()))
    return table
