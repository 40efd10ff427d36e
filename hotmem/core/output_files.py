"""Atomic creation of output files.

A file is complete or absent. Symbolic links are not followed, and existing files are replaced only
on request.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hotmem.errors import InvalidInput


@contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Create a private temporary file and rename it to `path` if the block succeeds.

    The temporary file is in a new folder that only its owner can access, so no other account can
    replace it.

    Args:
        path: Final path. A symbolic link there is not followed.
        overwrite: Whether to replace an existing file or link.

    Raises:
        InvalidInput: If the path exists, or the folder is not writable.
    """
    if not overwrite and os.path.lexists(path):
        raise _exists(path)
    try:
        with TemporaryDirectory(
            prefix=".hotmem-", dir=path.absolute().parent, ignore_cleanup_errors=True
        ) as folder:
            Path(folder).chmod(0o700)  # a umask may have removed the owner's rights
            temporary = Path(folder) / "making"
            temporary.touch(0o600, exist_ok=False)
            temporary.chmod(0o600)
            yield temporary
            if overwrite:
                temporary.replace(path)
            else:
                _rename_new(temporary, path)
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written ({type(error).__name__}). Name a file in a writable folder."
        ) from error


def _rename_new(temporary: Path, path: Path) -> None:
    """Rename a file without replacing another.

    Raises:
        FileExistsError: If the path exists.
    """
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here: reserve the name, which fails if it exists, then replace it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            temporary.replace(path)
        except BaseException:  # interrupted or not, the reserved name is freed
            with suppress(OSError):
                path.unlink()
            raise


def _exists(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} exists. Name another file.")
