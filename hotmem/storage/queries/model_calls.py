"""Calls to the configured language model: the claim of a session, the record, the day's budget.

A call is on record before it is made: calls that a process did not survive count as well.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from hotmem.storage.database import Connection
from hotmem.storage.queries import jobs
from hotmem.storage.queries.times import to_stored
from hotmem.types import (
    ExtractionBatch,
    ExtractionCosts,
    ExtractionOutcome,
    ExtractionResult,
    JobKind,
    Turn,
    UserKey,
)

SESSIONS_SEEN: Final = 16
"""Sessions examined in one transaction for one that may be sent."""

NO_SESSION: Final = 0
"""In place of a session's row number, for calls about none."""


class Budget(NamedTuple):
    """What may be spent.

    Attributes:
        daily_calls: Calls a day, of all users together.
        daily_tokens: Tokens a day, sent and received, of all users together.
        session_calls: Calls for one session.
    """

    daily_calls: int
    daily_tokens: int
    session_calls: int


class Claim(NamedTuple):
    """The turns to send, if there are any and the budget allows it, and whether to ask again."""

    batch: ExtractionBatch | None
    more: bool


Batch: TypeAlias = list[tuple[int, Turn]]
"""Turns with their row numbers, in order."""

Cost: TypeAlias = Callable[[Sequence[Turn]], tuple[int, int]]
"""Turns → the tokens of a prompt with them, and of its answer at most."""


def claim(
    conn: Connection,
    worker: str,
    due: Sequence[tuple[UserKey, int]],
    budget: Budget,
    now: datetime,
    cost: Cost,
    read: Callable[[Connection, UserKey, int], Batch],
    settle: Callable[[Connection, UserKey, int, Batch], None],
) -> Claim:
    """Takes the lease of the first user whose is free, and puts a call about a session on record.

    Args:
        conn: The writer, within a transaction.
        worker: The worker.
        due: Users with a session that is due, in order.
        budget: What may be spent.
        now: The wall clock; a day is one of UTC.
        cost: What a call would use.
        read: The turns of a session to send; what may not be sent waits no longer.
        settle: Ends the waiting of a session's turns, which no day's budget would suffice for.
    """
    kind = JobKind.EXTRACTION
    found = next((one for one in due if jobs.is_free(conn, one[0], worker, kind)), None)
    if found is None or not jobs.take(conn, worker, kind, [found[0]]):
        return Claim(None, more=False)
    user, session = found
    conn.lock_user(user)
    batch = read(conn, user, session)
    prompt, answer = cost([turn for _, turn in batch])
    if batch and prompt + answer > budget.daily_tokens:
        settle(conn, user, session, batch)
        batch = []
    call = begin(conn, user, session, budget, prompt, answer, now) if batch else None
    if call is None:
        jobs.release(conn, user, worker, kind)
        return Claim(None, more=not batch)
    return Claim(ExtractionBatch(user, session, call, tuple(batch)), more=True)


def begin(
    conn: Connection,
    user: UserKey,
    session: int,
    budget: Budget,
    prompt: int,
    answer: int,
    now: datetime,
) -> int | None:
    """Records that a call begins; None if the day's budget does not suffice.

    Args:
        conn: The writer, within a transaction of all users: the budget is that of all.
        user: The user.
        session: Row number of the session, or `NO_SESSION`.
        budget: The budget.
        prompt: Tokens of the prompt, estimated.
        answer: Tokens of the answer at most.
        now: The wall clock, UTC; a day is one of UTC.
    """
    conn.lock_user(user)
    spent = _spent_today(conn, now)
    if spent.calls >= budget.daily_calls or spent.tokens + prompt + answer > budget.daily_tokens:
        return None
    call = conn.scalar(
        """INSERT INTO extraction_calls
               (user_key, session, at, outcome, prompt_tokens, completion_tokens)
           VALUES (?, ?, ?, ?, ?, 0) RETURNING id""",
        (user, session, to_stored(now), ExtractionOutcome.BEGUN, prompt),
    )
    return int(call)


def complete(
    conn: Connection,
    user: UserKey,
    call: int,
    result: ExtractionResult,
    *,
    facts: int = 0,
    summaries: int = 0,
) -> None:
    """Completes the record of a call, from which so many facts and summaries were stored."""
    conn.execute(
        """UPDATE extraction_calls SET outcome = ?, prompt_tokens = ?, completion_tokens = ?,
               facts = ?, summaries = ?, dropped = ? WHERE user_key = ? AND id = ?""",
        (
            result.outcome,
            result.prompt_tokens,
            result.completion_tokens,
            facts,
            summaries,
            result.dropped,
            user,
            call,
        ),
    )


def of_session(conn: Connection, user: UserKey, session: int) -> int:
    """Number of calls about a session."""
    sql = "SELECT count(*) FROM extraction_calls WHERE user_key = ? AND session = ?"
    return int(conn.scalar(sql, (user, session)))


def is_spent(conn: Connection, budget: Budget, now: datetime) -> bool:
    """Whether no call may be made any more today."""
    spent = _spent_today(conn, now)
    return spent.calls >= budget.daily_calls or spent.tokens >= budget.daily_tokens


def costs(conn: Connection, user: UserKey) -> ExtractionCosts:
    """What the calls about a user cost."""
    return _costs(conn, "= ?", user)


def _spent_today(conn: Connection, now: datetime) -> ExtractionCosts:
    """What was spent today, for all users."""
    since = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return _costs(conn, "IS NOT NULL AND at >= ?", to_stored(since))


def _costs(conn: Connection, which: str, value: int) -> ExtractionCosts:
    row = conn.execute(
        f"""SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
            coalesce(sum(facts), 0), coalesce(sum(dropped), 0),
            coalesce(sum(summaries), 0) FROM extraction_calls WHERE user_key {which}""",
        (value,),
    ).fetchone()
    return ExtractionCosts(*map(int, row))
