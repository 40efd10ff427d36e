"""Fan-out: search the chosen layers concurrently, under one deadline.

A layer that is late or fails yields no hits; the others continue. Searches of the store run one
after the other on the recall's thread, which takes less time than one thread a layer under the
interpreter's lock; only what a layer awaits runs concurrently.
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
    """Search the layers that the analysis chose.

    Args:
        layers: All layers.
        query: The analysed utterance.
        until: Reading of `time.monotonic()` at which layers that are not ready are left out; None
            waits for all.

    Returns:
        The hits of all layers, and a report on each layer.
    """
    chosen = [layer for layer in layers if layer.layer in query.analysis.layers]
    results = await asyncio.gather(*(_search_layer(layer, query, until) for layer in chosen))
    hits = [hit for found, _ in results for hit in found]
    reports = {report.layer: report for _, report in results}
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
    except Exception as error:  # one layer's failure must not silence the others
        outcome = LayerOutcome.FAILED
        log.warning("layer failed", layer=layer.layer, error=type(error).__name__)
    return hits, LayerReport(layer.layer, outcome, len(hits), (time.monotonic() - started) * 1000)
