"""Sessions that wait for a summary by a language model, and its sentences."""

from datetime import timedelta

from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.extractions import MAX_TRIES, MAX_TURN_CHARACTERS
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.queries.model_calls import Budget, Claim
from hotmem.types import (
    ExtractionBatch,
    ExtractionCosts,
    SessionSummary,
    SummarySentence,
    Topic,
    Turn,
    UserKey,
)
from hotmem.types.maintenance import ForgetTurns
from tests.storage.contract.story import NOW, embed, say
from tests.storage.contract.test_extractions import (
    ANSWERED,
    FAILED,
    FIRST,
    OTHER,
    cost,
    finish,
    understand_all,
)

BUDGET = Budget(daily_calls=9, daily_tokens=10_000, session_calls=9)
TOPICS = {"ferri": Topic("Ferry", 1.0)}


def render(summary: SessionSummary) -> str:
    return " ".join((*summary.topics, *(one.text for one in summary.narrative)))


def sentences(text: str, turn: str) -> SessionSummary:
    return SessionSummary(
        narrative=(SummarySentence(text, turn),), title=SummarySentence("A ferry", turn)
    )


def summarise(conn: Connection, user: UserKey, session: int, to_model: bool) -> None:
    """Store the extractive summary of what was said in a session."""
    seen = queries.sessions.unsummarised(conn, user, session)
    assert seen is not None
    summary = SessionSummary(("ferry",))
    queries.sessions.put(conn, user, seen, summary, TOPICS, "About ferry.", to_model=to_model)


async def spoken(
    database: Database, user: UserKey, *texts: str, session: str = "harbour", to_model: bool = True
) -> int:
    """Ana says some things, which are understood and summarised; the session's row number."""
    await database.write_all(say, *texts, session=session)
    await database.write_all(understand_all)
    await database.write_all(embed)
    key = await database.read(session_named, user, session)
    await database.write(summarise, user, key, to_model)
    await database.write_all(embed)
    return key


def session_named(conn: Connection, user: UserKey, name: str) -> int:
    sql = "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?"
    return int(conn.scalar(sql, (user, name)))


async def claimed(
    database: Database, budget: Budget = BUDGET, worker: str = FIRST, days: int = 0
) -> Claim:
    claim = queries.sessions.claim
    return await database.write_all(claim, worker, budget, NOW + timedelta(days=days), cost)


async def batch_of(database: Database, budget: Budget = BUDGET) -> ExtractionBatch:
    claim = await claimed(database, budget)
    assert claim.batch is not None
    return claim.batch


async def finished(
    database: Database, user: UserKey, batch: ExtractionBatch, summary: SessionSummary | None
) -> int:
    complete = queries.sessions.complete
    stored: int = await finish(database, user, complete, batch, ANSWERED, summary, render)
    return stored


async def summary_of(database: Database, user: UserKey) -> SessionSummary | None:
    return await database.read(queries.sessions.of_session, user, "harbour")


async def waiting(database: Database) -> bool:
    return await database.read_all(queries.sessions.any_waiting)


async def test_sentences_replace_those_of_the_summary_whose_topics_stay(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, ana, "The ferry leaves.", "It is late.")
    batch = await batch_of(database)
    assert [said.text for _, said in batch.turns] == ["The ferry leaves.", "It is late."]
    assert await claimed(database, worker=OTHER) == Claim(None, more=False), "the lease is taken"
    assert await finished(database, ana, batch, sentences("The ferry is late.", "harbour-1")) == 1
    summary = await summary_of(database, ana)
    assert summary is not None and summary.topics == ("ferry",)
    assert summary.narrative == (SummarySentence("The ferry is late.", "harbour-1"),)
    assert summary.title == SummarySentence("A ferry", "harbour-1")
    assert await database.write_all(embed) == 1, "the new text waits to be embedded"
    assert not await waiting(database)
    costs = await database.read(queries.model_calls.costs, ana)
    assert costs == ExtractionCosts(1, 80, 9, 0, 2, summaries=1)
    assert await claimed(database, worker=OTHER) == Claim(None, more=False)


async def test_an_answer_without_a_summary_leaves_the_extractive_one(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, ana, "The ferry leaves.")
    assert await finished(database, ana, await batch_of(database), None) == 0
    assert await summary_of(database, ana) == SessionSummary(("ferry",))
    assert not await waiting(database), "it is not asked again"
    assert (await database.read(queries.model_calls.costs, ana)).summaries == 0


async def test_a_turn_forgotten_during_the_call_leaves_no_sentence(
    database: Database, ana: UserKey
) -> None:
    session = await spoken(database, ana, "The ferry leaves.", "The secret is Zanzibar.")
    batch = await batch_of(database)
    await database.write(queries.forget.remove, ana, ForgetTurns(("harbour-1",)))
    assert await summary_of(database, ana) is None
    summary = sentences("The secret is Zanzibar.", "harbour-0")
    assert await finished(database, ana, batch, summary) == 0
    assert await summary_of(database, ana) is None
    await database.write(summarise, ana, session, True)
    again = await batch_of(database)
    assert [said.text for _, said in again.turns] == ["The ferry leaves."]
    assert await finished(database, ana, batch, summary) == 0, "the answer to the first call"
    assert await waiting(database), "it waits for the second answer"
    assert await summary_of(database, ana) == SessionSummary(("ferry",))


