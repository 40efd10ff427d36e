"""`Memory.learning`: what was learned from replies."""

from datetime import UTC, date, datetime

from hotmem.core.validation import validate_number, validate_order, validate_type
from hotmem.memory.runtime import Runtime
from hotmem.storage import queries
from hotmem.types import START_WEIGHTS, Quality, Weights, WeightSnapshot


class Learning:
    """Layer weights, and how replies used the blocks; `Memory.feedback` records both.

    Args:
        runtime: The memory that they are in.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def weights(self, user_id: str) -> Weights:
        """The user's layer weights: the options', the learnt ones or the start weights."""
        user = await self._runtime.find_user(user_id)
        if fixed := self._runtime.options.learning.weights:
            return fixed
        if user is None:
            return START_WEIGHTS
        return (await self._runtime.database.read(queries.users.profile, user, ())).weights

    async def reset(self, user_id: str) -> Weights:
        """Resets a user's layer weights; returns the start weights."""
        user = await self._runtime.find_user(user_id)
        if user is None:
            return START_WEIGHTS
        return await self._runtime.database.write(
            queries.layer_weights.reset, user, datetime.now(UTC)
        )

    async def history(self, user_id: str, limit: int = 200) -> list[WeightSnapshot]:
        """The user's layer weights after each step of learning, latest first."""
        limit = validate_number(limit, "limit", 0, whole=True)
        return await self._runtime.read(user_id, [], queries.layer_weights.over_time, limit)

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
        days = await self._runtime.read(user_id, [], queries.quality.of_user, since, until)
        return Quality(tuple(days))
