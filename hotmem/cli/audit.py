"""The command that shows the audit trail."""

import asyncio
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from hotmem.cli import console
from hotmem.cli.console import Database
from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.settings import Settings
from hotmem.storage import Storage, open_storage, queries
from hotmem.text import escaping
from hotmem.types import Action, AuditEntry


def audit(
    database: Database = None,
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Only with this user's memory.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="From this day or time on, as 2026-03-01.", callback=console.moment),
    ] = None,
    action: Annotated[str | None, typer.Option(help=f"Only this: {', '.join(Action)}.")] = None,
    limit: Annotated[int, typer.Option(help="Entries at most, the latest.", min=1)] = 200,
    json_: Annotated[bool, typer.Option("--json", help="The answer as JSON.")] = False,
) -> None:
    """Lists who looked at a memory, changed it or took something out of it.

    Ids, counts and times, and no words. Why is in `hotmem decisions`.
    """
    if action is not None and action not in tuple(Action):
        raise InvalidInput(f"--action is {action!r}. Use one of: {', '.join(Action)}.")
    wanted = None if action is None else Action(action)
    path, key = console.existing(database), EncryptionKey.from_source(Settings().options().key)
    first = None if since is None else datetime.fromisoformat(since)
    entries = asyncio.run(_entries(open_storage(path, key), user, first, wanted, limit))
    if json_:
        console.screen.print(
            escaping.format_json([_as_json(one) for one in entries]), soft_wrap=True
        )
        return
    table = Table("number", Column("at (UTC)", no_wrap=True), "user", "who", "did", "with", "of")
    for one in entries:
        table.add_row(
            str(one.number),
            f"{one.at:%Y-%m-%d %H:%M:%S}",
            _user(one),
            one.who,
            one.act.action,
            one.act.what,
            _counted(one),
        )
    console.screen.print(table if entries else "nothing is on record")


async def _entries(
    storage: Storage, user: str | None, since: datetime | None, action: Action | None, limit: int
) -> list[AuditEntry]:
    try:
        return await storage.database.read(queries.audit.entries, user, since, action, limit)
    finally:
        await storage.database.close()


def _user(one: AuditEntry) -> str:
    if one.user_id is not None:
        return one.user_id
    return "(erased)" if one.act.action is Action.FORGET else "(everybody)"


def _counted(one: AuditEntry) -> str:
    counts = {"turns": one.act.turns, "memories": one.act.memories, "sessions": one.act.sessions}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _as_json(one: AuditEntry) -> dict[str, Any]:
    act = one.act
    counts = {"turns": act.turns, "memories": act.memories, "sessions": act.sessions}
    return {
        "number": one.number,
        "at": one.at.isoformat(),
        "user": one.user_id,
        "who": one.who,
        "action": act.action,
        "what": act.what,
    } | counts
