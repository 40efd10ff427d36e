"""Turns that wait to be sent to a language model, and the calls that were made.

    understood ─▶ waiting ─▶ claimed, call on record ─▶ facts stored, call complete
                     ▲                │
                     └── failed, or the worker died: again, `MAX_TRIES` times at most

A turn waits from when it has been understood here, so that it has been read in any case. A
forgotten turn waits no longer. The call is on record before it is made: calls that a process did
not survive count as well.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hotmem.storage.database import Connection
from hotmem.storage.queries import leases, turns, understandings
from hotmem.storage.queries.known_subjects import current_subjects
from hotmem.storage.queries.locks import lock_owners
from hotmem.storage.queries.memories import related
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.validation import normalize_value
from hotmem.types import (
    ExtractionBatch,
    ExtractionCosts,
    ExtractionOutcome,
    ExtractionResult,
    JobKind,
    Revision,
    Role,
    Statement,
    Turn,
    Understanding,
    UserKey,
)
from hotmem.understanding.kept_sentences import STATES

MAX_TRIES: Final = 3
"""Calls at most that a turn is sent with; then what was read of it here has to do."""

MAX_TURNS: Final = 100
"""Turns sent with one call."""

MAX_CHARACTERS: Final = 24_000
"""Characters of the turns sent with one call."""

MAX_TURN_CHARACTERS: Final = 4_000
"""Characters of a turn that is sent; longer ones are read here in part, and not sent."""

SESSIONS_SEEN: Final = 16
"""Sessions examined in one transaction for one that may be sent."""

DUE: Final = """
    SELECT p.user_key, p.session, sum(CASE WHEN t.role = 'user' THEN 1 ELSE 0 END)
    FROM pending_extractions p JOIN sessions s ON s.user_key = p.user_key AND s.id = p.session
        JOIN turns t ON t.user_key = p.user_key AND t.id = p.turn
    GROUP BY p.user_key, p.session, s.summary_due
    HAVING sum(CASE WHEN t.role = 'user' THEN 1 ELSE 0 END) >= :every
        OR s.summary_due <> 1 AND NOT EXISTS (
            SELECT 1 FROM turns n JOIN pending_turns w ON w.user_key = n.user_key AND w.turn = n.id
            WHERE n.user_key = p.user_key AND n.session = p.session AND w.held = 0)
    ORDER BY min(p.turn) LIMIT :limit"""
"""Sessions that have ended, or have so many turns of the user that wait."""

NEVER: Final = 2**31
"""More turns of a session than any has: it is due only when it has ended."""


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


def enqueue(conn: Connection, stated: Mapping[int, Understanding]) -> None:
    """Lets turns wait that are about to be stored as understood; imported ones do not.

    What a turn takes back as a joke does not wait either.
    """
    conn.execute(
        """INSERT INTO pending_extractions (turn, user_key, session)
           SELECT t.id, t.user_key, t.session FROM pending_turns p
           JOIN turns t ON t.user_key = p.user_key AND t.id = p.turn
           WHERE p.turn = ANY(?) AND p.import IS NULL ON CONFLICT DO NOTHING""",
        ([*stated],),
    )
    for turn, understanding in stated.items():
        if understanding.jest:
            conn.execute(
                """DELETE FROM pending_extractions WHERE turn = (
                       SELECT max(t.id) FROM turns n JOIN turns t ON t.user_key = n.user_key
                           AND t.session = n.session AND t.role = n.role AND t.id < n.id
                       WHERE n.id = ?)""",
                (turn,),
            )


def store_and_enqueue(
    conn: Connection,
    stated: Mapping[int, Understanding],
    revise: understandings.Supersede,
    amend: understandings.ApplyCorrection,
    identify: understandings.MatchSubjects,
    revisions: Mapping[int, Revision] = understandings.NO_REVISIONS,
) -> None:
    """Stores understandings (`understandings.store_all`); their turns wait to be sent."""
    lock_owners(conn, "turns", stated)
    enqueue(conn, stated)
    understandings.store_all(conn, stated, revise, amend, identify, revisions)


def any_waiting(conn: Connection) -> bool:
    """Whether any turn waits, its session due or not."""
    row = conn.execute("SELECT user_key FROM pending_extractions LIMIT 1").fetchone()
    return row is not None


def any_due(conn: Connection, every_turns: int) -> bool:
    """Whether the turns of a session are due to be sent."""
    return bool(_due(conn, every_turns, 1))


def discard(conn: Connection) -> None:
    """Lets no turn wait any longer, of no user."""
    conn.execute("DELETE FROM pending_extractions WHERE user_key IS NOT NULL")


def claim(
    conn: Connection,
    worker: str,
    every_turns: int,
    budget: Budget,
    now: datetime,
    cost: Callable[[Sequence[Turn]], tuple[int, int]],
) -> Claim:
    """Takes the lease of a user with a session that is due, and puts the call on record.

    Turns that may not be sent, or not again, wait no longer.

    Args:
        conn: The writer, within a transaction.
        worker: The worker.
        every_turns: Turns of the user after which a session is due before it has ended; 0 for
            never.
        budget: What may be spent.
        now: The wall clock; a day is one of UTC.
        cost: The tokens of a prompt with some turns, and of its answer at most.
    """
    due = _due(conn, every_turns, SESSIONS_SEEN)
    kind = JobKind.EXTRACTION
    found = next((one for one in due if leases.is_free(conn, one[0], worker, kind)), None)
    if found is None or not leases.take(conn, worker, kind, [found[0]]):
        return Claim(None, more=False)
    user, session = found
    conn.lock_user(user)
    batch = _sendable(conn, user, session, budget)
    prompt, answer = cost([turn for _, turn in batch])
    if batch and prompt + answer > budget.daily_tokens:
        _settle(conn, user, batch)
        batch = []
    spent = spent_today(conn, now)
    if (
        not batch
        or spent.calls >= budget.daily_calls
        or spent.tokens + prompt + answer > budget.daily_tokens
    ):
        leases.release(conn, user, worker, kind)
        return Claim(None, more=not batch)
    conn.execute(
        "UPDATE pending_extractions SET tries = tries + 1 WHERE user_key = ? AND turn = ANY(?)",
        (user, [key for key, _ in batch]),
    )
    (call,) = conn.execute(
        """INSERT INTO extraction_calls
               (user_key, session, at, outcome, prompt_tokens, completion_tokens)
           VALUES (?, ?, ?, ?, ?, 0) RETURNING id""",
        (user, session, to_stored(now), ExtractionOutcome.BEGUN, prompt),
    ).fetchone()
    subjects = current_subjects(conn, user)
    return Claim(ExtractionBatch(user, session, call, tuple(batch), subjects), more=True)


def is_spent(conn: Connection, budget: Budget, now: datetime) -> bool:
    """Whether no call may be made any more today."""
    spent = spent_today(conn, now)
    return spent.calls >= budget.daily_calls or spent.tokens >= budget.daily_tokens


def fail(conn: Connection, user: UserKey, batch: ExtractionBatch, result: ExtractionResult) -> None:
    """Completes the record of a call without an answer; its turns still wait."""
    complete_call(conn, user, batch.call, result, 0)


def complete(
    conn: Connection,
    user: UserKey,
    batch: ExtractionBatch,
    result: ExtractionResult,
    facts: Sequence[tuple[int, Statement]],
    revise: understandings.Supersede,
    identify: understandings.MatchSubjects,
) -> int:
    """Stores the facts of a call, by turn, and completes its record; its turns wait no longer.

    Facts of a turn that was forgotten meanwhile, or corrected, are dropped, and those that were
    known from the same turn.

    Returns:
        Number of facts stored.
    """
    conn.lock_user(user)
    sent = [key for key, _ in batch.turns]
    waiting = {
        key
        for (key,) in conn.execute(
            """SELECT p.turn FROM pending_extractions p WHERE p.user_key = ? AND p.turn = ANY(?)
               AND NOT EXISTS (SELECT 1 FROM correction_counts c
                   WHERE c.turn = p.turn AND c.times > 0)""",
            (user, sent),
        ).fetchall()
    }
    stored = sum(
        _store(conn, user, turn, statement, revise, identify)
        for turn, statement in facts
        if turn in waiting
    )
    _settle(conn, user, batch.turns)
    complete_call(conn, user, batch.call, result, stored)
    return stored


def costs(conn: Connection, user: UserKey) -> ExtractionCosts:
    """What the calls about a user's turns cost."""
    return _costs(conn, "= ?", user)


