"""Diagnoses a database file: access rights, integrity, waiting and failed jobs. Writes nothing."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import StoreError
from hotmem.storage.queries import encoders, job_failures, jobs, maintenance, reembedding
from hotmem.storage.queries.imports import IN_PROGRESS
from hotmem.storage.queries.order import BEHIND
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import STEPS, checked_version
from hotmem.types import Diagnosis, Finding, JobKind

LONGEST_JOURNAL: Final = 64 * 2**20
"""Normal size of a journal in bytes: four times the size at which a write checkpoints it."""

FAILURES_SHOWN: Final = 1000
"""Failed jobs listed at most."""

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH

WAITING: Final = {
    JobKind.TURN: "turns to be understood",
    JobKind.PASSAGE: "passages to be embedded",
    JobKind.MEMORY: "memories to be embedded",
    JobKind.SUMMARY: "summaries to be embedded",
    JobKind.SESSION: "conversations to be summarised",
    JobKind.IMPORT: "imports to be rolled back",
}
"""Descriptions of waiting jobs by kind."""


def diagnosed(path: Path, key: EncryptionKey | None, spooled: int = 0) -> Diagnosis:
    """Examines a database file. Blocking; reads the whole file.

    Args:
        path: The file; others may write to it meanwhile.
        key: Its key, as far as it is known.
        spooled: Turns that wait in the spool.
    """
    findings = list(_rights(path))
    if spooled:
        findings.append(
            Finding(
                "spool",
                f"{spooled} turns wait in the spool",
                "Open the memory once, with a bot or a command that writes: they are stored then.",
            )
        )
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
            findings += _content(conn)
            return Diagnosis(tuple(findings), tuple(job_failures.latest(conn, FAILURES_SHOWN)))
    except StoreError as error:
        fact, _, fix = str(error).partition(". ")
        return Diagnosis((*findings, Finding("content", fact, fix or "Restore a backup.")), ())


def _rights(path: Path) -> Iterator[Finding]:
    """Who else may read or change the file."""
    if os.name != "posix":
        return
    beside = [one for one in (path, *files.journals(path)) if one.exists()]
    open_to_others = [one for one in beside if one.stat().st_mode & OTHERS]
    names = " ".join(str(one) for one in open_to_others)
    if open_to_others:
        yield Finding(
            "permissions",
            f"other users of this machine may read or change {names}",
            f"Run: chmod 600 {names}",
        )
    else:
        yield Finding("permissions", "only its owner may read and change it")
    folder = path.absolute().parent
    mode = folder.stat().st_mode
    if mode & OTHERS_WRITE and not mode & stat.S_ISVTX:
        yield Finding(
            "folder",
            f"other users of this machine may put another file in its place in {folder}",
            f"Run: chmod go-w {folder}",
        )
    else:
        yield Finding("folder", f"nobody else may put another file in its place in {folder}")
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
    if size <= LONGEST_JOURNAL:
        return Finding("journal", sizes)
    fix = (
        "A program reads for a very long time, or was killed: end it, then open the memory "
        "and close it, which empties the journal."
    )
    return Finding("journal", sizes, fix)


def _content(conn: Connection) -> Iterator[Finding]:
    faults = maintenance.faults(conn)
    for fault in faults:
        fix = "Run: hotmem repair" if fault.where == "index" else "Restore a backup."
        yield Finding("content", f"{fault.where}: {fault.rows} {fault.what}", fix)
    if not faults:
        yield Finding("content", "sound: the file, its references and its indexes")
    yield Finding("encoder", encoders.current(conn) or "none yet")
    if former := reembedding.former_encoder(conn):
        count = f"{reembedding.left(conn):,} rows still have vectors of {former}"
        yield Finding(
            "former encoder",
            f"{count}; they are searched by these and embedded again while a program has "
            "the memory open",
        )
    (off,) = conn.execute(
        "SELECT count(*) FROM turns WHERE abs(order_time - spoken_at) > ?", (BEHIND,)
    ).fetchone()
    if off:
        yield Finding(
            "clock",
            f"{off} turns were said while the clock was wrong by more than a day; their "
            "order is kept, their dates are the clock's",
        )
    waiting = {work: count for work, count in jobs.waiting_counts(conn).items() if count}
    jobs_text = ", ".join(f"{count} {WAITING[work]}" for work, count in waiting.items())
    yield Finding(
        "waiting",
        f"{jobs_text}; that is done while a program has the memory open"
        if jobs_text
        else "nothing",
    )
    (unfinished,) = conn.execute(
        "SELECT count(*) FROM imports WHERE state = ?", (IN_PROGRESS,)
    ).fetchone()
    if unfinished:
        fix = (
            "Import the same file again to continue, or undo it: hotmem decisions shows it, "
            "hotmem undo undoes it."
        )
        yield Finding("imports", f"{unfinished} not finished", fix)
    aside, paused = conn.execute(
        """SELECT count(*) FILTER (WHERE again_at IS NULL), count(*) FILTER (WHERE again_at > 0)
            FROM failures"""
    ).fetchone()
    if aside:
        fix = "What failed is below. Once its cause is fixed, run: hotmem doctor --retry"
        yield Finding("set aside", f"{aside} jobs that failed in every attempt", fix)
    if paused:
        yield Finding(
            "failing", f"{paused} pieces of work that failed, and will be tried again by themselves"
        )
