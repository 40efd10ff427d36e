"""Fan-out: layers search concurrently; one that fails or is late does not affect the others."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import pytest

from hotmem.errors import DeadlineExceeded, StoreError
from hotmem.retrieval.context import search_layers
from hotmem.types import EvidenceKind, Hit, Layer, LayerOutcome, Query, UserKey
from tests.clock import VirtualClock
from tests.retrieval.test_layers import query

Search = Callable[[Query, float | None], Awaitable[Sequence[Hit]]]


@dataclass(frozen=True, slots=True)
class Scripted:
    """A layer that does what the test says."""

    layer: Layer
    does: Search

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        return await self.does(query, until)


def answering(layer: Layer) -> Scripted:
    async def search(query: Query, until: float | None) -> Sequence[Hit]:
        return [Hit(layer, EvidenceKind.PASSAGE, 1, 0.5), Hit(layer, EvidenceKind.PASSAGE, 2, 0.4)]

    return Scripted(layer, search)


async def raises(query: Query, until: float | None) -> Sequence[Hit]:
    raise StoreError("broken")


async def crashes(query: Query, until: float | None) -> Sequence[Hit]:
    raise ZeroDivisionError


async def hangs(query: Query, until: float | None) -> Sequence[Hit]:
    await asyncio.sleep(3600)
    return []


async def gives_up(query: Query, until: float | None) -> Sequence[Hit]:
    raise DeadlineExceeded("late")


@pytest.mark.parametrize(
    ("does", "outcome"),
    [
        (raises, LayerOutcome.FAILED),
        (crashes, LayerOutcome.FAILED),
        (hangs, LayerOutcome.LATE),
        (gives_up, LayerOutcome.LATE),
    ],
)
async def test_a_late_or_failed_layer_does_not_affect_the_others(
    does: Search, outcome: LayerOutcome, clock: VirtualClock
) -> None:
    layers = [
        answering(Layer.FACTS),
        Scripted(Layer.SESSIONS, does),
        answering(Layer.SEMANTIC),
        answering(Layer.VERBATIM),
    ]
    hits, reports = await search_layers(
        layers, query("Where is the dog?", UserKey(1)), clock.time() + 0.2
    )
    assert clock.elapsed == pytest.approx(0.2 if does is hangs else 0)
    assert [hit.layer for hit in hits] == [Layer.FACTS] * 2 + [Layer.SEMANTIC] * 2 + [
        Layer.VERBATIM
    ] * 2
    assert [(report.layer, report.hits) for report in reports] == [
        (Layer.FACTS, 2),
        (Layer.SESSIONS, 0),
        (Layer.SEMANTIC, 2),
        (Layer.VERBATIM, 2),
    ]
    assert [report.outcome for report in reports] == [
        LayerOutcome.ANSWERED,
        outcome,
        LayerOutcome.ANSWERED,
        LayerOutcome.ANSWERED,
    ]
    assert all(report.ms >= 0 for report in reports)


async def test_only_the_chosen_layers_are_searched() -> None:
    async def must_not_be_asked(query: Query, until: float | None) -> Sequence[Hit]:
        raise AssertionError

    asked = query("Where is the dog?", UserKey(1))
    narrow = replace(asked, analysis=asked.analysis.asking((Layer.FACTS,)))
    hits, reports = await search_layers(
        [answering(Layer.FACTS), Scripted(Layer.VERBATIM, must_not_be_asked)], narrow, None
    )
    assert len(hits) == 2
    assert [report.outcome for report in reports] == [LayerOutcome.ANSWERED, LayerOutcome.NOT_ASKED]


async def test_layers_run_concurrently(clock: VirtualClock) -> None:
    met = asyncio.Barrier(4)

    async def meets(query: Query, until: float | None) -> Sequence[Hit]:
        await met.wait()
        return []

    _, reports = await search_layers(
        [Scripted(layer, meets) for layer in Layer], query("?", UserKey(1)), clock.time() + 5
    )
    assert {report.outcome for report in reports} == {LayerOutcome.ANSWERED}


async def test_cancelling_a_search_cancels_its_layers(clock: VirtualClock) -> None:
    ended = asyncio.Event()

    async def waits(query: Query, until: float | None) -> Sequence[Hit]:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return []

    task = asyncio.create_task(
        search_layers([Scripted(Layer.FACTS, waits)], query("?", UserKey(1)), None)
    )
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
