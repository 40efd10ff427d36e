"""When a search begins ahead of the question, and which question it answers."""

import asyncio

import pytest

from hotmem.pipecat import prefetch as module
from hotmem.pipecat.prefetch import Ask, Prefetch, Recall
from hotmem.types import ContextBlock


class Searches:
    """Searches that go on until they are cancelled."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.tasks: list[Recall] = []

    def __call__(self, ask: Ask) -> Recall:
        self.begun.append(ask.text)
        self.tasks.append(asyncio.create_task(self._search()))
        return self.tasks[-1]

    async def _search(self) -> ContextBlock | None:
        await asyncio.Event().wait()
        return None


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(module, "SETTLED_S", 0.05)
    return 0.15


async def test_words_are_searched_for_once_they_settle(settled: float) -> None:
    searches = Searches()
    prefetch = Prefetch(searches)
    for text in ("what", "what is", "What is, um,", "What is my dog"):
        prefetch.hear(Ask(text))
    assert searches.begun == []
    await asyncio.sleep(settled)
    assert searches.begun == ["What is my dog"]
    prefetch.hear(Ask("what is my dog?"))
    await asyncio.sleep(settled)
    assert searches.begun == ["What is my dog"], "the same words"
    prefetch.stop()


async def test_the_whole_is_searched_for_at_once_and_stale_searches_end() -> None:
    searches = Searches()
    prefetch = Prefetch(searches)
    prefetch.finish(Ask("What is my dog"))
    prefetch.finish(Ask("What is my dog called?"))
    prefetch.finish(Ask("what is my dog called"))
    await asyncio.sleep(0)
    assert searches.begun == ["What is my dog", "What is my dog called?"]
    assert [task.cancelled() for task in searches.tasks] == [True, False]
    assert prefetch.found(Ask("What is my dog called")) is not None
    assert prefetch.found(Ask("What is my dog")) is None
    assert prefetch.found(Ask("What is my dog called?", ("something new to see",))) is None
    prefetch.stop()
    await asyncio.sleep(0)
    assert searches.tasks[-1].cancelled() and prefetch.found(Ask("What is my dog called")) is None


async def test_silence_is_not_searched_for(settled: float) -> None:
    searches = Searches()
    prefetch = Prefetch(searches)
    prefetch.finish(Ask(""))
    prefetch.finish(Ask("um …"))
    prefetch.hear(Ask(" "))
    await asyncio.sleep(settled)
    assert searches.begun == []


async def test_a_stopped_prefetch_begins_nothing(settled: float) -> None:
    searches = Searches()
    prefetch = Prefetch(searches)
    prefetch.hear(Ask("What is my dog"))
    prefetch.stop()
    await asyncio.sleep(settled)
    assert searches.begun == []
