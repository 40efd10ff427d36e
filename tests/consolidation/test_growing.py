"""Incremental summaries of a growing session.

Short sessions are summarised as a whole; in long ones the cost of one more turn is constant.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from hotmem import Memory
from hotmem.consolidation.summary import count_topics, render_summary, summarise
from hotmem.models import Language
from hotmem.remember import NO_SIGNS
from hotmem.storage import Storage, open_storage, queries, steps
from hotmem.storage.database import Cursor
from hotmem.storage.queries import jobs, sessions, turns
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.queries.sessions import WHOLE
from hotmem.storage.rows import Rows
from hotmem.storage.search import vectors
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import (
    EvidenceKind,
    Role,
    SessionSummary,
    SummaryInput,
    SummarySentence,
    Topic,
    Turn,
    UserKey,
)
from hotmem.types.maintenance import ForgetTurns
from tests.consolidation.test_summary import SPOKEN
from tests.conversation import START, remember, user_of
from tests.letters import LetterEncoder

SERVED = UserRotation()
USER = UserKey(1)

MOST_AGAIN = 15 + 5 * sessions.REPLIED_WITHIN
"""Turns that a full summary quotes, and those after its open loops."""


def said(place: int, text: str, role: Role = Role.USER) -> Turn:
    at, speaker = START + timedelta(minutes=place), "Ana" if role is Role.USER else None
    return Turn("ana", "long", role, text, at, speaker, f"t{place}")


@pytest.fixture
async def storage(database: Path) -> AsyncIterator[Storage]:
    opened = open_storage(database)
    encoder = LetterEncoder()
    await steps.adopt_encoder(opened.database, encoder.name, encoder.dimension)
    yield opened
    await opened.database.close()


async def add(storage: Storage, session: Sequence[Turn]) -> None:
    """Store turns and their vectors."""

    def put(conn: Connection) -> None:
        for turn in session:
            turns.add(conn, turn, START)
        waiting = vectors.waiting(conn, len(session) * 2)
        rows = list(LetterEncoder().encode([text for _, _, text in waiting]))
        vectors.put(
            conn, EvidenceKind.PASSAGE, [key for _, key, _ in waiting], rows, [NO_SIGNS] * len(rows)
        )

    await storage.database.write_all(put)


async def due(storage: Storage) -> SummaryInput | None:
    user = await user_of(storage.database)
    await storage.database.write(queries.sessions.end, user, "long")
    session = await steps.session_due(storage.database, SERVED, START, 0)
    return (
        None
        if session is None
        else await storage.database.read(queries.sessions.unsummarised, session.user, session.key)
    )


def of_first(seen: SummaryInput) -> SessionSummary:
    """A full summary that quotes the first turns of its input."""
    quoted = tuple(SummarySentence(turn.text, turn.id) for turn in seen.turns[:5])
    return SessionSummary(("ferry",), quoted, quoted, quoted)


async def summarised_to_the_end(storage: Storage) -> list[int]:
    """Number of turns read in each step."""
    read = []
    while (seen := await due(storage)) is not None:
        read.append(len(seen.turns))
        topics, put = {"ferry": Topic("ferry", float(seen.through))}, queries.sessions.put
        await storage.database.write(put, USER, seen, of_first(seen), topics, "About the ferry.")
    return read


@pytest.mark.parametrize("length", [10, 450, 3000])
async def test_cost_of_one_more_turn_is_bounded(storage: Storage, length: int) -> None:
    await add(storage, [said(place, "The ferry was late.") for place in range(length)])
    if length > WHOLE:
        steps = await summarised_to_the_end(storage)
        assert len(steps) == -(-length // WHOLE)
        assert max(steps) <= WHOLE + MOST_AGAIN
    await add(storage, [said(length, "The ferry was on time.")])
    seen = await due(storage)
    assert seen is not None
    assert seen.through == seen.latest == max(seen.keys)
    assert len(seen.turns) <= max(MOST_AGAIN, 10) + 1
    if length > WHOLE:
        assert seen.fresh == {seen.latest}
        assert seen.topics["ferry"].written == "ferry"


async def test_no_query_reads_a_whole_session(storage: Storage) -> None:
    """Due sessions and the summary's input are found by an index."""
    await add(storage, [said(0, "The ferry was late.")])
    asked: list[str] = []

    def plans(conn: Connection) -> list[str]:
        class Explaining(Rows):
            def execute(self, sql: str, values: object = (), /) -> Cursor:
                asked.extend(row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}", values))
                return conn.execute(sql, values)

        jobs.next_session(Explaining(), jobs.UserRotation())  # type: ignore[arg-type]  # a stand-in
        sessions.unsummarised(Explaining(), USER, 1)  # type: ignore[arg-type]  # a stand-in
        return asked

    tables = (
        "SCAN t",
        "SCAN turns",
        "SEARCH p USING INDEX sqlite_autoindex_passages_1 (session=?)",
    )
    assert not [line for line in await storage.database.read_all(plans) if line.startswith(tables)]


