"""Retention: forgets what is older than its retention rule allows, once a day, in small batches.

rules ─▶ check of the clock ─▶ users with something too old ─▶ batches ─▶ audit log

Nothing is removed while the clock may be wrong.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from hotmem.core.logs import log
from hotmem.options import RetentionRule
from hotmem.storage import Storage, queries, steps
from hotmem.storage.queries.retention import Clock
from hotmem.types import Act, Action, Actor, ForgetResult, Overdue, UserKey

CHECK_INTERVAL: Final = timedelta(days=1)
"""Time between two checks."""

BATCH: Final = 32
"""Number of turns or memories forgotten in one transaction."""

AUDIT_BATCH: Final = 1000
"""Number of entries of the audit log removed in one transaction."""

FIRST_YEAR: Final = 2020
"""First plausible year: a clock without a battery restarts in 1970, or in the year it was built."""

MAX_CLOCK_LAG: Final = timedelta(days=1)
"""How far the clock may be behind the newest row: a local time taken for UTC differs by 14 hours at
most."""

MAX_CLOCK_JUMP: Final = timedelta(days=366)
"""How far the clock may have advanced since it was last trusted: a file that was not opened for a
year needs a person's confirmation."""

NO_LIMIT: Final = 2**31
"""Batch size for a dry run."""

NOTHING: Final = ForgetResult(0, 0, 0)


def clock_problem(now: datetime, clock: Clock) -> str | None:
    """Why the clock cannot be trusted; None if it can.

    Args:
        now: The current time.
        clock: Times recorded in the file.
    """
    if now.year < FIRST_YEAR:
        return f"the clock shows {now.date()}, before {FIRST_YEAR}"
    if clock.newest is not None and now < clock.newest - MAX_CLOCK_LAG:
        return (
            f"the clock shows {now.date()}, and the newest row was written on {clock.newest.date()}"
        )
    if clock.seen is not None and now > clock.seen + MAX_CLOCK_JUMP:
        return f"the clock shows {now.date()}, and was last trusted on {clock.seen.date()}"
    return None


class Retention:
    """Applies retention rules, batch by batch.

    Args:
        storage: The memory file.
        rules: The rules. All that match are applied, so that the shortest prevails.
        audit_days: Days after which entries of the audit log are removed.
    """

    def __init__(self, storage: Storage, rules: Sequence[RetentionRule], audit_days: int) -> None:
        self._database = storage.database
        self._rules = tuple(rules)
        self._audit_days = audit_days
        self._checked_at: datetime | None = None
        self._now = datetime.min
        self._rules_left: list[RetentionRule] = []
        self._after_user = 0
        self._user: UserKey | None = None
        self._removed = NOTHING
        self._found: list[Overdue] = []
        self._pruning = False

    async def run_batch(self, now: datetime) -> bool:
        """Remove a batch of what is too old.

        Returns:
            False if nothing is left, if the last check is less than a day ago, or if the clock
            cannot be trusted.
        """
        if not self._rules_left and not self._pruning:
            last = self._checked_at
            if last is not None and timedelta(0) <= now - last < CHECK_INTERVAL:
                return False
            self._checked_at = now
            if reason := await self.check_clock(now):
                log.warning(
                    f"retention removes nothing: {reason}."
                    " If the clock is right, run `hotmem retain --trust-clock` once."
                )
                return False
            self._now, self._rules_left, self._after_user = now, list(self._rules), 0
            self._pruning, self._found = True, []
        if self._rules_left:
            await self._advance(self._rules_left[0])
            return True
        self._pruning = (
            await steps.prune_audit(
                self._database, self._now - timedelta(days=self._audit_days), AUDIT_BATCH
            )
            == AUDIT_BATCH
        )
        return self._pruning

    def skip(self) -> None:
        """Skip the user, or the rule, that could not be processed, until the next check."""
        if self._user is None:
            self._rules_left = self._rules_left[1:]
        self._after_user, self._user = self._user or 0, None
        self._pruning = self._pruning and bool(self._rules_left)

    async def check_clock(self, now: datetime, *, trusted: bool = False) -> str | None:
        """Why the clock cannot be trusted; None if it can, which is recorded."""
        clock = await self._database.read_all(queries.retention.clock)
        reason = None if trusted else clock_problem(now, clock)
        if reason is None and (clock.seen is None or abs(now - clock.seen) >= CHECK_INTERVAL):
            await self._database.write_all(queries.retention.note_clock, now)
        return reason

    async def run_all(self, now: datetime) -> list[Overdue]:
        """Remove everything that is too old.

        Returns:
            How much was removed of each user by each rule.
        """
        self._now, self._rules_left, self._found = now, list(self._rules), []
        while self._rules_left:
            await self._advance(self._rules_left[0])
        return self._found

    async def preview(self, now: datetime) -> list[Overdue]:
        """What each rule on its own would remove; removes nothing."""
        found = []
        for rule in self._rules:
            before, after = now - timedelta(days=rule.days), 0
            while (user := await self._next_user(rule, before, after)) is not None:
                removed, _ = await self._database.rehearse(
                    queries.retention.remove, user, rule.category, before, NO_LIMIT
                )
                found.append(await self._overdue(user, rule, removed))
                after = user
        return found

    async def _advance(self, rule: RetentionRule) -> None:
        """Remove a batch of the current user's, or go on to the next user or rule."""
        before = self._now - timedelta(days=rule.days)
        if self._user is None:
            self._user = await self._next_user(rule, before, self._after_user)
            self._removed = NOTHING
        if self._user is None:
            self._rules_left, self._after_user = self._rules_left[1:], 0
            return
        removed, more = await self._database.write(
            queries.retention.remove, self._user, rule.category, before, BATCH
        )
        self._removed += removed
        if not more:
            await self._database.purge(0)
            gone = self._removed
            self._found.append(await self._overdue(self._user, rule, gone))
            act = Act(Action.FORGET, rule.describe(), gone.turns, gone.memories, gone.sessions)
            await self._database.write(
                queries.retention.record, self._user, Actor.RETENTION, act, self._now
            )
            self._after_user, self._user = self._user, None

    async def _overdue(self, user: UserKey, rule: RetentionRule, gone: ForgetResult) -> Overdue:
        name = await self._database.read(queries.users.name, user)
        return Overdue(name, rule.describe(), gone)

    async def _next_user(self, rule: RetentionRule, before: datetime, after: int) -> UserKey | None:
        if rule.user_id is not None:
            named = await self._database.read_all(queries.users.find, rule.user_id)
            if named is None or named <= after:
                return None
            due = await self._database.read(queries.retention.due, named, rule.category, before)
            return named if due else None
        user: UserKey | None = None
        place: int | None = after
        while user is None and place is not None:
            user, place = await self._database.read_all(
                queries.retention.following, rule.category, before, place
            )
        return user
