"""`Memory.lookup`: single things that are stored of a user."""

from hotmem.core.validation import validate_number
from hotmem.memory.runtime import Runtime
from hotmem.operations import requested_search
from hotmem.operations.requested_search import DescribedStatement
from hotmem.storage import queries
from hotmem.text.validation import validate_id, validate_text
from hotmem.types import Restorable, SessionSummary


class Lookup:
    """Looks up what is stored of a user, besides memories; an unknown user has nothing.

    Args:
        runtime: The memory that it is in.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def summary(self, *, user_id: str, session_id: str) -> SessionSummary | None:
        """A session's summary; None until it has been summarised."""
        session_id = validate_id(session_id, "session_id")
        return await self._runtime.read(user_id, None, queries.sessions.of_session, session_id)

    async def vocabulary(self, user_id: str, limit: int = 50) -> list[str]:
        """Names for a speech recogniser's hot words: speakers, then the most frequent entities.

        Args:
            user_id: Whose memory.
            limit: Names at most.
        """
        limit = validate_number(limit, "limit", 0, whole=True)
        return await self._runtime.read(user_id, [], queries.users.vocabulary, limit)

    async def restorable(self, user_id: str) -> Restorable | None:
        """The user's latest deletion that can be restored; None if there is none."""
        return await self._runtime.read(user_id, None, queries.deletions.latest)

    async def described(self, description: str, *, user_id: str) -> tuple[DescribedStatement, ...]:
        """Statements that may be what somebody describes, the one that fits best first.

        Args:
            description: A statement in the user's words, or words for one: "the dentist
                appointment".
            user_id: Whose memory.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the database cannot be read.
        """
        description = validate_text(description, "description")
        user = await self._runtime.find_user(user_id)
        if user is None:
            return ()
        return await self._runtime.search(
            requested_search.find_described(self._runtime.recall, user, description)
        )
