"""What every group of methods of `Memory` uses: the runtime, the user, the audit trail."""

from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hotmem.core.location import Location
from hotmem.core.logs import log
from hotmem.core.priority import ForegroundPriority
from hotmem.core.validation import validate_type
from hotmem.errors import InvalidInput, MemoryClosed, StoreError
from hotmem.operations.actor import actor
from hotmem.operations.suppression import SuppressedTexts
from hotmem.options import Options
from hotmem.runtime import Runtime
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.storage.spool import Spool
from hotmem.text.validation import validate_id
from hotmem.types import Act, Actor, UserKey

AUDITED_READERS: Final = (Actor.TOOL, Actor.MCP, Actor.COMMAND_LINE)
"""Actors whose reads are in the audit trail. A bot's recalls are in the records of use instead."""

REMEMBERED_BLOCKS: Final = 256
"""Blocks with feedback that are remembered, so that a second one does not count."""


class MemoryBase:
    """State that the groups of methods share.

    Args:
        location: The memory file, or the URL of the database.
        options: The memory's options.

    Raises:
        InvalidInput: If the options have another type.
    """

    def __init__(self, location: Location, options: Options) -> None:
        fix = "Pass Options(...), or Settings.from_environment(opening_tokens=3).options()."
        validate_type(options, Options, "options", fix)
        self.location = location
        self.options = options
        self._priority = ForegroundPriority()
        self._suppressed = SuppressedTexts()
        self._off_record = SuppressedTexts()
        self._forget_version = 0
        self._fed_back: deque[str] = deque(maxlen=REMEMBERED_BLOCKS)
        self._runtime: Runtime | None = None
        self._spool: Spool | None = None

    @property
    def path(self) -> Path:
        """The memory file.

        Raises:
            InvalidInput: If the memory is a database on a server.
        """
        if isinstance(self.location, Path):
            return self.location
        raise InvalidInput(f"{self.location} is no file. Use the server's own tools for it.")

    @property
    def runtime(self) -> Runtime:
        """The live parts, for HotMem's own tools and measurements. They may change any time.

        Raises:
            MemoryClosed: If the memory is not open.
        """
        if self._runtime is None:
            raise MemoryClosed(
                "The memory is not open. Use `async with Memory.open(path) as memory`, or await"
                " memory.start() first."
            )
        return self._runtime

    @property
    def priority(self) -> ForegroundPriority:
        """Lets recalls go before the long work of HotMem's own tools."""
        return self._priority

    async def audit(self, act: Act, *, user_id: str | None) -> None:
        """Records in the audit trail what the current actor did (`hotmem.operations.actor`).

        A failure to write it is logged and not raised.

        Args:
            act: What was done.
            user_id: Whose memory; None for an act on the whole database.
        """
        user = (
            None if user_id is None else await self._database.read_all(queries.users.find, user_id)
        )
        if user_id is None or user is not None:
            await self._record(user, act)

    async def _record(self, user: UserKey | None, act: Act) -> None:
        if not self.options.audit.on or self._database.read_only:
            return
        try:
            now = datetime.now(UTC)
            if user is None:
                await self._database.write_all(queries.audit.record, None, actor(), act, now)
            else:
                await self._database.write(queries.audit.record, user, actor(), act, now)
        except StoreError as error:
            log.warning(
                "audit entry not written",
                action=act.action,
                what=act.what,
                error=type(error).__name__,
            )

    @property
    def _database(self) -> Database:
        return self.runtime.storage.database

    async def _find_user(self, user_id: str) -> UserKey | None:
        """The user's row number; None for an unknown user."""
        return await self._database.read_all(queries.users.find, validate_id(user_id, "user_id"))