def spent_today(conn: Connection, now: datetime) -> ExtractionCosts:
    """What was spent today, for all users."""
    since = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return _costs(conn, "IS NOT NULL AND at >= ?", to_stored(since))


def _costs(conn: Connection, which: str, value: int) -> ExtractionCosts:
    row = conn.execute(
        f"""SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
            coalesce(sum(facts), 0), coalesce(sum(dropped), 0)
            FROM extraction_calls WHERE user_key {which}""",
        (value,),
    ).fetchone()
    return ExtractionCosts(*map(int, row))


def _due(conn: Connection, every_turns: int, limit: int) -> list[tuple[UserKey, int]]:
    values = {"every": every_turns or NEVER, "limit": limit}
    return [(UserKey(row[0]), row[1]) for row in conn.execute(DUE, values).fetchall()]


def _sendable(
    conn: Connection, user: UserKey, session: int, budget: Budget
) -> list[tuple[int, Turn]]:
    """The next turns of a session; those that may not be sent wait no longer."""
    (calls,) = conn.execute(
        "SELECT count(*) FROM extraction_calls WHERE user_key = ? AND session = ?", (user, session)
    ).fetchone()
    most = -1 if calls >= budget.session_calls else MAX_TRIES - 1
    conn.execute(
        "DELETE FROM pending_extractions WHERE user_key = ? AND session = ? AND tries > ?",
        (user, session, most),
    )
    keys = [
        key
        for (key,) in conn.execute(
            """SELECT turn FROM pending_extractions WHERE user_key = ? AND session = ?
               ORDER BY turn LIMIT ?""",
            (user, session, MAX_TURNS),
        ).fetchall()
    ]
    found: list[tuple[int, Turn]] = []
    room = MAX_CHARACTERS
    long: list[tuple[int, Turn]] = []
    for key, turn in turns.of_keys(conn, user, keys):
        if len(turn.text) > MAX_TURN_CHARACTERS:
            long.append((key, turn))
            continue
        room -= len(turn.text)
        if room < 0:
            break
        found.append((key, turn))
    _settle(conn, user, long)
    if any(turn.role == Role.USER for _, turn in found):
        return found
    _settle(conn, user, found)
    return []