async def test_up_to_two_hundred_sessionare_summarised_in_one_step(
    storage: Storage, language: Language
) -> None:
    session = [
        said(place, SPOKEN[place % len(SPOKEN)][1], SPOKEN[place % len(SPOKEN)][0])
        for place in range(WHOLE)
    ]
    await add(storage, session)
    seen = await due(storage)
    assert seen is not None
    assert seen.turns == tuple(session)
    docs = language.parse([turn.text for turn in session])
    first = summarise(seen.turns, docs, seen.vectors)
    await storage.database.write(queries.sessions.put, USER, seen, first, {}, render_summary(first))
    again = await due(storage)
    assert again is not None
    assert again.turns == seen.turns
    assert (again.vectors == seen.vectors).all()


async def test_early_decisions_stay_in_the_summary_of_a_long_session(
    memory: Memory,
) -> None:
    small_talk = [
        said(place, f"It was quite sunny again, number {place}.") for place in range(1, WHOLE + 20)
    ]
    await memory.remember(
        said(0, "We decided to take oak for the new kitchen because Rui works with oak.")
    )
    for turn in small_talk:
        await memory.remember(turn)
    await memory.end_session(user_id="ana", session_id="long")
    await memory.settle()
    await remember(
        memory, said(900, "Rui from Porto brings the oak for the kitchen on the ferry."), end="long"
    )
    summary = await memory.lookup.summary(user_id="ana", session_id="long")
    assert summary is not None
    assert [sentence.turn_id for sentence in summary.decisions] == ["t0"]
    assert "t900" in {sentence.turn_id for sentence in summary.narrative}


async def test_questions_answered_later_are_not_open(storage: Storage) -> None:
    await add(storage, [said(place, "The ferry was late.") for place in range(WHOLE)])
    await add(storage, [said(WHOLE, "Does the ferry take bicycles?")])
    while (seen := await due(storage)) is not None:
        open_loops = (SummarySentence(seen.turns[-1].text, seen.turns[-1].id),)
        summary, put = SessionSummary(("ferry",), (), (), open_loops), queries.sessions.put
        await storage.database.write(put, USER, seen, summary, {}, "About the ferry.")
    await add(storage, [said(WHOLE + 1, "Yes, it does.", Role.ASSISTANT)])
    await add(storage, [said(WHOLE + 2, "Good.")])
    seen = await due(storage)
    assert seen is not None
    assert [turn.id for turn in seen.turns] == [f"t{WHOLE}", f"t{WHOLE + 1}", f"t{WHOLE + 2}"]


@pytest.mark.parametrize("goes", ["quoted", "summary"])
async def test_summary_of_sessionforgotten_meanwhile_is_dropped(
    storage: Storage, goes: str
) -> None:
    """For a turn that is read again, and for one of which only topics are counted."""
    await add(storage, [said(place, "The ferry was late.") for place in range(2 * WHOLE)])
    await summarised_to_the_end(storage)
    await add(storage, [said(2 * WHOLE, "The ferry was on time.")])
    seen = await due(storage)
    user = await storage.database.read_all(queries.users.find, "ana")
    assert seen is not None and user is not None
    gone = seen.turns[0].id if goes == "quoted" else f"t{WHOLE + 50}"
    await storage.forgetting.forget(user, ForgetTurns((gone,)))
    await storage.database.write(
        queries.sessions.put, USER, seen, of_first(seen), seen.topics, "About the ferry."
    )
    assert await storage.database.read(queries.sessions.of_session, user, "long") is None
    again = await due(storage)
    assert again is not None
    assert again.summarised is None and not again.topics


def test_topic_counts_are_additive(language: Language) -> None:
    session = [said(place, text, role) for place, (role, text) in enumerate(SPOKEN)]
    spoken = list(zip(session, language.parse([turn.text for turn in session]), strict=True))
    whole, parts = count_topics(spoken), count_topics(spoken[6:], count_topics(spoken[:6]))
    assert {name: round(topic.weight, 6) for name, topic in parts.items()} == {
        name: round(topic.weight, 6) for name, topic in whole.items()
    }
    assert whole["rui"].weight == np.max([topic.weight for topic in whole.values()])
