"""What `Memory.forget` and `Memory.restore` do, above `hotmem.storage`.

    forget ─▶ steps.Forgetting ─▶ queries.forget: the target ─▶ cascade: its rows ─▶ derivation

The last derives what follows from the rest. With a time of grace `queries.deletions` stands around
`queries.forget`, and keeps the rows as data.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.core.logs import log
from hotmem.core.validation import validate_order, validate_type
from hotmem.errors import InvalidInput, StoreError
from hotmem.memory.runtime import Runtime
from hotmem.memory.suppression import single_words
from hotmem.operations import search
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.text.names import normalize_name, whole_words
from hotmem.text.validation import (
    MAX_ID_CHARACTERS,
    clean_text,
    validate_id,
    validate_ids,
    validate_text,
)
from hotmem.types import (
    Act,
    Action,
    ForgetResult,
    Leftovers,
    Restorable,
    aware,
)
from hotmem.types.maintenance import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)

NOTHING: Final = ForgetResult(0, 0, 0)

PURGE_TIMEOUT_S: Final = 1.0
"""Seconds that `forget` waits for other programs' reads, which prevent a purge."""

AUDIT_NAMES: Final = {
    ForgetMemory: "memory",
    ForgetEntity: "name",
    ForgetSession: "session",
    ForgetTurns: "turns",
    ForgetSpan: "span of time",
    ForgetEverything: "everything",
}
"""What the audit trail calls each kind of target."""


async def forget(
    runtime: Runtime,
    user_id: str,
    target: ForgetTarget,
    *,
    dry_run: bool = False,
    grace: timedelta | None = None,
    confirmed: Collection[str] | None = None,
) -> ForgetResult:
    """Removes a target; arguments and errors as for `Memory.forget`."""
    if grace is not None:
        validate_type(grace, timedelta, "grace", "Pass timedelta(hours=24), for example.")
        if grace <= timedelta():
            raise InvalidInput(
                f"grace is {grace}. Pass a time for which it can be restored, or None to erase"
                " it at once."
            )
    database, forgetting = runtime.database, runtime.storage.forgetting
    user_id = validate_id(user_id, "user_id")
    await runtime.replay_spool()
    user = await runtime.find_user(user_id)
    if dry_run:
        return NOTHING if user is None else await forgetting.forget(user, target, dry_run=True)
    said: Iterable[str] = ()
    if user is not None and not isinstance(target, ForgetEntity):
        said, _ = await database.read(queries.forget.words_by_speaker, user)
    phrases = {whole_words(target.name)} if isinstance(target, ForgetEntity) else single_words(said)
    suppressed = runtime.suppression.forgotten
    # first, so that no concurrent write brings it back
    await asyncio.to_thread(suppressed.add, user_id, phrases)
    if user is None:
        return NOTHING
    try:
        removed = await forgetting.forget(user, target, grace=grace, confirmed=confirmed)
    except BaseException:  # cancelled or not, nothing was removed: nothing stays suppressed
        suppressed.drop(user_id, phrases)
        raise
    if not isinstance(target, ForgetEntity):
        _, left = await database.read(queries.forget.words_by_speaker, user)
        await asyncio.to_thread(suppressed.drop, user_id, single_words(left))
    search.clear(runtime.recall)
    runtime.suppression.version = await database.read_all(queries.deletion_marks.number)
    restorable = removed.restorable_until is not None
    leftovers = Leftovers.NONE if restorable else await _purge(database)
    runtime.worker.wake()
    counts = (removed.turns, removed.memories, removed.sessions)
    await runtime.record(user, Act(Action.FORGET, AUDIT_NAMES[type(target)], *counts))
    log.info(
        "forgotten",
        turns=removed.turns,
        memories=removed.memories,
        sessions=removed.sessions,
        leftovers=leftovers.name,
    )
    return replace(removed, leftovers=leftovers)


async def _purge(database: Database) -> Leftovers:
    try:
        return await database.purge(PURGE_TIMEOUT_S)
    except StoreError as error:  # it is removed; the worker tries the purge again
        log.warning("purge failed", error=type(error).__name__)
        return Leftovers.JOURNAL


async def restore(runtime: Runtime, user_id: str) -> Restorable | None:
    """Restores what was forgotten last; result and errors as for `Memory.restore`."""
    user = await runtime.find_user(user_id)
    found = None if user is None else await runtime.storage.forgetting.restore(user)
    if user is None or found is None:
        return None
    restored, texts = found
    await asyncio.to_thread(runtime.suppression.forgotten.lift_all, user_id, texts)
    runtime.worker.wake()
    back = restored.removed
    counts = (back.turns, back.memories, back.sessions)
    await runtime.record(user, Act(Action.CHANGE, "restore", *counts))
    log.info("restored", turns=back.turns, memories=back.memories, sessions=back.sessions)
    return restored


def chosen_target(
    memory_id: str | None,
    entity: str | None,
    session_id: str | None,
    turn_ids: Sequence[str] | None,
    after: datetime | None,
    before: datetime | None,
    everything: bool,
) -> ForgetTarget:
    """The one target that the arguments of `forget` name.

    Raises:
        InvalidInput: If they name none or several, or a value cannot be used.
    """
    given = (memory_id, entity, session_id, turn_ids)
    timed = after is not None or before is not None
    if sum(map(bool, (*(one is not None for one in given), timed, everything))) != 1:
        raise InvalidInput(
            "forget takes exactly one of memory_id, entity, session_id, turn_ids, after/before,"
            " everything=True. Call it once for each."
        )
    if memory_id is not None:
        return ForgetMemory(validate_id(memory_id, "memory_id"))
    if entity is not None:
        validate_type(entity, str, "entity", "Pass a name, such as 'Potola'.")
        if not normalize_name(clean_text(entity)):
            raise InvalidInput(
                "entity is empty. Name what to forget, or pass everything=True (--everything)."
            )
        return ForgetEntity(validate_text(entity, "entity", MAX_ID_CHARACTERS))
    if session_id is not None:
        return ForgetSession(validate_id(session_id, "session_id"))
    if turn_ids is not None:
        return ForgetTurns(validate_ids(turn_ids, "turn_ids"))
    if timed:
        after = None if after is None else aware(after, "after")
        before = None if before is None else aware(before, "before")
        validate_order(after, before)
        return ForgetSpan(after, before)
    return ForgetEverything()
