"""`hotmem migrate`: create or migrate the schema of a database."""

from typing import Annotated

import typer

from hotmem.cli import console
from hotmem.cli.memory_file import encryption_key, named_database


def migrate(
    database: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|URL]",
            help="Memory file, or postgresql:// URL of the schema's owner. (default: "
            "HOTMEM_DATABASE, memory.db)",
        ),
    ] = None,
) -> None:
    """Create the schema of a database, or update it to this version of HotMem.

    Bots and workers that connect as an application role cannot. Run it as the owner of the schema
    before they start.
    """
    from hotmem.storage import migrate_storage

    location = named_database(database)
    version = migrate_storage(location, encryption_key())
    console.print_line(f"{location} has schema {version}.")
