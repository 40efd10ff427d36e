"""Turns that wait to be sent to a language model, and the record of calls."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from hotmem.readings import store_facts, store_statement, store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.extractions import MAX_TRIES, MAX_TURN_CHARACTERS
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.queries.model_calls import NO_SESSION, Budget, Claim
from hotmem.types import (
    ExtractionBatch,
    ExtractionCosts,
    ExtractionOutcome,
    ExtractionResult,
    JobKind,
    Statement,
    Turn,
    Understanding,
    UserKey,
)
from tests.conversation import user_of
from tests.storage.contract.story import NOW, memories_of, owns, say

FIRST, OTHER = "first worker", "other worker"
BUDGET = Budget(daily_calls=5, daily_tokens=10_000, session_calls=3)
FAILED = ExtractionResult(ExtractionOutcome.FAILED, 70)
ANSWERED = ExtractionResult(ExtractionOutcome.ANSWERED, 80, 9, 2)


def cost(turns: Sequence[Turn]) -> tuple[int, int]:
    return 10 * len(turns), 100


def understand_all(conn: Connection, *jests: str) -> None:
    """Store that nothing was read of the turns that wait; those named take the one before back."""
    waiting = queries.turns.waiting(conn, UserRotation(), 100)
    for key, said in waiting:
        store_understanding(conn, key, Understanding(jest=said.text in jests), to_model=True)


async def spoken(database: Database, *texts: str, ended: bool = True) -> None:
    """Ana says some things, which are understood."""
    await database.write_all(say, *texts)
    await database.write_all(understand_all)
    if ended:
        ana = await user_of(database)
        await database.write(queries.sessions.end, ana, "harbour")


async def claimed(
    database: Database, budget: Budget = BUDGET, worker: str = FIRST, every: int = 0, days: int = 0
) -> Claim:
    now = NOW + timedelta(days=days)
    return await database.write_all(queries.extractions.claim, worker, every, budget, now, cost)


async def batch_of(database: Database, budget: Budget = BUDGET) -> ExtractionBatch:
    """The turns that the first worker claims."""
    claim = await claimed(database, budget)
    assert claim.batch is not None
    return claim.batch


async def finish(database: Database, user: UserKey, store: Callable[..., Any], *given: Any) -> Any:  # noqa: ANN401 - as the function
    """Store what came of a call of the first worker, with a function that is given values."""
    end = queries.claims.finish
    return await database.write(end, user, FIRST, JobKind.EXTRACTION, store, *given)


async def finished(
    database: Database, user: UserKey, batch: ExtractionBatch, *facts: tuple[int, Statement]
) -> int:
    stored: int = await finish(database, user, store_facts, batch, ANSWERED, facts)
    return stored


async def test_a_session_waits_until_it_has_ended_or_is_long(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, "One.", "Two.", ended=False)
    assert await database.read_all(queries.extractions.any_waiting)
    assert not await database.read_all(queries.extractions.any_due, 0)
    assert not await database.read_all(queries.extractions.any_due, 3)
    assert await database.read_all(queries.extractions.any_due, 2)
    assert await claimed(database) == Claim(None, more=False)
    await database.write(queries.sessions.end, ana, "harbour")
    assert await database.read_all(queries.extractions.any_due, 0)
    batch = await batch_of(database)
    assert [said.text for _, said in batch.turns] == ["One.", "Two."]
    assert await claimed(database, worker=OTHER) == Claim(None, more=False)


async def test_an_ended_session_waits_for_its_turns_to_be_understood(
    database: Database, ana: UserKey
) -> None:
    def first_only(conn: Connection) -> None:
        say(conn, "One.", "Two.")
        first = queries.turns.waiting(conn, UserRotation(), 1)[0][0]
        store_understanding(conn, first, Understanding(), to_model=True)

    await database.write_all(first_only)
    await database.write(queries.sessions.end, ana, "harbour")
    assert not await database.read_all(queries.extractions.any_due, 0)
    await database.write_all(understand_all)
    assert len((await batch_of(database)).turns) == 2


async def test_facts_are_stored_with_the_record_of_the_call(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, "A boat.", "A hut.")
    batch = await batch_of(database)
    assert await database.read(queries.model_calls.costs, ana) == ExtractionCosts(1, 20)
    (boat, _), (hut, _) = batch.turns
    found = (
        (boat, owns("a boat", 5)),
        (boat, owns("a boat", 5)),
        (hut, owns("a hut", 5)),
        (99, owns("x", 5)),
    )
    assert await finished(database, ana, batch, *found) == 2
    stored = await database.read(memories_of, ana)
    assert stored == ["Skipper owns a boat.", "Skipper owns a hut."]
    assert await database.read(queries.memories.current_subjects, ana) == ("Skipper",)
    assert await database.read(queries.model_calls.costs, ana) == ExtractionCosts(1, 80, 9, 2, 2)
    assert not await database.read_all(queries.extractions.any_waiting)
    assert await claimed(database, worker=OTHER) == Claim(None, more=False)


async def test_a_fact_that_has_ended_since_is_not_stored_again(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, "A boat.", "No boat.")
    batch = await batch_of(database)
    (first, _), (second, _) = batch.turns

    def end(conn: Connection) -> None:
        conn.lock_user(ana)
        store_statement(conn, queries.statements.said(conn, ana, second), owns("a boat", 5))
        conn.execute(
            "UPDATE memories SET valid_until = ? WHERE user_key = ?",
            (queries.times.to_stored(NOW + timedelta(minutes=1)), ana),
        )

    await database.write_all(end)
    assert await finished(database, ana, batch, (first, owns("a boat", 5))) == 0


async def test_what_was_a_joke_or_was_said_at_length_is_not_sent(
    database: Database, ana: UserKey
) -> None:
    await database.write_all(say, "I am a duck.", "Just kidding.", "x" * (MAX_TURN_CHARACTERS + 1))
    await database.write_all(understand_all, "Just kidding.")
    await database.write(queries.sessions.end, ana, "harbour")
    batch = await batch_of(database)
    assert [said.text for _, said in batch.turns] == ["Just kidding."]
    await finished(database, ana, batch)
    assert not await database.read_all(queries.extractions.any_waiting)


async def test_a_call_without_an_answer_is_made_again_a_few_times(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, "One.")
    for _ in range(MAX_TRIES):
        batch = await batch_of(database)
        await finish(database, ana, queries.model_calls.complete, batch.call, FAILED)
    budget = BUDGET._replace(session_calls=9)
    assert await claimed(database, budget) == Claim(None, more=True)
    assert await claimed(database, budget) == Claim(None, more=False)
    assert not await database.read_all(queries.extractions.any_waiting)
    assert await database.read(queries.model_calls.costs, ana) == ExtractionCosts(3, 210)


async def test_no_call_is_made_beyond_the_budget(database: Database, ana: UserKey) -> None:
    await spoken(database, "One.")
    tight = BUDGET._replace(daily_calls=1)
    await finished(database, ana, await batch_of(database, tight))
    await database.write_all(say, "Two.", session="quay")
    await database.write_all(understand_all)
    await database.write(queries.sessions.end, ana, "quay")
    assert await database.read_all(queries.model_calls.is_spent, tight, NOW)
    assert not await database.read_all(queries.model_calls.is_spent, BUDGET, NOW)
    tomorrow = NOW + timedelta(days=1)
    assert not await database.read_all(queries.model_calls.is_spent, tight, tomorrow)
    for budget in (tight, BUDGET._replace(daily_tokens=198)):  # 89 spent, 110 needed
        assert await claimed(database, budget) == Claim(None, more=False)
    assert await database.read_all(queries.extractions.any_waiting), "tomorrow"
    assert (await claimed(database, tight, days=1)).batch is not None


async def test_what_the_budget_never_allows_waits_no_longer(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, "One.")
    assert await claimed(database, BUDGET._replace(daily_tokens=50)) == Claim(None, more=True)
    assert not await database.read_all(queries.extractions.any_waiting)


async def test_nothing_waits_once_it_is_discarded(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "One.")
    await database.write_all(queries.extractions.enqueue, 1, jest=False)
    assert await database.read_all(queries.extractions.any_waiting)
    await database.write_all(queries.extractions.discard)
    assert not await database.read_all(queries.extractions.any_waiting)


async def test_calls_that_name_subcategories_count_to_the_budget(
    database: Database, ana: UserKey
) -> None:
    budget = Budget(2, 1000, 10)
    begin = queries.model_calls.begin
    call = await database.write_all(begin, ana, NO_SESSION, budget, 300, 100, NOW)
    assert call is not None
    result = ExtractionResult(ExtractionOutcome.ANSWERED, 290, 20)
    await database.write(queries.model_calls.complete, ana, call, result)
    spent = await database.read(queries.model_calls.costs, ana)
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (1, 290, 20)
    assert await database.write_all(begin, ana, NO_SESSION, budget, 600, 100, NOW) is None, "tokens"
    assert await database.write_all(begin, ana, NO_SESSION, budget, 300, 100, NOW) is not None
    assert await database.write_all(begin, ana, NO_SESSION, budget, 1, 1, NOW) is None, "calls"
    assert await database.read_all(queries.model_calls.is_spent, budget, NOW)
    tomorrow = NOW + timedelta(days=1)
    assert await database.write_all(begin, ana, NO_SESSION, budget, 300, 100, tomorrow) is not None
    assert await database.read(queries.model_calls.of_session, ana, NO_SESSION) == 3