async def test_a_summary_stored_during_the_call_stays(database: Database, ana: UserKey) -> None:
    session = await spoken(database, ana, "The ferry leaves.")
    batch = await batch_of(database)
    await database.write(queries.sessions.end, ana, "harbour")
    await database.write(summarise, ana, session, True)
    assert await finished(database, ana, batch, sentences("A ferry.", "harbour-0")) == 0
    assert await summary_of(database, ana) == SessionSummary(("ferry",))
    assert await database.read_all(queries.sessions.any_due), "it is sent again"


async def test_sentences_are_forgotten_with_their_turns(database: Database, ana: UserKey) -> None:
    await spoken(database, ana, "The ferry leaves.", "The secret is Zanzibar.")
    summary = sentences("The secret is Zanzibar.", "harbour-1")
    assert await finished(database, ana, await batch_of(database), summary) == 1
    await database.write(queries.forget.remove, ana, ForgetTurns(("harbour-1",)))
    assert await summary_of(database, ana) is None


async def test_a_session_that_grows_is_sent_again_when_it_is_summarised(
    database: Database, ana: UserKey
) -> None:
    session = await spoken(database, ana, "The ferry leaves.")
    batch = await batch_of(database)

    def go_on(conn: Connection) -> None:
        late = batch.turns[0][1]
        queries.turns.add(
            conn, Turn("ana", "harbour", late.role, "It is late.", NOW, "S", "x"), NOW
        )

    await database.write_all(go_on)
    assert await finished(database, ana, batch, sentences("A ferry.", "harbour-0")) == 0
    assert await claimed(database) == Claim(None, more=False), "it goes on"
    await database.write_all(understand_all)
    await database.write_all(embed)
    await database.write(summarise, ana, session, True)
    assert len((await batch_of(database)).turns) == 2


async def test_what_may_not_be_sent_waits_no_longer(database: Database, ana: UserKey) -> None:
    await spoken(database, ana, "A word.", session="off", to_model=False)
    assert not await waiting(database)
    await spoken(database, ana, "x" * (MAX_TURN_CHARACTERS + 1), session="long")
    assert await claimed(database) == Claim(None, more=True)
    await spoken(database, ana, "A word.", session="dear")
    assert await claimed(database, BUDGET._replace(daily_tokens=50)) == Claim(None, more=True)
    await spoken(database, ana, "A word.", session="often")
    assert await claimed(database, BUDGET._replace(session_calls=0)) == Claim(None, more=True)
    assert not await waiting(database)
    assert await database.read(queries.model_calls.costs, ana) == ExtractionCosts()


async def test_a_session_begun_without_a_model_is_not_sent(
    database: Database, ana: UserKey
) -> None:
    def understood_by_rules(conn: Connection) -> None:
        say(conn, "My secret is Zanzibar.")
        (waits,) = queries.turns.waiting(conn, UserRotation(), 1)
        conn.execute("DELETE FROM pending_turns WHERE turn = ?", (waits[0],))

    await database.write_all(understood_by_rules)
    key = await database.read(session_named, ana, "harbour")
    await database.write_all(embed)
    await database.write(summarise, ana, key, True)
    assert not await waiting(database)
    await spoken(database, ana, "A word.", session="quay")
    assert await database.read_all(queries.extractions.any_sendable)
    assert len((await batch_of(database)).turns) == 1


async def test_nothing_is_sent_once_the_model_is_gone(database: Database, ana: UserKey) -> None:
    session = await spoken(database, ana, "A word.")
    await database.write_all(queries.sessions.discard)
    assert not await waiting(database)
    await database.write_all(queries.extractions.discard)
    assert not await database.read_all(queries.extractions.any_sendable)
    await database.write(queries.sessions.end, ana, "harbour")
    await database.write(summarise, ana, session, True)
    assert not await waiting(database), "said before a model was configured again"


async def test_a_call_without_an_answer_is_made_again_a_few_times(
    database: Database, ana: UserKey
) -> None:
    await spoken(database, ana, "A word.")
    for _ in range(MAX_TRIES):
        batch = await batch_of(database)
        await finish(database, ana, queries.model_calls.complete, batch.call, FAILED)
    assert await claimed(database) == Claim(None, more=True)
    assert not await waiting(database)
    assert await summary_of(database, ana) == SessionSummary(("ferry",))


async def test_calls_of_the_day_are_those_of_all_users(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await spoken(database, ana, "A word.")
    begin, once = queries.model_calls.begin, BUDGET._replace(daily_calls=1)
    assert await database.write_all(begin, ben, 0, once, 10, 10, NOW) is not None
    assert await claimed(database, once) == Claim(None, more=False)
    assert await waiting(database), "until tomorrow"
    assert (await claimed(database, once, days=1)).batch is not None


async def test_replaced_sentences_keep_the_counts_of_topics(
    database: Database, ana: UserKey
) -> None:
    session = await spoken(database, ana, "The ferry leaves.")

    def replaced(conn: Connection, user: UserKey) -> tuple[str, list[tuple[str, str, float]]]:
        turns = queries.turns.latest(conn, user, "harbour", 1)
        keys = {turns[0].id: conn.scalar("SELECT max(id) FROM turns")}
        summary = sentences("The ferry left.", turns[0].id)
        queries.sessions.replace(conn, user, session, summary, keys, render)
        (text,) = conn.execute("SELECT text FROM summaries WHERE id = ?", (session,)).fetchone()
        topics = conn.execute("SELECT name, written, weight FROM summary_topics").fetchall()
        return text, [tuple(row) for row in topics]

    found = await database.write(replaced, ana)
    assert found == ("ferry The ferry left.", [("ferri", "Ferry", 1.0)])
