"""Logs, metrics and OpenTelemetry spans of recalls: ids, counts and durations, never text.

Spans belong to the turn that pipecat traces.
"""

import time
from typing import TYPE_CHECKING

from pipecat.frames.frames import MetricsFrame
from pipecat.metrics.metrics import ProcessingMetricsData
from pipecat.utils.tracing.setup import is_tracing_available

from hotmem.core.logs import log
from hotmem.pipecat.turn_state import RecallTiming
from hotmem.types import ContextBlock

if TYPE_CHECKING:
    from opentelemetry.context import Context

if is_tracing_available():
    from opentelemetry import trace


def log_recall(block: ContextBlock, timing: RecallTiming) -> None:
    """Log a recall whose block was injected."""
    top_item = max(block.items, key=lambda item: item.relevance, default=None)
    log.info(
        "recall finished",
        session_id=block.session_id,
        block_id=block.id,
        hits={report.layer.value: report.hits for report in block.trace.layers},
        merged=block.trace.merged,
        items=len(block.items),
        top_source=None if top_item is None else top_item.layer,
        tokens=block.tokens,
        recall_ms=round(sum(timing.stages_ms.values()), 1),
        prefetch_hit=timing.prefetch_hit,
        prefetch_ms=round(timing.prefetch_ms, 1),
        waited_ms=round(timing.waited_ms, 1),
    )


def log_opening(block: ContextBlock, session_id: str) -> None:
    """Log an opening block that was injected."""
    log.info(
        "opening block injected",
        session_id=session_id,
        block_id=block.id,
        items=len(block.items),
        tokens=block.tokens,
    )


def log_deadline_missed(session_id: str, deadline_ms: float) -> None:
    """Log a recall that was late or incomplete."""
    log.warning("recall deadline missed", session_id=session_id, deadline_ms=deadline_ms)


def recall_metrics(processor: str, timing: RecallTiming) -> MetricsFrame:
    """The time a context frame waited for its block, as processing time."""
    return MetricsFrame(
        data=[ProcessingMetricsData(processor=processor, value=timing.waited_ms / 1000)]
    )


def trace_recall(
    turn: "Context | None", block: ContextBlock, timing: RecallTiming, started_at: float
) -> None:
    """Export the spans of a recall and its stages.

    Args:
        turn: The context of the turn's span; None for a span without a parent.
        block: The block.
        timing: The timing.
        started_at: When the recall started, by `time.perf_counter()`.
    """
    start_ns = time.time_ns() - round((time.perf_counter() - started_at) * 1e9)
    tracer = trace.get_tracer("hotmem")
    span = tracer.start_span(
        "hotmem.recall",
        context=turn,
        start_time=start_ns,
        attributes={
            "hotmem.block_id": block.id,
            "hotmem.items": len(block.items),
            "hotmem.tokens": block.tokens,
            "hotmem.candidates": block.trace.candidates,
            "hotmem.prefetch_ms": timing.prefetch_ms,
            "hotmem.waited_ms": timing.waited_ms,
        },
    )
    parent = trace.set_span_in_context(span)
    now_ns = start_ns
    for stage, duration_ms in timing.stages_ms.items():
        stage_span = tracer.start_span(f"hotmem.{stage}", context=parent, start_time=now_ns)
        if stage == "layers":
            for report in block.trace.layers:
                stage_span.add_event(
                    str(report.layer),
                    {"outcome": str(report.outcome), "hits": report.hits, "ms": report.ms},
                    now_ns + round(report.ms * 1e6),
                )
        now_ns += round(duration_ms * 1e6)
        stage_span.end(now_ns)
    span.end(max(now_ns, start_ns + round((timing.prefetch_ms + timing.waited_ms) * 1e6)))
