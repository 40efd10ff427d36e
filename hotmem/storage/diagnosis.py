"""Findings of a diagnosis that are the same for every engine."""

from collections.abc import Iterator
from typing import Final

from hotmem.core.validation import counted
from hotmem.storage.copying.tables import UNFINISHED as UNFINISHED_COPY
from hotmem.storage.database import Connection
from hotmem.storage.queries import jobs, maintenance, reembedding
from hotmem.storage.queries.imports import IN_PROGRESS
from hotmem.types import Finding, JobKind

FAILURES_SHOWN: Final = 1000
"""Failed jobs listed at most."""

WAITING: Final = {
    JobKind.TURN: ("turn to be understood", "turns to be understood"),
    JobKind.PASSAGE: ("passage to be embedded", "passages to be embedded"),
    JobKind.MEMORY: ("memory to be embedded", "memories to be embedded"),
    JobKind.SUMMARY: ("summary to be embedded", "summaries to be embedded"),
    JobKind.SESSION: ("conversation to be summarised", "conversations to be summarised"),
    JobKind.IMPORT: ("import to be rolled back", "imports to be rolled back"),
}
"""Descriptions of waiting jobs by kind, of one and of several."""

EXTRACTIONS: Final = (
    "turn to be sent to the language model",
    "turns to be sent to the language model",
)
SUMMARIES: Final = (
    "summary to be written by the language model",
    "summaries to be written by the language model",
)


def checked(about: str, fact: str, fix: str, *, wrong: bool) -> Finding:
    """A finding, with its fix if something is wrong."""
    return Finding(about, fact, fix if wrong else None)


def of_spool(spooled: int) -> Iterator[Finding]:
    """Turns that wait in the spool of this machine."""
    if spooled:
        yield Finding(
            "spool",
            f"{counted(spooled, 'turn waits', 'turns wait')} in the spool",
            "Open the memory once, with a bot or a command that writes: they are stored then.",
        )


def of_copy(conn: Connection) -> Iterator[Finding]:
    """A copy into this database that was interrupted."""
    if conn.exists("SELECT 1 FROM meta WHERE key = ?", (UNFINISHED_COPY,)):
        yield Finding(
            "copy",
            "not finished; no program can use the memory",
            "Run `hotmem copy` again, which continues it, or delete it.",
        )


def of_encoders(conn: Connection) -> Iterator[Finding]:
    """The encoder, and rows that still have vectors of a former one."""
    yield Finding("encoder", reembedding.current(conn) or "none yet")
    if former := reembedding.former_encoder(conn):
        left = counted(reembedding.left(conn), "row still has vectors", "rows still have vectors")
        yield Finding(
            "former encoder",
            f"{left} of {former}; they are searched by these and embedded again while a program "
            "has the memory open",
        )


def of_language(conn: Connection, wanted: str | None) -> Iterator[Finding]:
    """The language whose rules stem the words, and whether programs may open the database.

    Args:
        conn: A connection to the database.
        wanted: HOTMEM_LANGUAGE here; None if it is not set.
    """
    entries = conn.execute(maintenance.ENTRIES.format(meta="meta")).fetchall()
    found = maintenance.recorded(entries)
    if None not in (found, wanted) and found != wanted:
        yield Finding(
            "language",
            f"{found}, but HOTMEM_LANGUAGE is {wanted}: no program with this setting can open it",
            f"Leave HOTMEM_LANGUAGE empty, or index all words again: hotmem language {wanted}",
        )
    else:
        yield Finding("language", found or "none yet")


def of_jobs(conn: Connection) -> Iterator[Finding]:
    """Waiting, unfinished and failed background jobs."""
    waiting = {work: count for work, count in jobs.waiting_counts(conn).items() if count}
    texts = [counted(count, *WAITING[work]) for work, count in waiting.items()]
    if extractions := conn.scalar("SELECT count(*) FROM pending_extractions"):
        texts.append(counted(extractions, *EXTRACTIONS))
    sql = "SELECT count(user_key) FROM summaries WHERE tries IS NOT NULL"
    if summaries := conn.scalar(sql):
        texts.append(counted(summaries, *SUMMARIES))
    jobs_text = ", ".join(texts)
    yield Finding(
        "waiting",
        f"{jobs_text}; that is done while a program has the memory open"
        if jobs_text
        else "nothing",
    )
    if unfinished := conn.scalar("SELECT count(*) FROM imports WHERE state = ?", (IN_PROGRESS,)):
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
        yield Finding("set aside", f"{counted(aside, 'job')} that failed in every attempt", fix)
    if paused:
        yield Finding(
            "failing", f"{counted(paused, 'job')} that failed and will be retried automatically"
        )
