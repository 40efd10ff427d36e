"""Commands for a whole memory: diagnosis, repair, language, audit, retention, encryption."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Column, Table
from rich.text import Text

from hotmem.cli import console
from hotmem.cli.console import Database, Json, Time
from hotmem.cli.memory_file import (
    encryption_key,
    existing_database,
    existing_database_file,
    tool_command,
    with_storage,
)
from hotmem.core.location import EncryptionKey, Location, ServerUrl
from hotmem.core.validation import counted
from hotmem.errors import InvalidInput
from hotmem.settings import Settings
from hotmem.types import Action

if TYPE_CHECKING:
    from hotmem.storage import Storage
    from hotmem.types import Act, AuditEntry, Diagnosis, FailedJob, ForgetResult, Overdue


def doctor(
    database: Database = None,
    retry: Annotated[bool, typer.Option("--retry")] = False,
    json_: Json = False,
) -> None:
    """Diagnose the memory file: permissions, integrity, language, pending and failed jobs.

    On a PostgreSQL server: rights, isolation of users, connections, jobs, workers and vacuum.

    The exit code is 1 if something needs attention.

    Options:
        retry: Retry jobs that were set aside after failing.
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


@tool_command("validate_storage", whole_file=True)
def validate() -> None:
    """Check the integrity of the memory file, its rows and its indexes."""


@tool_command("repair_index", whole_file=True)
def repair() -> None:
    """Mend damaged rows, and rebuild all indexes from the stored turns and memories."""


def language(
    code: Annotated[str | None, typer.Argument(metavar="[CODE]")] = None, database: Database = None
) -> None:
    """Show the language of a memory, or change it and index all words again.

    Stop the programs that use the memory first, and set HOTMEM_LANGUAGE for them afterwards.

    Options:
        code: New language, such as de, by its ISO 639-1 code.
    """
    from hotmem.storage import Storage, queries
    from hotmem.text.languages import checked_language

    location = existing_database(database)

    async def show(storage: Storage) -> str:
        return f"{location} has words indexed in the language {storage.database.language!r}."

    async def change(storage: Storage) -> str:
        wanted = checked_language(str(code))
        entries = await storage.database.write_all(queries.maintenance.change, wanted)
        indexed = counted(entries, "entry", "entries")
        return f"{location}: {indexed} indexed in the language {wanted!r}."

    console.print_line(with_storage(location, show if code is None else change))


NOUNS: Final = {
    "turns": ("turn",),
    "memories": ("memory", "memories"),
    "sessions": ("session",),
}
"""Nouns of the counts of an entry, for one and, if it is not formed by an s, for several."""


