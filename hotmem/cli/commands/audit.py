"""`hotmem audit`: show the audit log."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Column, Table

from hotmem.cli import console
from hotmem.cli.memory_file import existing_database, with_storage
from hotmem.cli.parameters import Database, Json, parse_time
from hotmem.core.counts import counted
from hotmem.errors import InvalidInput
from hotmem.types import Action

if TYPE_CHECKING:
    from hotmem.types import Act, AuditEntry

NOUNS: Final = {
    "turns": ("turn",),
    "memories": ("memory", "memories"),
    "sessions": ("session",),
}
"""Nouns of the counts of an entry, for one and, if it is not formed by an s, for several."""


def audit(
    database: Database = None,
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Only entries of this user ID.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="From this date or time, such as 2026-03-01.", callback=parse_time),
    ] = None,
    action: Annotated[
        str | None, typer.Option(help=f"Only this action: {', '.join(Action)}.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum entries, latest first.", min=1)] = 200,
    json_: Json = False,
) -> None:
    """Show the audit log: who read, changed, exported or deleted memories.

    Entries contain IDs, counts and times, but no memory text. `hotmem decisions` shows reasons.
    """
    if action is not None and action not in tuple(Action):
        raise InvalidInput(f"--action is {action!r}. Use one of: {', '.join(Action)}.")
    from hotmem.storage import queries

    entries: list[AuditEntry] = with_storage(
        existing_database(database),
        lambda storage: storage.database.read_all(
            queries.audit.entries,
            user,
            None if since is None else datetime.fromisoformat(since),
            None if action is None else Action(action),
            limit,
        ),
    )
    if json_:
        console.print_json([_as_json(one) for one in entries])
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


def _counts(act: "Act") -> dict[str, int]:
    return {"turns": act.turns, "memories": act.memories, "sessions": act.sessions}


def _as_json(entry: "AuditEntry") -> dict[str, Any]:
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "user": entry.user_id,
        "who": entry.who,
        "action": entry.act.action,
        "what": entry.act.what,
    } | _counts(entry.act)
