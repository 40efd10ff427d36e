"""Identifies processes, so that one that died is recognised on the same machine."""

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final
from uuid import uuid4

PROC: Final = Path("/proc")
"""What Linux tells of processes; elsewhere there is no such folder."""


def new_process_id() -> str:
    """A unique id that names this machine and process."""
    return f"{_machine()}/{os.getpid()}/{uuid4().hex}"


def has_died(process_id: str) -> bool:
    """Whether a process of this machine has ended; False where that cannot be known."""
    machine, _, rest = process_id.partition("/")
    pid = rest.partition("/")[0]
    if machine != _machine() or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(pid)


@cache
def _machine() -> str:
    """The host's name, boot and, in containers that may share both, space of process numbers."""
    parts = [socket.gethostname().replace("/", "-")]
    with suppress(OSError):
        parts.append((PROC / "sys/kernel/random/boot_id").read_text("utf-8").strip())
        parts.append(str((PROC / "self/ns/pid").stat().st_ino))
    return ".".join(parts)


def _is_zombie(pid: str) -> bool:
    """Whether a process has ended and its parent has not asked for its result yet."""
    try:
        state = (PROC / pid / "stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] == ["Z"]
