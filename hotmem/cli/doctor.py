"""The command that tells in what state a memory file is, and gives what failed its tries back."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hotmem.cli import console
from hotmem.cli.console import Database
from hotmem.core.encryption_key import EncryptionKey
from hotmem.settings import Settings
from hotmem.storage import Storage, open_storage, queries
from hotmem.storage.spool import path_of, waiting_in
from hotmem.storage.sqlite.diagnosis import diagnosed
from hotmem.text import escaping
from hotmem.types import Diagnosis, FailedJob


def doctor(
    database: Database = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Give what was set aside its tries back.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="The answer as JSON.")] = False,
) -> None:
    """Tells in what state the memory is: permissions, soundness, what waits, and what failed.

    The exit code is 1 if something needs attention.
    """
    path = console.existing(database)
    key = EncryptionKey.from_source(Settings().options().key)
    given = asyncio.run(_forgiven(open_storage(path, key))) if retry else 0
    found = diagnosed(path, key, waiting_in(path_of(path.absolute(), Settings().spool_dir), key))
    if json_:
        console.screen.print(escaping.format_json(_as_json(found)), soft_wrap=True)
    else:
        _show(found)
    if retry:
        when = "A program that has the memory open tries them again within half a minute; otherwise they are tried when it is next opened."
        told = (
            f"{given} pieces of work have their tries back. {when}"
            if given
            else "Nothing had been set aside."
        )
        console.console(stderr=True).print(told, soft_wrap=True)
    if not found.well:
        raise typer.Exit(1)


async def _forgiven(storage: Storage) -> int:
    try:
        return await storage.database.write(queries.jobs.forgive)
    finally:
        await storage.database.close()


def _show(found: Diagnosis) -> None:
    table = Table.grid(padding=(0, 2))
    for one in found.findings:
        table.add_row(one.about, Text(one.fact, "yellow" if one.fix else ""))
        if one.fix:
            table.add_row("", Text(one.fix, "dim"))
    console.screen.print(table)
    if found.failures:
        failures = Table("user", "work", "piece", "tries", "error", "failed", "again")
        for failure in found.failures:
            failed = f"{failure.failed_at:%Y-%m-%d %H:%M} UTC"
            failures.add_row(
                failure.user_id,
                failure.work,
                failure.piece,
                str(failure.tries),
                failure.error,
                failed,
                _again(failure),
            )
        console.screen.print(failures)


def _again(one: FailedJob) -> str:
    return (
        "set aside"
        if one.again_at is None
        else f"{one.again_at:%H:%M:%S} UTC"
        if one.again_at > one.failed_at
        else "next"
    )


def _as_json(found: Diagnosis) -> dict[str, Any]:
    failures = [
        asdict(one) | {"failed_at": one.failed_at.isoformat(), "again_at": _isoformat(one)}
        for one in found.failures
    ]
    return {
        "well": found.well,
        "findings": [asdict(one) for one in found.findings],
        "failures": failures,
    }


def _isoformat(one: FailedJob) -> str | None:
    return None if one.again_at is None else one.again_at.isoformat()
