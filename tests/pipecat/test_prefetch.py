"""When a search begins ahead of the question, and which question it answers."""

import asyncio

import pytest

from hotmem import Memory
from hotmem.pipecat.prefetch import SETTLED_S, Ask, Prefetch, Recall
from hotmem.pipecat.recall_session import RecallSession, Terms
from hotmem.types import ContextBlock
from tests.clock import VirtualClock
from tests.pipecat.daniel import PATIENT_MS, SMALL_TALK, THURSDAY, asking, tell


class Searches:
    """Searches that go on until they are cancelled."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.tasks: list[Recall] = []

    def hear(self, prefetch: Prefetch, text: str, *, at_once: bool = False, turn: int = 0) -> None:
        prefetch.hear(Ask(text, turn=turn), lambda: self._begin(text), at_once=at_once)

    def _begin(self, text: str) -> Recall:
        self.begun.append(text)
        self.tasks.append(asyncio.create_task(self._search()))
        return self.tasks[-1]

    async def _search(self) -> ContextBlock | None:
        await asyncio.Event().wait()
        return None


FIRST_S = SETTLED_S[1]
"""Seconds of silence after a first transcript, until it is searched for."""


async def test_words_are_searched_for_once_they_settle(clock: VirtualClock) -> None:
    searches, prefetch = Searches(), Prefetch()
    for text in ("what", "what is", "What is, um,", "What is my dog"):
        searches.hear(prefetch, text)
    assert searches.begun == []
    await asyncio.sleep(FIRST_S)
    assert searches.begun == ["What is my dog"]
    searches.hear(prefetch, "what is my dog?")
    await asyncio.sleep(FIRST_S)
    assert searches.begun == ["What is my dog"], "the same words"
    prefetch.stop()


async def test_the_whole_is_searched_for_at_once_and_stale_searches_end() -> None:
    searches, prefetch = Searches(), Prefetch()
    for text in ("What is my dog", "What is my dog called?", "what is my dog called"):
        searches.hear(prefetch, text, at_once=True)
    await asyncio.sleep(0)
    assert searches.begun == ["What is my dog", "What is my dog called?"]
    assert [task.cancelled() for task in searches.tasks] == [True, False]
    taken = prefetch.take(Ask("What is my dog called"))
    assert taken is not None and taken.task is searches.tasks[1]
    prefetch.stop()


@pytest.mark.parametrize(
    "asked",
    [
        Ask("What is my dog"),
        Ask("What is my dog called?", ("new to see",)),
        Ask("What is my dog called?", turn=1),
    ],
)
async def test_other_words_another_sight_and_another_turn_are_not_answered_by_it(
    asked: Ask,
) -> None:
    searches, prefetch = Searches(), Prefetch()
    searches.hear(prefetch, "What is my dog called?", at_once=True)
    assert prefetch.take(asked) is None
    await asyncio.sleep(0)
    assert searches.tasks[0].cancelled(), "nobody waits for it any more"


async def test_a_search_that_was_taken_over_goes_on_whatever_is_heard_next(
    clock: VirtualClock,
) -> None:
    searches, prefetch = Searches(), Prefetch()
    searches.hear(prefetch, "What is my dog called?", at_once=True)
    assert prefetch.take(Ask("What is my dog called?")) is not None
    assert prefetch.take(Ask("What is my dog called?")) is None, "it is taken once"
    searches.hear(prefetch, "And my cat?", turn=1)
    await asyncio.sleep(FIRST_S)
    assert searches.begun == ["What is my dog called?", "And my cat?"]
    assert not searches.tasks[0].done()
    searches.tasks[0].cancel()
    prefetch.stop()


async def test_silence_is_not_searched_for(clock: VirtualClock) -> None:
    searches, prefetch = Searches(), Prefetch()
    searches.hear(prefetch, "", at_once=True)
    searches.hear(prefetch, "um …", at_once=True)
    searches.hear(prefetch, " ")
    await asyncio.sleep(FIRST_S)
    assert searches.begun == []


async def test_a_stopped_prefetch_begins_nothing(clock: VirtualClock) -> None:
    searches, prefetch = Searches(), Prefetch()
    searches.hear(prefetch, "What is my dog")
    prefetch.stop()
    await asyncio.sleep(FIRST_S)
    assert searches.begun == []


async def test_what_comes_at_an_even_pace_is_not_searched_for_before_it_ends(
    clock: VirtualClock,
) -> None:
    searches, prefetch = Searches(), Prefetch()
    words = ["what", "is", "my", "dog", "called", "these", "days"]
    for end in range(1, len(words) + 1):
        searches.hear(prefetch, " ".join(words[:end]))
        await asyncio.sleep(0.15)
    assert searches.begun == []
    await asyncio.sleep(0.3)
    assert searches.begun == ["what is my dog called these days"]
    prefetch.stop()


async def test_interim_transcripts_at_the_usual_pace_bring_one_search(
    clock: VirtualClock,
) -> None:
    searches, prefetch = Searches(), Prefetch()
    for text in ("What is", "What is my dog", "What is my dog called"):
        searches.hear(prefetch, text)
        await asyncio.sleep(0.45)
    searches.hear(prefetch, "What is my dog called?", at_once=True)
    assert searches.begun == ["What is my dog called?"]
    prefetch.stop()


async def test_what_came_late_is_not_offered_once_something_was_forgotten(memory: Memory) -> None:
    await tell(memory)
    terms = Terms("daniel", "thursday", PATIENT_MS, None, lambda: THURSDAY)
    questions = RecallSession(
        terms,
        lambda work, name: asyncio.get_running_loop().create_task(work, name=name),
        nothing_failed,
        at_once,
    )
    questions.memory = memory
    for number, text in enumerate(("What is my dog called?", SMALL_TALK)):
        context = asking(text).context
        questions.turn_ended(text)
        exchange = questions.asked(context, speculation=False)
        assert exchange is not None
        await exchange.recall
        assert number == 0 or questions._left_over() is not None
    await memory.forget(user_id="daniel", entity="Rocky")
    assert questions._left_over() is None
    await questions.close()


async def nothing_failed(stage: str, error: Exception) -> None:
    raise AssertionError(stage) from error


async def at_once() -> None:
    """Everything is written."""
