"""Assembly of the context block: the packed content, with the request and the trace."""

from collections.abc import Mapping
from dataclasses import dataclass

from hotmem.block.packing import Packed
from hotmem.ranking.relevance import Answerability
from hotmem.retrieval.context import RecallRequest, Retrieved
from hotmem.types import ContextBlock, LayerOutcome, Trace


@dataclass(frozen=True, slots=True)
class Composition:
    """The content of a block, and how it came about.

    Attributes:
        packed: Items, text and tokens of the block.
        reason: The outcome in a sentence.
        merged: Number of candidates that repeated a better one.
        answerability: How far the candidates answer the query; None if it needs no memory.
    """

    packed: Packed
    reason: str
    merged: int = 0
    answerability: Answerability | None = None


def finished_block(
    request: RecallRequest,
    retrieved: Retrieved,
    composition: Composition,
    stages: Mapping[str, float],
) -> ContextBlock:
    """The block of a recall.

    Args:
        request: The request.
        retrieved: What retrieval found.
        composition: The content of the block.
        stages: Milliseconds of each stage.
    """
    trace = Trace(
        analysis=retrieved.query.analysis,
        layers=retrieved.reports,
        stages=stages,
        candidates=len(retrieved.candidates),
        merged=composition.merged,
        weights=retrieved.profile.weights,
        reason=composition.reason,
        rewrite=retrieved.query.rewrite,
        late=any(report.outcome is LayerOutcome.LATE for report in retrieved.reports),
        known=composition.answerability,
    )
    return _block(request, composition.packed, trace, retrieved.profile.forget_version)


def late_block(request: RecallRequest, stages: Mapping[str, float] | None = None) -> ContextBlock:
    """The empty block of a recall that missed its deadline.

    Args:
        request: The request.
        stages: Milliseconds of the stages that were completed.
    """
    reason = "The deadline passed before anything was ready."
    return _block(request, Packed(), Trace(stages=stages or {}, reason=reason, late=True))


def _block(
    request: RecallRequest, packed: Packed, trace: Trace, forget_version: int | None = None
) -> ContextBlock:
    return ContextBlock(
        text=packed.text,
        tokens=packed.tokens,
        items=packed.items,
        trace=trace,
        user_id=request.user_id,
        session_id=request.session_id,
        query=request.text,
        at=request.at,
        visible=request.visible,
        forget_version=forget_version,
    )
