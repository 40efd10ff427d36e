"""Asks the layers at once, under one deadline.

A layer that is late or fails yields nothing; the others go on.

What a layer waits for goes on beside the others. A search of the store waits for nothing in the
recall's own thread: there one follows the other, which takes less time than four threads that wait
for one interpreter's lock (`hotmem.core.loop_thread`).
"""

import asyncio
import time
from collections.abc import Sequence

from hotmem.core.logs import log
from hotmem.errors import DeadlineExceeded
from hotmem.retrieval.layers.base import LayerSearch
from hotmem.types import Hit, LayerOutcome, LayerReport, Query


async def search_layers(
    layers: Sequence[LayerSearch], query: Query, until: float | None
) -> tuple[list[Hit], tuple[LayerReport, ...]]:
    """Hits of all layers that the analysis chose, and a report on each layer.

    Args:
        layers: The layers there are.
        query: The analysed utterance.
        until: Reading of `time.monotonic()` at which what is not ready is left out; None waits for
            all.
    """
    asked = [layer for layer in layers if layer.layer in query.analysis.layers]
    answers = await asyncio.gather(*(_search_layer(layer, query, until) for layer in asked))
    hits = [hit for found, _ in answers for hit in found]
    reports = {report.layer: report for _, report in answers}
    return hits, tuple(
        reports.get(layer.layer, LayerReport(layer.layer, LayerOutcome.NOT_ASKED))
        for layer in layers
    )


async def _search_layer(
    layer: LayerSearch, query: Query, until: float | None
) -> tuple[Sequence[Hit], LayerReport]:
    started = time.monotonic()
    hits: Sequence[Hit] = ()
    try:
        async with asyncio.timeout(None if until is None else max(until - started, 0)):
            hits = await layer.search(query, until)
        outcome = LayerOutcome.ANSWERED
    except (TimeoutError, DeadlineExceeded):
        outcome = LayerOutcome.LATE
    except (
        Exception
    ) as error:  # the border at which one layer's failure must not silence the others
        outcome = LayerOutcome.FAILED
        log.warning("layer failed", layer=layer.layer, error=type(error).__name__)
    return hits, LayerReport(layer.layer, outcome, len(hits), (time.monotonic() - started) * 1000)
