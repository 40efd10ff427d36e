"""Diagnoses a database file: access rights, integrity, waiting and failed jobs. Writes nothing."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from hotmem.core.location import EncryptionKey
from hotmem.core.validation import counted
from hotmem.errors import StoreError
from hotmem.storage import diagnosis
from hotmem.storage.diagnosis import checked
from hotmem.storage.queries import job_failures, maintenance
from hotmem.storage.queries.times import BEHIND
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import STEPS, checked_version
from hotmem.types import Diagnosis, Finding

LONGEST_JOURNAL: Final = 64 * 2**20
"""Normal size of a journal in bytes: four times the size at which a write checkpoints it."""

REPAIR: Final = "Run: hotmem repair"
FIXES: Final = {
    "file": "Restore a backup.",
    "rows": "Restore a backup.",
    "references": f"{REPAIR}. If they stay, restore a backup.",
    "values": f"{REPAIR}. Vectors are computed again, what else cannot be read is left out.",
    "index": REPAIR,
}
"""What to do about a fault, by its place."""

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def diagnosed(
    path: Path, key: EncryptionKey | None, spooled: int = 0, language: str | None = None
) -> Diagnosis:
    """Examines a database file. Blocking; reads the whole file.

    Args:
        path: The file; others may write to it meanwhile.
        key: Its key, as far as it is known.
        spooled: Turns that wait in the spool.
        language: The language that is set; None for any.
    """
    findings = list(_rights(path))
    findings += diagnosis.of_spool(spooled)
    try:
        findings.append(
            Finding("encryption", "encrypted" if connection.encrypted(path) else "not encrypted")
        )
        with mapped_errors(path), closing(connect(path, key=key, read_only=True)) as conn:
            conn.execute("BEGIN")
            version = checked_version(conn, path)
            findings.append(Finding("schema", _schema(version)))
            findings.append(_journal(path))
            if version < len(STEPS):
                connection.check(conn, path)
                findings.append(
                    Finding("content", "sound, as far as a file of an older schema is looked at")
                )
                return Diagnosis(tuple(findings), ())
            findings += _content(conn, language)
            return Diagnosis(
                tuple(findings), tuple(job_failures.latest(conn, diagnosis.FAILURES_SHOWN))
            )
    except StoreError as error:
        fact, _, fix = str(error).partition(". ")
        return Diagnosis((*findings, Finding("content", fact, fix or "Restore a backup.")), ())


def _rights(path: Path) -> Iterator[Finding]:
    """Who else may read or change the file."""
    if os.name != "posix":
        return
    beside = [one for one in (path, *files.journals(path)) if one.exists()]
    names = " ".join(str(one) for one in beside if one.stat().st_mode & OTHERS)
    fact = "only its owner may read and change it"
    if names:
        fact = f"other users of this machine may read or change {names}"
    yield checked("permissions", fact, f"Run: chmod 600 {names}", wrong=bool(names))
    folder = path.absolute().parent
    mode = folder.stat().st_mode
    replaceable = bool(mode & OTHERS_WRITE and not mode & stat.S_ISVTX)
    who = "other users of this machine" if replaceable else "nobody else"
    fact = f"{who} may replace the file in {folder}"
    yield checked("folder", fact, f"Run: chmod go-w {folder}", wrong=replaceable)
    if not files.writable(path):
        yield Finding(
            "writing",
            "it cannot be written by this user, so nothing is remembered",
            "Make the file and its folder writable.",
        )


def _schema(version: int) -> str:
    if version == len(STEPS):
        return f"{version}, today's"
    return (
        "none, it is empty"
        if not version
        else f"{version}; {len(STEPS)} is today's, to which it is brought when it is next opened"
    )


def _journal(path: Path) -> Finding:
    size = sum(one.stat().st_size for one in files.journals(path)[:1] if one.exists())
    sizes = f"{size / 2**20:.1f} MB, beside {path.stat().st_size / 2**20:.1f} MB of the file"
    fix = (
        "A program reads for a very long time, or was killed: end it, then open the memory "
        "and close it, which empties the journal."
    )
    return checked("journal", sizes, fix, wrong=size > LONGEST_JOURNAL)


def _content(conn: Connection, language: str | None) -> Iterator[Finding]:
    faults = maintenance.faults(conn)
    for fault in faults:
        yield Finding("content", f"{fault.where}: {fault.rows} {fault.what}", FIXES[fault.where])
    if not faults:
        yield Finding("content", "sound: the file, its references and its indexes")
    yield from diagnosis.of_copy(conn)
    yield from diagnosis.of_language(conn, language)
    yield from diagnosis.of_encoders(conn)
    if off := conn.scalar(
        "SELECT count(*) FROM turns WHERE abs(order_time - spoken_at) > ?", (BEHIND,)
    ):
        yield Finding(
            "clock",
            f"{counted(off, 'turn was', 'turns were')} said while the clock was wrong by more than "
            "a day; the order is kept, the dates are the clock's",
        )
    yield from diagnosis.of_jobs(conn)