def _settle(conn: Connection, user: UserKey, batch: Sequence[tuple[int, Turn]]) -> None:
    """Lets turns wait no longer."""
    conn.execute(
        "DELETE FROM pending_extractions WHERE user_key = ? AND turn = ANY(?)",
        (user, [key for key, _ in batch]),
    )


def complete_call(
    conn: Connection, user: UserKey, call: int, result: ExtractionResult, facts: int
) -> None:
    """Completes the record of a call."""
    conn.execute(
        """UPDATE extraction_calls SET outcome = ?, prompt_tokens = ?, completion_tokens = ?,
               facts = ?, dropped = ? WHERE user_key = ? AND id = ?""",
        (
            result.outcome,
            result.prompt_tokens,
            result.completion_tokens,
            facts,
            result.dropped,
            user,
            call,
        ),
    )


def _store(
    conn: Connection,
    user: UserKey,
    turn: int,
    statement: Statement,
    revise: understandings.Supersede,
    identify: understandings.MatchSubjects,
) -> bool:
    """Stores a fact, unless it was known from its turn or has ended since; whether it was."""
    spoken_at, order_time, speaker = conn.execute(
        "SELECT spoken_at, order_time, speaker FROM turns WHERE user_key = ? AND id = ?",
        (user, turn),
    ).fetchone()
    said = understandings.StatementTime(from_stored(spoken_at), from_stored(order_time))
    if _is_known(conn, user, turn, statement) or any(
        normalize_value(memory.object) == normalize_value(statement.object)
        and memory.negated == statement.negated
        and memory.valid_until is not None
        and memory.valid_until >= said.said_at
        for memory in related(conn, user, statement, said.order_time)
    ):
        return False
    understandings.add_statement(conn, user, turn, statement, said, speaker, revise, identify)
    return True


def _is_known(conn: Connection, user: UserKey, turn: int, statement: Statement) -> bool:
    """Whether a memory from the turn says the same: the value, or all words of the statement.

    A sentence that is kept as it was said has the words, but not the relation.
    """
    rows = conn.execute(
        """SELECT m.subject, m.relation, m.object, m.text FROM sources x
           JOIN memories m ON m.id = x.memory WHERE m.user_key = ? AND x.turn = ?""",
        (user, turn),
    ).fetchall()
    words = stems(statement.text) - STOP_STEMS
    value = normalize_value(statement.object)
    return any(
        (relation == statement.relation and normalize_value(known) == value)
        or (relation != STATES.name and words <= stems(f"{subject} {text}"))
        for subject, relation, known, text in rows
    )
