"""Maintenance steps that read first and write only if there is something to do.

A write transaction takes the database's lock and waits for the disk; most of these steps, which
the background worker repeats, find nothing to do.
"""

from datetime import datetime

from hotmem.errors import StoreReadOnly
from hotmem.storage.database import Database
from hotmem.storage.queries import (
    audit,
    encoders,
    import_rollback,
    job_failures,
    jobs,
    languages,
)
from hotmem.storage.search import vectors


async def record_language(database: Database) -> None:
    """Records the language of the search index in a new database.

    Raises:
        StoreError: If another one was recorded meanwhile, or it could not be written.
    """
    if not (database.read_only or await database.read_all(languages.is_recorded)):
        await database.write_all(languages.record, database.location)


async def adopt_encoder(database: Database, name: str, dimension: int) -> bool:
    """Makes this the database's encoder.

    Returns:
        Whether it was another one; every text is then embedded again in the background.

    Raises:
        StoreReadOnly: If it was another one and the database cannot be written.
        StoreError: If it could not be written.
    """
    if not database.read_only:
        return await database.write_all(vectors.adopt, name, dimension)
    before = await database.read_all(encoders.current)
    if before not in (None, encoders.identified(name, dimension)):
        raise StoreReadOnly(
            f"{database.location} was embedded by {before} and cannot be written, so {name} cannot"
            " search it. Choose the former encoder (HOTMEM_ENCODER), or make the database"
            " writable."
        )
    return False


async def resume_failures(database: Database, now: datetime) -> datetime | None:
    """Retries failed jobs whose pause is over; returns when the next pause ends, or None."""
    resumes_at = await database.read_all(job_failures.next_retry, now)
    if resumes_at is None or resumes_at > now:
        return resumes_at
    await database.write_all(job_failures.resume, now)
    return await database.read_all(job_failures.next_retry, now)


async def retry_failures(database: Database, before: datetime, given: int, limit: int) -> int:
    """Gives some of the jobs set aside before a time one more try; returns how many.

    0 if all of the `given` that got one before failed again.
    """
    if not await database.read_all(job_failures.any_set_aside):
        return 0
    return await database.write_all(job_failures.retry, before, given, limit)


async def roll_back_imports(database: Database, limit_s: float) -> bool:
    """Rolls back failed or undone imports for so many seconds; False if there is none."""
    found = await database.read_all(import_rollback.due)
    if found is None:
        return False
    return await database.write(import_rollback.roll_back, found.user, found.key, limit_s)


async def session_due(
    database: Database,
    served: jobs.UserRotation,
    now: datetime,
    idle_s: float,
    *,
    thorough: bool = True,
) -> jobs.DueSession | None:
    """A session to summarise: ended, or idle for so many seconds; users in turn.

    Args:
        database: The database.
        served: Which users were served last.
        now: The wall clock.
        idle_s: Seconds after which a session without a turn counts as ended.
        thorough: Whether all users are looked at; if not, a few, and others the next time.
    """
    if await database.read_all(jobs.any_idle_session, now, idle_s):
        await database.write_all(jobs.end_idle_sessions, now, idle_s)
    found, more = await database.read_all(jobs.next_session, served)
    while thorough and found is None and more:
        found, more = await database.read_all(jobs.next_session, served)
    return found


async def prune_audit(database: Database, before: datetime, limit: int) -> int:
    """Removes some audit entries from before a time; returns how many."""
    if not await database.read_all(audit.any_before, before):
        return 0
    return await database.write_all(audit.prune, before, limit)
