"""Files that are made for the user.

Whole or not at all, never through a link that somebody planted, never over a file that nobody gave
up.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hotmem.errors import InvalidInput


@contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A private file to be written, which takes the name of `path` when the block ends well.

    It is written in a folder that no other account can reach into, so nothing can be put in its
    way.

    Args:
        path: What it will be called. A link of that name is not followed.
        overwrite: Whether it takes the place of a file or link of that name.

    Raises:
        InvalidInput: If something has that name, or the folder cannot be written.
    """
    if not overwrite and os.path.lexists(path):
        raise _taken(path)
    try:
        with TemporaryDirectory(
            prefix=".hotmem-", dir=path.absolute().parent, ignore_cleanup_errors=True
        ) as folder:
            Path(folder).chmod(0o700)  # a umask may have taken the owner's rights
            making = Path(folder) / "making"
            making.touch(0o600, exist_ok=False)
            making.chmod(0o600)
            yield making
            if overwrite:
                making.replace(path)
            else:
                _name(making, path)
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written ({type(error).__name__}). Name a file in a folder that you may write in."
        ) from error


def _name(making: Path, path: Path) -> None:
    """Gives a file its name, unless something has it.

    Raises:
        FileExistsError: If something has it.
    """
    try:
        os.link(making, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: the name is taken first, which fails for whoever comes second, and then filled
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            making.replace(path)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise


def _taken(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{path} exists. Name a file that does not, or ask for it to be overwritten where that is offered (--overwrite)."
    )
