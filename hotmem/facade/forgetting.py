"""`Memory.forget` and `restore`, and the words that must not come back into the memory."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from hotmem.core.logs import log
from hotmem.core.threads import run_off_loop
from hotmem.core.validation import validate_order, validate_type
from hotmem.errors import InvalidInput, StoreError
from hotmem.facade.search import MemoryBase
from hotmem.operations import search
from hotmem.storage import queries
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
    ContextBlock,
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


class ForgettingMethods(MemoryBase):
    """Forgetting and restoring."""

    def withholds(self, text: str, *, user_id: str) -> bool:
        """Whether a text repeats what the user had forgotten or said off the record.

        It counts for the rest of the session, until the user speaks of it again.
        """
        return self.hides(text, user_id=user_id) or self._off_record.found(user_id, text)

    def hides(self, text: str, *, user_id: str) -> bool:
        """Whether a text repeats what the user had forgotten: no language model is to see it."""
        return self._suppressed.found(user_id, text)

    def outdated(self, block: ContextBlock) -> bool:
        """Whether something was forgotten since a block was made, which it may hold."""
        return block.forget_version is not None and block.forget_version < self._forget_version

    async def withhold(self, text: str, *, user_id: str) -> None:
        """Suppresses what was said off the record.

        No turn of the bot and no tool stores its words, unless they are stored already.
        """
        phrases = _single_words(await run_off_loop(len(text), partial(whole_words, text)))
        self._off_record.add(user_id, phrases)
        user = await self._find_user(user_id)
        if user is not None:
            _, stored = await self._database.read(queries.forget.words_by_speaker, user)
            self._off_record.drop(user_id, phrases & _single_words(stored))

    def speaks_of(self, text: str, *, user_id: str) -> None:
        """Ends the suppression of what the user speaks of themselves.

        `remember` calls it for every turn of the user.
        """
        self._suppressed.lift(user_id, text)
        self._off_record.lift(user_id, text)

    async def forget(
        self,
        *,
        user_id: str,
        memory_id: str | None = None,
        entity: str | None = None,
        session_id: str | None = None,
        turn_ids: Sequence[str] | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
        grace: timedelta | None = None,
        confirmed: Collection[str] | None = None,
    ) -> ForgetResult:
        """Removes one target everywhere.

        Turns, memories, summaries, entities, vectors, indexes, records of use and this process's
        caches. On return no byte of it is in the memory file or its journal, unless another program
        is reading them; the result says so. Forgotten turns and memories stay out when an older
        export is imported.

        Args:
            user_id: Whose memory.
            memory_id: A memory, with the turns it was read from.
            entity: A name: everything that mentions it, however it is spelled (see
                `hotmem.text.names`). Ids that programs chose are not searched.
            session_id: A session.
            turn_ids: Turns, with the facts that were read from them alone.
            after: What was said at or after this time; may be combined with `before`.
            before: What was said before this time.
            everything: The whole user.
            dry_run: Only counts what would be removed.
            grace: How long `restore` can undo it. Until then it is hidden from everything, but its
                bytes stay in the file and in copies of it; then it is erased. None erases it at
                once, along with earlier deletions that hold something of it.
            confirmed: The `ids` of a preview (`dry_run`) that a person confirmed: nothing else is
                removed. Facts that were read from its turns since go with them.

        Raises:
            InvalidInput: If not exactly one target is given, `before` is earlier than `after`, or
                an argument cannot be used.
            DeletionChanged: If something else than `confirmed` would be removed; nothing is.
            StoreError: If it could not be written.
        """
        target = _target(memory_id, entity, session_id, turn_ids, after, before, everything)
        if grace is not None:
            validate_type(grace, timedelta, "grace", "Pass timedelta(hours=24), for example.")
            if grace <= timedelta():
                raise InvalidInput(
                    f"grace is {grace}. Pass a time for which it can be restored, or None to erase"
                    " it at once."
                )
        runtime = self.runtime
        user_id = validate_id(user_id, "user_id")
        await runtime.replay_spool()
        user = await self._database.read_all(queries.users.find, user_id)
        forgetting = runtime.storage.forgetting
        if dry_run:
            return NOTHING if user is None else await forgetting.forget(user, target, dry_run=True)
        said: Iterable[str] = ()
        if user is not None and not isinstance(target, ForgetEntity):
            said, _ = await self._database.read(queries.forget.words_by_speaker, user)
        phrases = (
            {whole_words(target.name)} if isinstance(target, ForgetEntity) else _single_words(said)
        )
        # first, so that no concurrent write brings it back
        await asyncio.to_thread(self._suppressed.add, user_id, phrases)
        if user is None:
            return NOTHING
        try:
            removed = await forgetting.forget(user, target, grace=grace, confirmed=confirmed)
        except BaseException:  # cancelled or not, nothing was removed: nothing stays suppressed
            self._suppressed.drop(user_id, phrases)
            raise
        if not isinstance(target, ForgetEntity):
            _, left = await self._database.read(queries.forget.words_by_speaker, user)
            await asyncio.to_thread(self._suppressed.drop, user_id, _single_words(left))
        search.clear(runtime.recall)
        self._forget_version = await self._database.read_all(queries.deletion_marks.number)
        restorable = removed.restorable_until is not None
        leftovers = Leftovers.NONE if restorable else await self._purge()
        runtime.worker.wake()
        counts = (removed.turns, removed.memories, removed.sessions)
        await self._record(user, Act(Action.FORGET, AUDIT_NAMES[type(target)], *counts))
        log.info(
            "forgotten",
            turns=removed.turns,
            memories=removed.memories,
            sessions=removed.sessions,
            leftovers=leftovers.name,
        )
        return replace(removed, leftovers=leftovers)

    async def restorable(self, user_id: str) -> Restorable | None:
        """The user's latest deletion that can be restored; None if there is none."""
        user = await self._find_user(user_id)
        return None if user is None else await self._database.read(queries.deletions.latest, user)

    async def restore(self, *, user_id: str) -> Restorable | None:
        """Restores what `forget` removed last, within its time of grace; later turns stay.

        Returns:
            What it was; None if there is nothing to restore.

        Raises:
            StoreError: If it could not be written; it can still be restored.
        """
        user = await self._find_user(user_id)
        runtime = self.runtime
        found = None if user is None else await runtime.storage.forgetting.restore(user)
        if found is None:
            return None
        restored, texts = found
        await asyncio.to_thread(self._suppressed.lift_all, user_id, texts)
        runtime.worker.wake()
        back = restored.removed
        counts = (back.turns, back.memories, back.sessions)
        await self._record(user, Act(Action.CHANGE, "restore", *counts))
        log.info("restored", turns=back.turns, memories=back.memories, sessions=back.sessions)
        return restored

    async def _purge(self) -> Leftovers:
        try:
            return await self._database.purge(PURGE_TIMEOUT_S)
        except StoreError as error:  # it is removed; the worker tries the purge again
            log.warning("purge failed", error=type(error).__name__)
            return Leftovers.JOURNAL


def _target(
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


def _single_words(words: Iterable[str]) -> set[frozenset[str]]:
    """Each word as a phrase."""
    return {frozenset({word}) for word in words}
