"""The commands that encrypt a memory file, take its encryption away, and change its key.

No key is an argument, which other users can see.
"""

from pathlib import Path
from typing import Annotated

import typer

from hotmem.cli import console
from hotmem.cli.console import Database
from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.settings import Settings
from hotmem.storage.spool import path_of as spool_of
from hotmem.storage.spool import waiting_in
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.encryption import convert


def encrypt(database: Database = None) -> None:
    """Encrypts the memory file with the key of HOTMEM_KEY or HOTMEM_KEY_FILE, or one that is asked for. Nobody may have the file open."""
    path = console.existing(database)
    if connection.encrypted(path):
        raise InvalidInput(f"{path} is encrypted already. `hotmem rekey` gives it another key.")
    _convert(path, None, _present() or _chosen())
    told = "Set HOTMEM_KEY or HOTMEM_KEY_FILE wherever it is opened: without the key nothing of it can be read again. Copies made before are plain."
    console.screen.print(f"{path} is encrypted. {told}", soft_wrap=True)


def decrypt(database: Database = None) -> None:
    """Makes the memory file plain again. Nobody may have it open."""
    path = console.existing(database)
    _convert(path, _present() or _asked(), None)
    console.screen.print(
        f"{path} is not encrypted any more. Take HOTMEM_KEY and HOTMEM_KEY_FILE away.",
        soft_wrap=True,
    )


def rekey(
    database: Database = None,
    new_key_file: Annotated[
        Path | None,
        typer.Option(
            help="A file whose first line is the new passphrase; it is asked for, if left out."
        ),
    ] = None,
) -> None:
    """Encrypts the memory file with another key. Nobody may have it open."""
    path = console.existing(database)
    _convert(
        path,
        _present() or _asked(),
        _chosen() if new_key_file is None else EncryptionKey.from_source(new_key_file),
    )
    console.screen.print(
        f"{path} has a new key. Copies made before have the old one.", soft_wrap=True
    )


def _convert(path: Path, before: EncryptionKey | None, after: EncryptionKey | None) -> None:
    """Gives a file another key, unless something waits for it that is encrypted with the old one."""
    spool = spool_of(path.absolute(), Settings().spool_dir)
    if waiting := waiting_in(spool, before):
        raise InvalidInput(
            f"{waiting} turns wait in {spool} for this file. Open the memory once, which takes them in: hotmem doctor. Then try again."
        )
    spool.unlink(missing_ok=True)
    convert(path, before, after)


def _present() -> EncryptionKey | None:
    return EncryptionKey.from_source(Settings().options().key)


def _asked() -> EncryptionKey:
    return EncryptionKey(typer.prompt("Passphrase", hide_input=True, err=True))


def _chosen() -> EncryptionKey:
    return EncryptionKey(
        typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True)
    )
