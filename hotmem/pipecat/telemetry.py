"""What is told of a recall: a log line, and OpenTelemetry spans under the turn that pipecat traces.

Ids, counts and times only.
"""

import time
from typing import TYPE_CHECKING

from pipecat.utils.tracing.setup import is_tracing_available

from hotmem.core.logs import log
from hotmem.pipecat.turn_state import Timing
from hotmem.types import ContextBlock, Layer

if TYPE_CHECKING:
    from opentelemetry.context import Context

if is_tracing_available():
    from opentelemetry import trace


def log_recall(block: ContextBlock, timing: Timing) -> None:
    """One line for a block that was given."""
    log.info(
        "recall",
        session_id=block.session_id,
        block_id=block.id,
        hits={report.layer.value: report.hits for report in block.trace.layers},
        merged=block.trace.merged,
        items=len(block.items),
        top_source=_top_source(block),
        tokens=block.tokens,
        ms=round(sum(timing.stages.values()), 1),
        ahead_ms=round(timing.ahead, 1),
        waited_ms=round(timing.waited, 1),
    )


def _top_source(block: ContextBlock) -> Layer | None:
    """The layer that found the block's most relevant item."""
    return max(block.items, key=lambda item: item.relevance).layer if block.items else None


def trace_recall(turn: "Context | None", block: ContextBlock, timing: Timing, began: float) -> None:
    """Records a recall that has ended.

    Args:
        turn: The turn it belongs to; None stands alone.
        block: What was given.
        timing: What it cost.
        began: When the search began, by `time.perf_counter()`.
    """
    start = time.time_ns() - round((time.perf_counter() - began) * 1e9)
    tracer = trace.get_tracer("hotmem")
    span = tracer.start_span(
        "hotmem.recall",
        context=turn,
        start_time=start,
        attributes={
            "hotmem.block_id": block.id,
            "hotmem.items": len(block.items),
            "hotmem.tokens": block.tokens,
            "hotmem.candidates": block.trace.candidates,
            "hotmem.ahead_ms": timing.ahead,
            "hotmem.waited_ms": timing.waited,
        },
    )
    inside = trace.set_span_in_context(span)
    at = start
    for stage, ms in timing.stages.items():
        part = tracer.start_span(f"hotmem.{stage}", context=inside, start_time=at)
        if stage == "layers":
            for report in block.trace.layers:
                part.add_event(
                    str(report.layer),
                    {"outcome": str(report.outcome), "hits": report.hits, "ms": report.ms},
                    at + round(report.ms * 1e6),
                )
        at += round(ms * 1e6)
        part.end(at)
    span.end(max(at, start + round((timing.ahead + timing.waited) * 1e6)))
