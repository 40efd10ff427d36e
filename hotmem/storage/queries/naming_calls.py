"""Calls of a language model that name subcategories; they count to the budget of extraction."""

from datetime import datetime
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.extractions import Budget, complete_call, spent_today
from hotmem.storage.queries.times import to_stored
from hotmem.types import ExtractionOutcome, ExtractionResult, UserKey

NO_SESSION: Final = 0
"""In place of a session's row number."""


def begin(
    conn: Connection, user: UserKey, budget: Budget, prompt: int, answer: int, now: datetime
) -> int | None:
    """Records that a call begins; None if the day's budget does not suffice.

    Args:
        conn: The writer.
        user: The user.
        budget: The budget.
        prompt: Tokens of the prompt, estimated.
        answer: Tokens of the answer at most.
        now: The wall clock, UTC.
    """
    spent = spent_today(conn, now)
    if spent.calls >= budget.daily_calls or spent.tokens + prompt + answer > budget.daily_tokens:
        return None
    (call,) = conn.execute(
        """INSERT INTO extraction_calls
               (user_key, session, at, outcome, prompt_tokens, completion_tokens)
           VALUES (?, ?, ?, ?, ?, 0) RETURNING id""",
        (user, NO_SESSION, to_stored(now), ExtractionOutcome.BEGUN, prompt),
    ).fetchone()
    return int(call)


def complete(conn: Connection, user: UserKey, call: int, result: ExtractionResult) -> None:
    """Completes the record of a call."""
    complete_call(conn, user, call, result, 0)
