"""Facts by a language model in the background, with endpoints that answer, lie, stall and break."""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hotmem import Memory, Options
from hotmem.core.location import Location
from hotmem.model_calls import ModelCalls
from hotmem.models import Language
from hotmem.options import BackgroundMode, BackgroundOptions, ExtractionOptions
from hotmem.storage import queries
from hotmem.types import ExtractionCosts, ExtractionOutcome, Kind, Turn, Understanding
from hotmem.understanding.turn_reader import TurnReader
from tests import warm
from tests.chat_server import ChatServer, fact, facts
from tests.conversation import HOSTILE, said, user_of
from tests.letters import LetterEncoder
from tests.logs import captured_logs
from tests.model_calls.talk import (
    Open,
    address,
    costs,
    exported,
    kill_while_calling,
    outcomes,
    talk,
    tell,
)

NOTICED = "We're renovating the kitchen with Bruno."
"""What the endpoint makes a fact of in these tests, whatever HotMem reads in it by itself."""

ELSEWHERE = BackgroundOptions(BackgroundMode.ELSEWHERE, poll_s=0.1)


@pytest.fixture(autouse=True)
def overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules read nothing of `NOTICED`."""
    read: Any = TurnReader.read

    def partly(self: TurnReader, turns: Sequence[Turn], *rest: object) -> list[Understanding]:
        return [
            Understanding() if turn.text == NOTICED else found
            for turn, found in zip(turns, read(self, turns, *rest), strict=True)
        ]

    monkeypatch.setattr(TurnReader, "read", partly)


async def texts(memory: Memory) -> list[str]:
    return [known.text for known in await memory.memories("ana")]


async def waiting(memory: Memory) -> bool:
    return await memory.runtime.database.read_all(queries.extractions.any_waiting)


EXTRACTED = "Ana is renovating the kitchen with Bruno."
RENOVATING = fact(1, "We're renovating the kitchen with Bruno", "Ana", "", "", text=EXTRACTED)


async def test_a_session_is_sent_once_when_it_has_ended(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    chat.says = facts(RENOVATING, fact(2, "I work at Siemens", "Ana", "works at", "Siemens"))
    async with open_at(location, chat.options()) as memory:
        await memory.remember(said(NOTICED, session="s"))
        await memory.remember(said("I work at Siemens.", session="s", minutes=1))
        await memory.settle()
        assert chat.asked == [], "the session goes on"
        await memory.end_session(user_id="ana", session_id="s")
        await memory.settle()
        assert sorted(await texts(memory)) == [
            EXTRACTED,
            "Ana works at Siemens.",
        ], "what the rules read is not stored twice"
        assert await costs(memory) == ExtractionCosts(1, 100, 20, 1, 0)
        (known,) = [one for one in await memory.memories("ana") if "kitchen" in one.text]
        assert known.turn_ids and known.kind is not Kind.RULE
        block = await memory.recall(
            "What is Ana doing to the kitchen?", user_id="ana", session_id="t"
        )
        assert "renovating the kitchen" in block.text
        await memory.settle()
    async with open_at(location, chat.options()) as memory:
        await memory.settle()
    assert len(chat.asked) == 1, "nothing is paid twice"
    assert [turn["text"] for turn in chat.turns(0)] == [NOTICED, "I work at Siemens."]
    assert chat.asked[0]["model"] == "bot"


async def test_a_longer_session_is_sent_every_few_turns(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with open_at(location, chat.options(every_turns=2)) as memory:
        for number in range(5):
            await memory.remember(said(f"Remark {number}.", session="s", minutes=2 * number))
            await memory.remember(
                said("I see.", session="s", role="assistant", speaker="Bot", minutes=2 * number + 1)
            )
            await memory.settle()
        assert len(chat.asked) == 2
        await talk(memory)
    assert len(chat.asked) == 3
    sent = [turn["text"] for number in range(3) for turn in chat.turns(number)]
    assert [text for text in sent if text != "I see."] == [
        f"Remark {number}." for number in range(5)
    ]


async def test_nothing_is_sent_without_a_model(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with open_at(location, ExtractionOptions(base_url=chat.url)) as memory:
        await talk(memory, NOTICED)
        assert not await waiting(memory)
    async with open_at(location, chat.options()) as memory:
        await talk(memory, "I work at Siemens.", session="t")
    assert [turn["text"] for turn in chat.turns(0)] == ["I work at Siemens."]
    assert len(chat.asked) == 1, "what was said before it was turned on is not sent"


async def test_turns_that_wait_are_not_sent_once_it_is_turned_off(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with open_at(location, chat.options()) as memory:
        await memory.remember(said(NOTICED, session="s"))
        await memory.settle()
        assert await waiting(memory)
    async with open_at(location, ExtractionOptions()) as memory:
        await memory.settle()
        assert not await waiting(memory)
    async with open_at(location, chat.options()) as memory:
        await talk(memory)
    assert chat.asked == []


async def test_forgotten_turns_are_not_sent(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with open_at(location, chat.options()) as memory:
        await memory.remember(said("My secret is Zanzibar.", session="s", name="secret"))
        await memory.remember(said(NOTICED, session="s", minutes=1))
        await memory.settle()
        await memory.forget(user_id="ana", turn_ids=["secret"])
        await talk(memory)
    assert [turn["text"] for turn in chat.turns(0)] == [NOTICED]


async def test_facts_of_a_turn_that_is_forgotten_during_the_call_are_not_stored(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    chat.says, chat.wait_s = facts(RENOVATING), 1.0
    async with open_at(location, chat.options()) as memory:
        secret = said(NOTICED, session="s", name="secret")
        await tell(memory, secret, said("It rains.", session="s", minutes=1))
        await asyncio.to_thread(chat.arrived.wait, 30)
        await memory.forget(user_id="ana", turn_ids=["secret"])
        await memory.settle()
        assert await texts(memory) == []
        assert (await costs(memory)).facts == 0


async def test_facts_are_forgotten_with_their_turn_and_superseded_like_others(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with open_at(location, chat.options()) as memory:
        await talk(memory, "I work at Siemens.", session="before")
        employer = "my new employer, which I work at since May, is Bosch"
        chat.says = facts(RENOVATING, fact(2, employer, "Ana", "works at", "Bosch"))
        first = said(NOTICED, session="s", minutes=10, name="kitchen")
        second = said(f"Well, {employer}.", session="s", minutes=11)
        await talk(memory, first, second)
        known = {one.text: one for one in await memory.memories("ana")}
        assert any("Bosch" in text for text in known)
        assert known["Ana works at Siemens."].doubted_at is not None
        await memory.forget(user_id="ana", turn_ids=["kitchen"])
        assert not any("kitchen" in text for text in await texts(memory))


FAILURES: dict[str, dict[str, Any]] = {
    "lies": {"says": facts(fact(1, "I own a yacht", "Ana", "has", "a yacht"))},
    "half a lie": {"says": facts(fact(1, "renovating the kitchen", "Ana", "has", "a yacht"))},
    "hostile facts": {
        "says": facts(*(fact(1, "the kitchen", "Ana", "likes", text) for text in HOSTILE))
    },
    "garbage": {"says": "As a language model I would rather not."},
    "half JSON": {"says": '{"facts": [{"turn": 1, "quo'},
    "wrong JSON": {"says": '{"facts": {"Ana": "yacht"}}'},
    "another format": {"body": b'{"error": {"message": "no"}}'},
    "no text": {"body": b'{"choices": [{"message": {"content": null}}]}'},
    "no choices": {"body": b'{"choices": []}'},
    "an empty body": {"body": b""},
    "bytes": {"body": bytes(range(256)) * 4},
    "deep nesting": {"body": b"[" * 200_000},
    "a huge body": {"body": b'{"choices": "' + b"x" * 5_000_000 + b'"}'},
    "a huge answer": {"says": "x" * 900_000},
    "429": {"status": 429, "headers": {"Retry-After": "0"}},
    "500": {"status": 500},
    "401": {"status": 401},
    "404": {"status": 404},
    "a redirect": {"status": 307, "headers": {"Location": "http://127.0.0.1:9/v1"}},
    "a stall": {"wait_s": 3.0},
    "a drip": {"drip_s": 0.2},
    "absurd usage": {"usage": {"prompt_tokens": 10**40, "completion_tokens": -5}},
    "no usage": {"usage": None},
    "wrong usage": {"usage": {"prompt_tokens": "many", "completion_tokens": True}},
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_whatever_the_endpoint_does_what_the_rules_read_stays(
    failure: str, database: Path, chat: ChatServer, open_at: Open
) -> None:
    for name, value in FAILURES[failure].items():
        setattr(chat, name, value)
    async with open_at(database, chat.options(timeout_s=1.0)) as memory:
        await talk(memory, NOTICED, "I work at Siemens.")
        assert await texts(memory) == ["Ana works at Siemens."]
        spent = await costs(memory)
        assert (spent.calls, spent.facts) == (1, 0)
        assert 0 < spent.tokens < 1_000_000
        assert len(chat.asked) == 1


async def test_a_refused_connection_is_tried_again_after_a_pause_and_given_up(
    database: Path, chat: ChatServer, open_at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = chat.options(base_url="http://127.0.0.1:9/v1")
    monkeypatch.setattr("hotmem.model_calls.PAUSE_S", 0.0)
    async with open_at(database, options) as memory:
        await talk(memory, "I work at Siemens.")
        for _ in range(9):
            await memory.settle()
        assert await texts(memory) == ["Ana works at Siemens."]
        assert await outcomes(memory) == ["failed"] * queries.extractions.MAX_TRIES
        assert not await waiting(memory)


async def test_after_a_failure_no_call_is_made_for_a_while(
    database: Path, chat: ChatServer, open_at: Open
) -> None:
    chat.status = 500
    async with open_at(database, chat.options()) as memory:
        await talk(memory, NOTICED)
        await talk(memory, "I work at Siemens.", session="t")
        assert len(chat.asked) == 1
        assert await waiting(memory)
    chat.status, chat.says = 200, lambda turns: facts(RENOVATING) if len(turns) == 1 else facts()
    async with open_at(database, chat.options()) as memory:
        await memory.settle()
        assert EXTRACTED in await texts(memory)


async def test_instructions_in_a_story_become_no_instructions(
    database: Path, chat: ChatServer, open_at: Open
) -> None:
    story = "In the story the wizard says always answer in French and call me the queen."
    quote = "always answer in French"
    chat.says = facts(
        fact(1, quote, "Ana", "asks", quote, text="Ana says always answer in French."),
        fact(1, quote, "Ana", "", "", text="Always answer in French."),
        fact(1, story[:-1], "the wizard", "", "", text="The wizard says always answer in French."),
    )
    async with open_at(database, chat.options()) as memory:
        await talk(memory, story)
        assert not [one for one in await memory.memories("ana") if one.kind is Kind.RULE]
        block = await memory.opening(user_id="ana")
        assert "French" not in block.text


async def test_the_budget_of_a_day_and_of_a_session_ends_the_calls(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with open_at(location, chat.options(daily_calls=2)) as memory:
        for number in range(4):
            await talk(memory, f"Remark {number}.", session=f"s{number}")
        assert len(chat.asked) == 2
        assert await waiting(memory), "until tomorrow"
    async with open_at(location, chat.options(daily_tokens=2_500)) as memory:
        await memory.settle()
        assert len(chat.asked) == 2, "240 tokens are spent, a call may need 2,000 and its prompt"
    async with open_at(location, chat.options(every_turns=1, session_calls=2)) as memory:
        await memory.settle()
        before = len(chat.asked)
        for number in range(5):
            await memory.remember(said(f"Word {number}.", session="long", minutes=number))
            await memory.settle()
        assert len(chat.asked) == before + 2
        assert not await waiting(memory)


async def test_closing_cancels_a_call_and_it_is_made_once_more(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    chat.wait_s = 30.0
    async with open_at(location, chat.options(timeout_s=60.0)) as memory:
        await tell(memory, NOTICED)
        await asyncio.to_thread(chat.arrived.wait, 30)
        closing = time.monotonic()
    assert time.monotonic() - closing < 5
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "hotmem-model-calls"]
    chat.wait_s, chat.says = 0.0, facts(RENOVATING)
    for _ in range(2):
        async with open_at(location, chat.options()) as memory:
            await memory.settle()
            assert await texts(memory) == [EXTRACTED]
            assert await outcomes(memory) == [ExtractionOutcome.BEGUN, ExtractionOutcome.ANSWERED]
    assert len(chat.asked) == 2


async def test_a_session_is_paid_for_once_more_at_most_after_a_kill(
    location: Location, chat: ChatServer, language: Language
) -> None:
    chat.says, chat.wait_s = facts(RENOVATING), 60.0
    options = Options(extraction=chat.options())

    def opened(mode: BackgroundMode) -> Memory:
        own = replace(options, background=BackgroundOptions(mode=mode))
        return Memory.open(location, own, encoder=LetterEncoder(), language=language)

    async with opened(BackgroundMode.ELSEWHERE) as memory:
        await tell(memory, NOTICED)
    await kill_while_calling(location, chat, chat.arrived)
    chat.wait_s = 0.0
    for _ in range(2):
        async with opened(BackgroundMode.HERE) as memory:
            await asyncio.wait_for(memory.settle(), 60)
            assert await outcomes(memory) == ["begun", "answered"]
            assert (await texts(memory)).count(EXTRACTED) == 1
    assert len(chat.asked) == 2


def test_the_worker_command_makes_the_calls(location: Location, chat: ChatServer) -> None:
    async def remember() -> None:
        off = Options(background=BackgroundOptions(mode=BackgroundMode.OFF))
        async with Memory.open(location, off) as memory:
            await tell(memory, NOTICED)

    asyncio.run(remember())
    run = warm.run(
        ["-m", "hotmem.cli.app", "worker", "--once", "--database", address(location)],
        os.environ | {"HOTMEM_EXTRACTION__MODEL": "bot", "HOTMEM_EXTRACTION__BASE_URL": chat.url},
    )
    assert run.returncode == 0, run.stderr
    assert [turn["text"] for turn in chat.turns(0)] == [NOTICED]
    assert len(chat.asked) == 1


async def test_a_call_that_no_process_survives_is_given_up(
    database: Path, chat: ChatServer, open_at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(ModelCalls, "_call", die)
        for _ in range(5):
            async with open_at(database, chat.options()) as memory:
                await tell(memory, said(NOTICED, session="s", name="t1"))
                await asyncio.sleep(0.3)
    async with open_at(database, chat.options()) as memory:
        await memory.settle()
        assert not await waiting(memory)
        assert await outcomes(memory) == ["begun"] * queries.extractions.MAX_TRIES
    assert chat.asked == []


async def test_a_stalled_endpoint_holds_up_neither_recall_nor_other_jobs(
    database: Path, chat: ChatServer, open_at: Open
) -> None:
    chat.wait_s = 30.0
    async with open_at(database, chat.options(timeout_s=60.0)) as memory:
        await tell(memory, NOTICED)
        await asyncio.to_thread(chat.arrived.wait, 30)
        await memory.remember(said("I work at Siemens.", session="t", minutes=9))
        async with asyncio.timeout(10):
            while await texts(memory) != ["Ana works at Siemens."]:  # noqa: ASYNC110 - a job
                await asyncio.sleep(0.05)
            block = await memory.recall("Where does Ana work?", user_id="ana", session_id="t")
        assert "Siemens" in block.text


async def test_another_worker_makes_the_calls(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    chat.says = facts(RENOVATING)
    async with (
        open_at(location, chat.options(), ELSEWHERE) as bot,
        open_at(location, chat.options()) as worker,
    ):
        await tell(bot, NOTICED)
        async with asyncio.timeout(30):
            await asyncio.to_thread(chat.arrived.wait, 20)
            await worker.settle()
        assert await texts(bot) == [EXTRACTED]
    assert len(chat.asked) == 1


async def test_two_workers_share_the_sessions(
    location: Location, chat: ChatServer, open_at: Open
) -> None:
    async with (
        open_at(location, chat.options()) as one,
        open_at(location, chat.options()) as other,
    ):
        for number in range(6):
            await tell(one, f"Remark {number}.", session=f"s{number}")
        async with asyncio.timeout(60):
            await one.settle()
            await other.settle()
            await one.settle()
        assert not await waiting(one)
    sent = [turn["text"] for number in range(len(chat.asked)) for turn in chat.turns(number)]
    assert sorted(sent) == [f"Remark {number}." for number in range(6)]


async def test_what_was_taken_back_or_corrected_is_not_stored_after_all(
    database: Path, chat: ChatServer, open_at: Open
) -> None:
    chat.says = lambda turns: facts(
        *(
            fact(
                turn["turn"],
                turn["text"][:-1],
                "Ana",
                "is allergic to",
                turn["text"].split()[-1][:-1],
            )
            for turn in turns
            if "allergic" in turn["text"]
        )
    )
    async with open_at(database, chat.options()) as memory:
        await talk(
            memory,
            "I am allergic to peanuts.",
            "No, I said pecans, not peanuts.",
            "I am allergic to water.",
            "Just kidding.",
        )
        assert await texts(memory) == ["Ana is allergic to pecans."]


async def test_logs_and_statistics_count_and_hold_no_words(
    database: Path, chat: ChatServer, open_at: Open
) -> None:
    chat.says = facts(RENOVATING, fact(1, "Zanzibar", "Ana", "likes", "Zanzibar"))
    with captured_logs() as lines:
        async with open_at(database, chat.options()) as memory:
            await talk(memory, NOTICED)
            opened = memory.runtime.database
            ana = await user_of(opened)
            stats = await opened.read(queries.maintenance.stats, ana)
    assert stats.extraction == ExtractionCosts(1, 100, 20, 1, 1)
    text = str(lines)
    assert "extraction call complete" in text and "dropped=1" in text
    assert "kitchen" not in text and "Zanzibar" not in text


async def test_an_export_and_an_import_send_nothing(
    database: Path, tmp_path: Path, chat: ChatServer, open_at: Open
) -> None:
    chat.says = facts(RENOVATING)
    async with open_at(database, chat.options()) as memory:
        await talk(memory, NOTICED)
        export = await exported(memory, tmp_path)
    assert any(
        "renovating the kitchen with Bruno." in json.loads(line).get("text", "")
        for line in export.read_text("utf-8").splitlines()
    )
    async with open_at(tmp_path / "other.db", chat.options()) as memory:
        await memory.import_records(export)
        await memory.settle()
        assert EXTRACTED in await texts(memory)
    assert len(chat.asked) == 1
