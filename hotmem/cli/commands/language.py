"""`hotmem language`: show or change the language whose rules stem the words of a memory."""

from typing import Annotated

import typer

from hotmem.cli import console
from hotmem.cli.memory_file import existing_database, with_storage
from hotmem.cli.parameters import Database
from hotmem.core.counts import counted


def language(
    code: Annotated[
        str | None,
        typer.Argument(metavar="[CODE]", help="New language, such as de, by its ISO 639-1 code."),
    ] = None,
    database: Database = None,
) -> None:
    """Show the language of a memory, or change it and index all words again.

    Stop the programs that use the memory first, and set HOTMEM_LANGUAGE for them afterwards.
    """
    from hotmem.storage import Storage, queries
    from hotmem.text.languages import checked_language

    location = existing_database(database)

    async def show(storage: Storage) -> str:
        return f"{location} has words indexed in the language {storage.database.language!r}."

    async def change(storage: Storage) -> str:
        wanted = checked_language(str(code))
        entries = await storage.database.write_all(queries.languages.change, wanted)
        indexed = counted(entries, "entry", "entries")
        return f"{location}: {indexed} indexed in the language {wanted!r}."

    console.print_line(with_storage(location, show if code is None else change))
