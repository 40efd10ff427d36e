"""`hotmem doctor`: diagnose a memory and retry failed jobs."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from hotmem.cli import console
from hotmem.cli.memory_file import encryption_key, existing_database, with_storage
from hotmem.cli.parameters import Database, Json
from hotmem.core.counts import counted
from hotmem.core.location import Location, ServerUrl
from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem.core.encryption_key import EncryptionKey
    from hotmem.types import Diagnosis, FailedJob


def doctor(
    database: Database = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Retry jobs that were set aside after failing.")
    ] = False,
    json_: Json = False,
) -> None:
    """Diagnose the memory file: permissions, integrity, language, pending and failed jobs.

    On a PostgreSQL server: rights, isolation of users, connections, jobs, workers and vacuum.

    The exit code is 1 if something needs attention.
    """
    from hotmem.storage import queries

    location, key = existing_database(database), encryption_key()
    released = 0
    if retry:
        released = with_storage(
            location, lambda storage: storage.database.write_all(queries.job_failures.reset_all)
        )
    diagnosis = _diagnosed(location, key)
    if json_:
        console.print_json(_as_json(diagnosis))
    else:
        _print(diagnosis)
    if retry:
        console.print_note(
            f"{counted(released, 'job')} will be retried: within half a minute if a program has "
            "the memory open, otherwise when it is next opened."
            if released
            else "No jobs had been set aside."
        )
    if not diagnosis.well:
        raise typer.Exit(1)


def _diagnosed(location: Location, key: "EncryptionKey | None") -> "Diagnosis":
    from hotmem.storage import spool
    from hotmem.storage.sqlite import diagnosis as of_file

    settings = Settings()
    folder = settings.spool_dir
    if isinstance(location, ServerUrl):
        from hotmem.storage.postgres import diagnosis as of_server  # an extra

        spooled = spool.waiting_in(spool.path_of(location, folder), key)
        return of_server.diagnosed(location.url, spooled, settings.language)
    spooled = spool.waiting_in(spool.path_of(location.absolute(), folder), key)
    return of_file.diagnosed(location, key, spooled, settings.language)


def _print(diagnosis: "Diagnosis") -> None:
    table = Table.grid(padding=(0, 2))
    for one in diagnosis.findings:
        table.add_row(one.about, Text(one.fact, "yellow" if one.fix else ""))
        if one.fix:
            table.add_row("", Text(one.fix, "dim"))
    console.screen.print(table)
    if diagnosis.failures:
        failures = Table("user", "job", "target", "attempts", "error", "failed", "retry")
        for failure in diagnosis.failures:
            failures.add_row(
                failure.user_id,
                failure.work,
                failure.piece,
                str(failure.tries),
                failure.error,
                f"{failure.failed_at:%Y-%m-%d %H:%M} UTC",
                _retry_time(failure),
            )
        console.screen.print(failures)


def _retry_time(failure: "FailedJob") -> str:
    if failure.again_at is None:
        return "set aside"
    return f"{failure.again_at:%H:%M:%S} UTC" if failure.again_at > failure.failed_at else "next"


def _as_json(diagnosis: "Diagnosis") -> dict[str, Any]:
    return {
        "well": diagnosis.well,
        "findings": [asdict(one) for one in diagnosis.findings],
        "failures": [
            asdict(one)
            | {
                "failed_at": one.failed_at.isoformat(),
                "again_at": None if one.again_at is None else one.again_at.isoformat(),
            }
            for one in diagnosis.failures
        ],
    }
