"""Forgets what has been kept for as long as it may be, a little at a time, once a day.

And never by a clock that may be wrong.

rules ─▶ is the clock right? ─▶ user after user of whom something is too old ─▶ portions, forgotten everywhere ─▶ the audit trail
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
"""Time between two looks for what is too old."""

BATCH: Final = 32
"""Turns or memories forgotten in one transaction."""

AUDIT_BATCH: Final = 1000
"""Entries of the audit trail removed in one transaction, a few milliseconds."""

FIRST_YEAR: Final = 2020
"""Before this project was begun: what has no battery wakes up in 1970, or in the year it was
built."""

MAX_CLOCK_LAG: Final = timedelta(days=1)
"""How far behind the newest row a clock may be: one that tells local time as UTC is within 14
hours."""

MAX_CLOCK_JUMP: Final = timedelta(days=366)
"""How far a clock may have gone on since it was last seen to be right: what was not opened for a
year is looked at by a person first."""

EVERYTHING: Final = 2**31
"""More than there can be of a user, for what is counted and not removed."""

NOTHING: Final = ForgetResult(0, 0, 0)


def clock_problem(now: datetime, clock: Clock) -> str | None:
    """Why a time cannot be trusted; None if it can.

    Args:
        now: What the clock says.
        clock: What the file tells.
    """
    if now.year < FIRST_YEAR:
        return f"the clock says {now.date()}, before {FIRST_YEAR}"
    if clock.newest is not None and now < clock.newest - MAX_CLOCK_LAG:
        return (
            f"the clock says {now.date()}, and the newest row was written on {clock.newest.date()}"
        )
    if clock.seen is not None and now > clock.seen + MAX_CLOCK_JUMP:
        return f"the clock says {now.date()}, and was last seen to be right on {clock.seen.date()}"
    return None


class Retention:
    """What the rules let go, portion by portion.

    Args:
        store: The memory file.
        rules: The rules. Each that fits is applied, so that the shortest holds.
        audit_days: Days after which entries of the audit trail go.
    """

    def __init__(self, storage: Storage, rules: Sequence[RetentionRule], audit_days: int) -> None:
        self._storage = storage
        self._rules = tuple(rules)
        self._audit_days = audit_days
        self._looked_at: datetime | None = None
        self._now = datetime.min
        self._left: list[RetentionRule] = []
        self._after = 0
        self._user: UserKey | None = None
        self._gone = NOTHING
        self._found: list[Overdue] = []
        self._pruning = False

    async def portion(self, now: datetime) -> bool:
        """Removes a little of what is too old.

        False if there is nothing, or it was looked for within a day. A wrong clock removes nothing.
        """
        if not self._left and not self._pruning:
            if (
                self._looked_at is not None
                and timedelta(0) <= now - self._looked_at < CHECK_INTERVAL
            ):
                return False
            self._looked_at = now
            if reason := await self.check(now):
                log.warning(
                    f"nothing is removed for its age: {reason}. If that is right, run `hotmem retain --trust-clock` once."
                )
                return False
            self._now, self._left, self._after, self._pruning, self._found = (
                now,
                list(self._rules),
                0,
                True,
                [],
            )
        if self._left:
            await self._one(self._left[0])
            return True
        self._pruning = (
            await steps.prune_audit(
                self._storage.database, self._now - timedelta(days=self._audit_days), AUDIT_BATCH
            )
            == AUDIT_BATCH
        )
        return self._pruning

    def skip(self) -> None:
        """Goes on behind the user of whom nothing could be removed, or with the next rule.

        Both are tried again a day later.
        """
        if self._user is None:
            self._left = self._left[1:]
        self._after, self._user = self._user or 0, None
        self._pruning = self._pruning and bool(self._left)

    async def check(self, now: datetime, *, trusted: bool = False) -> str | None:
        """Why the clock is not trusted; None if it is, which is noted."""
        clock = await self._storage.database.read(queries.retention.clock)
        reason = None if trusted else clock_problem(now, clock)
        if reason is None and (clock.seen is None or abs(now - clock.seen) >= CHECK_INTERVAL):
            await self._storage.database.write(queries.retention.note_clock, now)
        return reason

    async def all(self, now: datetime) -> list[Overdue]:
        """Removes all that is too old; returns how much of whom by which rule."""
        self._now, self._left, self._found = now, list(self._rules), []
        while self._left:
            await self._one(self._left[0])
        return self._found

    async def rehearsed(self, now: datetime) -> list[Overdue]:
        """What each rule would remove by itself; nothing is."""
        found = []
        for rule in self._rules:
            before, after = now - timedelta(days=rule.days), 0
            while (user := await self._following(rule, before, after)) is not None:
                gone, _ = await self._storage.database.rehearse(
                    queries.retention.remove, user, rule.category, before, EVERYTHING
                )
                found.append(
                    Overdue(
                        await self._storage.database.read(queries.users.name, user),
                        rule.describe(),
                        gone,
                    )
                )
                after = user
        return found

    async def _one(self, rule: RetentionRule) -> None:
        """Removes a little of what is too old of a user; or goes on to the next user, or rule."""
        before = self._now - timedelta(days=rule.days)
        if self._user is None:
            self._user, self._gone = await self._following(rule, before, self._after), NOTHING
        if self._user is None:
            self._left, self._after = self._left[1:], 0
            return
        gone, more = await self._storage.database.write(
            queries.retention.remove, self._user, rule.category, before, BATCH
        )
        self._gone += gone
        if not more:
            await self._storage.database.purge(0)  # or the background does
            self._found.append(
                Overdue(
                    await self._storage.database.read(queries.users.name, self._user),
                    rule.describe(),
                    self._gone,
                )
            )
            await self._storage.database.write(
                queries.audit.record,
                self._user,
                Actor.RETENTION,
                Act(Action.FORGET, rule.describe(), *_counts(self._gone)),
                self._now,
            )
            self._after, self._user = self._user, None

    async def _following(self, rule: RetentionRule, before: datetime, after: int) -> UserKey | None:
        if rule.user_id is not None:
            user = await self._storage.database.read(queries.users.find, rule.user_id)
            return (
                user
                if user is not None
                and user > after
                and await self._storage.database.read(
                    queries.retention.due, user, rule.category, before
                )
                else None
            )
        place: int | None = after
        while place is not None:
            user, place = await self._storage.database.read(
                queries.retention.following, rule.category, before, place
            )
            if user is not None:
                return user
        return None


def _counts(gone: ForgetResult) -> tuple[int, int, int]:
    return gone.turns, gone.memories, gone.sessions
