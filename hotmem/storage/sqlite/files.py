"""The database file: whether it is writable, still the same, and who locks it."""

import os
import re
from pathlib import Path
from typing import Final, TypeAlias

from hotmem.errors import StoreGone, StoreUnusable

Identity: TypeAlias = tuple[int, int]
"""Device and inode."""

_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/")
_LOCKS: Final = Path("/proc/locks")
_LOCK: Final = re.compile(
    r": (?:POSIX|OFDLCK) +\w+ +WRITE +(?P<pid>-?\d+) "
    r"(?P<device>[0-9a-f]+:[0-9a-f]+):(?P<inode>\d+) (?P<start>\d+)"
)
_WRITE_LOCK: Final = "120"
"""Byte of the -shm file that SQLite locks for a write."""

_OF_FILE: Final = 0o600
_OF_FOLDER: Final = 0o700


def check_path(path: Path) -> None:
    """Checks that a path can be that of a database.

    Raises:
        StoreUnusable: Naming what is there instead, or what is missing.
    """
    if str(path) == ":memory:":
        raise StoreUnusable(
            "':memory:' is not a file. HotMem keeps its memory in a file; pass a path."
        )
    check_reachable(path)
    if path.is_dir():
        raise StoreUnusable(
            f"{path} is a folder. Pass the path of a file in it, such as {path / 'memory.db'}."
        )
    if path.exists():
        if not path.is_file():
            raise StoreUnusable(f"{path} is no regular file. Pass another path.")
        if not os.access(path, os.R_OK):
            raise StoreUnusable(
                f"{path} may not be read by this user. Change its permissions, or open "
                "another file."
            )
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise StoreUnusable(
            f"{path} cannot be made: the folder {folder} is not there. Make it, or pass "
            "another path."
        )
    if not os.access(folder, os.W_OK):
        raise StoreUnusable(
            f"{path} cannot be made: the folder {folder} cannot be written. Change its "
            "permissions, or pass another path."
        )


def check_reachable(path: Path) -> None:
    """Checks that a path is no URL and not in a folder closed to this user.

    Raises:
        StoreUnusable: If it is one.
    """
    if url := _URL.match(str(path)):
        raise StoreUnusable(
            f"A URL ({url['scheme']}://…) is no memory file. Pass a path, such as "
            "memory.db, or the URL of a PostgreSQL database as text: postgresql://user@host/name."
        )
    folder = path.absolute().parent
    if os.access(folder, os.F_OK) and not os.access(folder, os.X_OK):
        raise StoreUnusable(
            f"{path} cannot be reached: the folder {folder} is closed to this user. "
            "Change its permissions, or pass another path."
        )


def writable(path: Path) -> bool:
    """Whether a file and SQLite's journal beside it can be written."""
    if not os.access(path, os.F_OK):
        return True
    room = os.access(path.absolute().parent, os.W_OK | os.X_OK) or all(
        os.access(one, os.W_OK) for one in journals(path)
    )
    return os.access(path, os.W_OK) and room


def created(path: Path) -> int:
    """Creates a file with access for its owner alone; returns it open for writing.

    The umask has no influence.

    Raises:
        FileExistsError: If it exists.
        OSError: If it cannot be created.
    """
    handle = os.open(
        path.resolve(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OF_FILE
    )  # resolved, as a link may point to a missing file
    path.chmod(_OF_FILE)  # the umask may have removed the owner's rights
    return handle


def make_folder(folder: Path) -> None:
    """Creates a folder and its parents with access for their owner alone.

    Existing ones are not changed.
    """
    for one in reversed((folder, *folder.parents)):
        if not one.exists():
            one.mkdir(_OF_FOLDER)
            one.chmod(_OF_FOLDER)


def in_use(path: Path) -> bool:
    """Whether SQLite's journal or its index exist: a process has the file open, or was killed."""
    return any(one.exists() for one in journals(path))


def journals(path: Path) -> tuple[Path, Path]:
    """Paths of SQLite's journal and its index, whether they exist or not."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def identity(path: Path) -> Identity:
    """The device and inode of a file."""
    status = path.stat()
    return status.st_dev, status.st_ino


def check_same(path: Path, opened: Identity) -> None:
    """Checks that the file at a path is the one that was opened there.

    Raises:
        StoreGone: If it was deleted, moved or replaced.
    """
    try:
        fact = None if identity(path) == opened else "replaced by another file"
    except FileNotFoundError:
        fact = "deleted or moved"
    except OSError as error:
        fact = f"made unreachable ({type(error).__name__})"
    if fact:
        raise StoreGone(
            f"{path} was {fact} while it was open, and nothing is stored from then on. "
            "Put the file back and open the memory again."
        )


def holder(path: Path) -> str:
    """The process that holds the write lock of a database file.

    For example "process 4711 (python)", or "another program" where the system does not tell.
    """
    try:
        inode = str(journals(path)[1].stat().st_ino)
        held = (_LOCK.search(line) for line in _LOCKS.read_text("utf-8").splitlines())
        pid = next(
            (
                int(lock["pid"])
                for lock in held
                if lock and lock["inode"] == inode and lock["start"] == _WRITE_LOCK
            ),
            0,
        )
        if pid == os.getpid():
            return f"this process ({pid}), which has the file open twice or is in a long write"
        name = Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip() if pid > 0 else ""
    except OSError:
        return "another program"
    return f"process {pid} ({name})" if name else "another program"