def audit(
    database: Database = None,
    user: Annotated[str | None, typer.Option("--user", "-u")] = None,
    since: Time = None,
    action: Annotated[
        str | None, typer.Option(help=f"Only this action: {', '.join(Action)}.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1)] = 200,
    json_: Json = False,
) -> None:
    """Show the audit log: who read, changed, exported or deleted memories.

    Entries contain IDs, counts and times, but no memory text. `hotmem decisions` shows reasons.

    Options:
        user: Only entries of this user ID.
        since: From this date or time, such as 2026-03-01.
        limit: Maximum entries, latest first.
    """
    if action is not None and action not in tuple(Action):
        raise InvalidInput(f"--action is {action!r}. Use one of: {', '.join(Action)}.")
    from hotmem.storage import queries

    entries: list[AuditEntry] = with_storage(
        existing_database(database),
        lambda storage: storage.database.read_all(
            queries.retention.entries,
            user,
            None if since is None else datetime.fromisoformat(since),
            None if action is None else Action(action),
            limit,
        ),
    )
    if json_:
        console.print_json([_entries_as_json(one) for one in entries])
        return
    table = Table(
        "number", Column("at (UTC)", no_wrap=True), "user", "actor", "action", "detail", "count"
    )
    for one in entries:
        counts = (counted(count, *NOUNS[name]) for name, count in _counts(one.act).items() if count)
        table.add_row(
            str(one.number),
            f"{one.at:%Y-%m-%d %H:%M:%S}",
            _user_label(one),
            one.who,
            one.act.action,
            one.act.what,
            ", ".join(counts),
        )
    console.screen.print(table if entries else "the audit log is empty")


def _user_label(entry: "AuditEntry") -> str:
    if entry.user_id is not None:
        return entry.user_id
    return "(erased)" if entry.act.action is Action.FORGET else "(all users)"


def _entries_as_json(entry: "AuditEntry") -> dict[str, Any]:
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "user": entry.user_id,
        "who": entry.who,
        "action": entry.act.action,
        "what": entry.act.what,
    } | _counts(entry.act)


def retain(
    database: Database = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    trust_clock: Annotated[bool, typer.Option("--trust-clock")] = False,
    json_: Json = False,
) -> None:
    """Delete data that is older than the retention rules allow.

    Rules come from HOTMEM_RETENTION_DAYS and HOTMEM_RETENTION_FILE. Running programs apply them
    once a day.

    Options:
        dry_run: Only print what would be deleted, by user and rule.
        trust_clock: Accept a clock that has jumped far ahead.
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
            [{"user": one.user_id, "rule": one.rule} | _counts(one.gone) for one in found]
        )
    elif not found:
        console.screen.print("no data is older than the rules allow")
    else:
        console.screen.print(_table(found, "would be deleted" if dry_run else "deleted"))


def _counts(of: "Act | ForgetResult") -> dict[str, int]:
    return {"turns": of.turns, "memories": of.memories, "sessions": of.sessions}


def _table(found: Sequence["Overdue"], title: str) -> Table:
    table = Table(
        "user", "rule", "turns", "memories", "sessions", title=title, title_justify="left"
    )
    for one in found:
        table.add_row(one.user_id, one.rule, *map(str, _counts(one.gone).values()))
    return table


SERVER_DISK: Final = "Encrypt the disk of the server."


def encrypt(database: Database = None) -> None:
    """Encrypt the memory file in place; no program may have it open.

    The key is that of HOTMEM_KEY or HOTMEM_KEY_FILE; if neither is set, it is prompted for.
    """
    from hotmem.storage.sqlite import connection

    path = existing_database_file(database, SERVER_DISK)
    if connection.encrypted(path):
        raise InvalidInput(f"{path} is already encrypted. `hotmem rekey` changes its key.")
    _convert(path, None, encryption_key() or _prompt_new())
    console.print_line(
        f"{path} is encrypted. Set HOTMEM_KEY or HOTMEM_KEY_FILE wherever it is opened: without "
        "the key, its content is lost. Earlier copies are not encrypted."
    )


def decrypt(database: Database = None) -> None:
    """Decrypt the memory file in place; no program may have it open."""
    path = existing_database_file(database, SERVER_DISK)
    _convert(path, encryption_key() or _prompt(), None)
    console.print_line(f"{path} is decrypted. Remove HOTMEM_KEY and HOTMEM_KEY_FILE.")


def rekey(database: Database = None, new_key_file: Path | None = None) -> None:
    """Change the key of an encrypted memory file; no program may have it open.

    Options:
        new_key_file: File whose first line is the new passphrase. (default: prompt)
    """
    path = existing_database_file(database, SERVER_DISK)
    new = _prompt_new() if new_key_file is None else EncryptionKey.from_source(new_key_file)
    _convert(path, encryption_key() or _prompt(), new)
    console.print_line(f"{path} has a new key. Earlier copies have the old key.")


def _convert(path: Path, before: EncryptionKey | None, after: EncryptionKey | None) -> None:
    """Convert the file, unless turns that are encrypted with the old key wait in the spool."""
    from hotmem.storage.spool import path_of, waiting_in
    from hotmem.storage.sqlite.opening import convert

    spool = path_of(path.absolute(), Settings().spool_dir)
    if waiting := waiting_in(spool, before):
        raise InvalidInput(
            f"{counted(waiting, 'turn')} in {spool} must be stored in the file first. Open the "
            "memory once, for example with `hotmem stats`, then try again."
        )
    spool.unlink(missing_ok=True)
    convert(path, before, after)


def _prompt() -> EncryptionKey:
    return EncryptionKey(typer.prompt("Passphrase", hide_input=True, err=True))


def _prompt_new() -> EncryptionKey:
    return EncryptionKey(
        typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True)
    )
