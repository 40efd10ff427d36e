"""Commands that encrypt and decrypt a memory file and change its key.

The key is never an argument, because other users of the machine can see arguments.
"""

from pathlib import Path
from typing import Annotated, Final

import typer

from hotmem.cli import console
from hotmem.cli.memory_file import encryption_key, existing_database_file
from hotmem.cli.parameters import Database
from hotmem.core.counts import counted
from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.settings import Settings

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


def rekey(
    database: Database = None,
    new_key_file: Annotated[
        Path | None,
        typer.Option(help="File whose first line is the new passphrase. (default: prompt)"),
    ] = None,
) -> None:
    """Change the key of an encrypted memory file; no program may have it open."""
    path = existing_database_file(database, SERVER_DISK)
    new = _prompt_new() if new_key_file is None else EncryptionKey.from_source(new_key_file)
    _convert(path, encryption_key() or _prompt(), new)
    console.print_line(f"{path} has a new key. Earlier copies have the old key.")


def _convert(path: Path, before: EncryptionKey | None, after: EncryptionKey | None) -> None:
    """Convert the file, unless turns that are encrypted with the old key wait in the spool."""
    from hotmem.storage.spool import path_of, waiting_in
    from hotmem.storage.sqlite.encryption import convert

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
