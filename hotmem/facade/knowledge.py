"""Methods of `Memory` that read, change and move what is known of a user."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime
from pathlib import Path

from hotmem.core.validation import validate_number, validate_order, validate_type
from hotmem.facade.search import AUDITED_READERS, SubcategoryMethods
from hotmem.operations.results import actor
from hotmem.portability import export_lines, importer
from hotmem.portability.importer import ImportSource, hotmem_source
from hotmem.storage import queries
from hotmem.text.validation import validate_id
from hotmem.types import (
    START_WEIGHTS,
    Act,
    Action,
    ImportResult,
    Quality,
    SessionSummary,
    StoredMemory,
    Weights,
    WeightSnapshot,
)


class KnowledgeMethods(SubcategoryMethods):
    """Memories, subcategories, summaries, weights, quality, export and import."""

    async def memories(
        self, user_id: str, *, past: bool = False, own: bool = False
    ) -> list[StoredMemory]:
        """The user's current memories, latest first.

        Args:
            user_id: Whose.
            past: Also those that ended.
            own: Without those that only others stated, if it is known under which name the user
                speaks.
        """
        user, now = await self._find_user(user_id), datetime.now(UTC)
        load, read = queries.memories.of_user, self._database.read
        known = [] if user is None else await read(load, user, now, past=past, own=own)
        if actor() in AUDITED_READERS:
            await self.audit(Act(Action.READ, "memories", memories=len(known)), user_id=user_id)
        return known

    async def summary(self, *, user_id: str, session_id: str) -> SessionSummary | None:
        """A session's summary; None until it has been summarised."""
        user = await self._find_user(user_id)
        if user is None:
            return None
        return await self._database.read(
            queries.sessions.of_session, user, validate_id(session_id, "session_id")
        )

    async def vocabulary(self, user_id: str, limit: int = 50) -> list[str]:
        """Names for a speech recogniser's hot words: speakers, then the most frequent entities.

        Args:
            user_id: Whose memory.
            limit: Names at most.
        """
        limit = validate_number(limit, "limit", 0, whole=True)
        user = await self._find_user(user_id)
        if user is None:
            return []
        return await self._database.read(queries.users.vocabulary, user, limit)

    async def quality(
        self, user_id: str, *, since: date | None = None, until: date | None = None
    ) -> Quality:
        """How replies used the blocks that a user's bot was given, day by day.

        `Options.learning.analytics` records it.

        Args:
            user_id: Whose memory; an unknown user has none.
            since: The first day, UTC; None for the earliest recorded.
            until: The last day.

        Raises:
            InvalidInput: If the last day is before the first, or one is no date.
        """
        for name, day in (("since", since), ("until", until)):
            if day is not None:
                validate_type(day, date, name, "Pass datetime.date(2026, 3, 1), for example.")
        validate_order(since, until)
        user = await self._find_user(user_id)
        if user is None:
            return Quality()
        return Quality(
            tuple(await self._database.read(queries.quality.of_user, user, since, until))
        )

    async def weights(self, user_id: str) -> Weights:
        """The user's layer weights: the options', the learnt ones or the start weights."""
        user = await self._find_user(user_id)
        if self.options.learning.weights:
            return self.options.learning.weights
        if user is None:
            return START_WEIGHTS
        return (await self._database.read(queries.users.profile, user, ())).weights

    async def reset_weights(self, user_id: str) -> Weights:
        """Resets a user's layer weights; returns the start weights."""
        user = await self._find_user(user_id)
        if user is None:
            return START_WEIGHTS
        return await self._database.write(queries.layer_weights.reset, user, datetime.now(UTC))

    async def weights_over_time(self, user_id: str, limit: int = 200) -> list[WeightSnapshot]:
        """The user's layer weights after each step of learning, latest first."""
        limit = validate_number(limit, "limit", 0, whole=True)
        user = await self._find_user(user_id)
        if user is None:
            return []
        return await self._database.read(queries.layer_weights.over_time, user, limit)

    async def export(self, user_id: str) -> AsyncIterator[str]:
        """Everything known of a user as lines of JSON (`hotmem.portability.jsonl`)."""
        user = await self._find_user(user_id)
        if user is not None:
            await self.audit(Act(Action.EXPORT, "export"), user_id=user_id)
            async for line in export_lines(self.runtime.storage, user, user_id):
                yield line

    async def import_records(
        self,
        source: str | Path | ImportSource,
        progress: Callable[[], None] = lambda: None,
        *,
        with_forgotten: bool = False,
    ) -> ImportResult:
        """Imports a file that `export` wrote, or one of turns alone, in small transactions.

        What is there already stays as it is. Forgotten turns and memories stay out, by their ids,
        and are counted. An interrupted import continues when the same file is imported again. A
        finished one is listed among the decisions and can be undone.

        Args:
            source: The file (form: `hotmem.portability.jsonl`), or records of other programs as
                `hotmem.tools.files` reads them.
            progress: Called after each record.
            with_forgotten: Whether forgotten turns and memories are imported as well.

        Raises:
            InvalidInput: If the source has another type, or a line cannot be used, naming it;
                nothing of the file is kept.
            StoreLocked: If another program holds the database or imports the same file; import it
                again to continue.
            StoreError: If it could not be written; nothing of the file is kept.
        """
        runtime = self.runtime
        validate_type(source, str | Path | ImportSource, "source", "Pass the path of a file.")
        incoming = (
            source
            if isinstance(source, ImportSource)
            else await asyncio.to_thread(hotmem_source, Path(source))
        )
        try:
            return await importer.import_records(
                runtime.storage, self._priority, incoming, progress, with_forgotten=with_forgotten
            )
        finally:
            runtime.worker.wake()

    async def take_back(self) -> None:
        """Rolls back imports that were undone, in small transactions.

        Interrupted, it continues when the memory is next opened.
        """
        await importer.revert_imports(self.runtime.storage, self._priority)
        self.runtime.worker.wake()
