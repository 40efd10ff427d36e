"""Identifies processes, so that one that died is recognised on the same machine."""

import os
import socket
from uuid import uuid4


def new_process_id() -> str:
    """A unique id that names this machine and process."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex}"


def has_died(process_id: str) -> bool:
    """Whether a process of this machine has ended; False where that cannot be known."""
    host, _, rest = process_id.partition("/")
    pid = rest.partition("/")[0]
    if host != socket.gethostname() or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
