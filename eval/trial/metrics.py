"""Part 6 of the trial, in a process of its own: metrics can be set up only once in each.

    python -m eval.trial.metrics FILE

prints one JSON object: each check, whether it is right, and what came back.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from eval.trial.inputs import NOW, conversation, load
from hotmem import Memory

USER = "metrics"


async def measure(file: Path, reader: InMemoryMetricReader) -> dict[str, tuple[bool, str]]:
    """Store, ask and search, and look at the metrics and the quality record."""
    data = load("observability")
    async with Memory.open(file) as memory:
        for text in data["stored"]:
            await memory.store_memory(text, user_id=USER)
        for turn in conversation(USER, "earlier", [f"U: {data['said']}"], 3, "Mira"):
            await memory.remember(turn)
        await memory.settle()
        for _ in range(2):
            block = await memory.recall(
                data["ask"], user_id=USER, session_id="call", at=NOW, deadline_ms=10_000
            )
        await memory.feedback(block, data["reply"])
        await memory.search_memory(data["ask"], user_id=USER)
        await memory.search_contextual(data["ask"], user_id=USER)
        found = points(reader)
        total = (await memory.quality(USER)).total()
    searches = {one.get("kind") for one in found.get("hotmem.search", ())}
    hits = {(one.get("kind"), one.get("source")) for one in found.get("hotmem.search_hits", ())}
    cached = {str(one.get("cached")) for one in found.get("hotmem.embeddings", ())}
    checks: dict[str, tuple[bool, str]] = {
        f"hotmem.search: {kind}": (kind in searches, str(searches))
        for kind in ("recall", "search_memory", "search_contextual")
    }
    for kind in ("recall", "search_memory", "search_contextual"):
        own = {source for one, source in hits if one == kind}
        checks[f"hotmem.search_hits by source: {kind}"] = (bool(own - {None}), str(own))
    checks["hotmem.embeddings: cached and not"] = (len(cached) > 1, str(cached))
    checks["hotmem.transaction"] = ("hotmem.transaction" in found, str(sorted(found)))
    checks["quality: given and used"] = (
        0 < total.used <= total.given,
        f"used {total.used} of {total.given}",
    )
    checks["quality: latency"] = (
        (total.p50_ms or 0) > 0,
        f"p50 {total.p50_ms} ms, p95 {total.p95_ms} ms",
    )
    return checks


def points(reader: InMemoryMetricReader) -> dict[str, list[dict[str, Any]]]:
    """Return the attributes of each metric's points."""
    data = reader.get_metrics_data()
    return {
        metric.name: [dict(point.attributes or {}) for point in metric.data.data_points]
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def main() -> None:
    """Measure the file of the first argument."""
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), reader))))


if __name__ == "__main__":
    main()
