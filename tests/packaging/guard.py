"""Blocking network access of a process, and recording attempts, in Python and native code."""

import ctypes
import faulthandler
import platform
import signal
import sys
from pathlib import Path
from typing import Any, Final

ASKING: Final = {
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "socket.sendmsg",
}
"""Audit events of Python's socket module."""

CALLS: Final = {
    "x86_64": (0xC000003E, 42, 46, 307, 44),
    "aarch64": (0xC00000B7, 203, 211, 269, 206),
}
"""Linux: the audit number of a processor, and its system calls connect, sendmsg, sendmmsg and
sendto."""

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, TRAP = 0x7FFF0000, 0x00030000
NUMBER, ARCHITECTURE, FIFTH_ARGUMENT = 0, 4, 48
"""Offsets in the kernel's seccomp_data; the fifth argument of sendto is the address."""

NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("yes", ctypes.c_uint8),
        ("no", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def forbid_network(record: Path) -> None:
    """Record and refuse network access from Python; on Linux, kill on access from native code.

    Call it before any thread is started.
    """
    attempts = record.open("a", encoding="utf-8", buffering=1)
    faulthandler.register(signal.SIGSYS, attempts, all_threads=True, chain=True)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ASKING:
            attempts.write(f"{event} {arguments[:2]}\n")
            raise PermissionError(f"No network here: {event}")

    sys.addaudithook(refuse)
    if sys.platform == "linux":
        _trap_native_calls()


def _trap_native_calls() -> None:
    architecture, connect, sendmsg, sendmmsg, sendto = CALLS[platform.machine()]
    filters = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 0, 7, architecture),
        (LOAD, 0, 0, NUMBER),
        (EQUAL, 6, 0, connect),
        (EQUAL, 5, 0, sendmsg),
        (EQUAL, 4, 0, sendmmsg),
        (EQUAL, 0, 2, sendto),
        (LOAD, 0, 0, FIFTH_ARGUMENT),
        (EQUAL, 0, 1, 0),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, TRAP),
    ]
    instructions = (_Instruction * len(filters))(*(_Instruction(*one) for one in filters))
    program = _Program(len(filters), instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        SECCOMP, FILTER, ctypes.byref(program)
    ):
        raise OSError(ctypes.get_errno(), "The system calls cannot be filtered")
