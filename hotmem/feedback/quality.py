"""Quality records of a reply."""

from collections.abc import Callable, Sequence
from datetime import UTC

from hotmem.ranking.answerability import Answerability
from hotmem.types import (
    ContextBlock,
    ItemUse,
    Latencies,
    LayerOutcome,
    QualityRecord,
    Tally,
    UsageKind,
)


def quality_records(
    block: ContextBlock, uses: Sequence[ItemUse], count: Callable[[str], int]
) -> list[QualityRecord]:
    """Create a record of the whole block and one of each queried layer.

    No records are created if no memory was needed.

    Args:
        block: The block given to the language model.
        uses: How the reply used each item; some of the reply was heard.
        count: Counts the tokens of a text.
    """
    trace = block.trace
    needed = trace.late if trace.analysis is None else trace.analysis.needs_memory
    if not needed and not uses:
        return []
    day, intent = (
        block.at.astimezone(UTC).date(),
        None if trace.analysis is None else trace.analysis.intent,
    )
    sized = [(use, count(use.item.text)) for use in uses]
    unknown = not sized if trace.known is None else trace.known != Answerability.SOMETHING
    records = [
        QualityRecord(
            day,
            intent,
            None,
            _tally(sized, block.tokens, sum(trace.stages.values()), empty=unknown, late=trace.late),
        )
    ]
    for report in trace.layers:
        if report.outcome is not LayerOutcome.NOT_ASKED:
            found = [(use, tokens) for use, tokens in sized if report.layer in use.item.layers]
            tally = _tally(
                found,
                sum(tokens for _, tokens in found),
                report.ms,
                empty=not found,
                late=report.outcome is not LayerOutcome.ANSWERED,
            )
            records.append(QualityRecord(day, intent, report.layer, tally))
    return records


def _tally(
    sized: Sequence[tuple[ItemUse, int]], tokens: int, ms: float, *, empty: bool, late: bool
) -> Tally:
    """The tally of one turn, from each item's use and token count."""
    unused = [size for use, size in sized if use.kind is UsageKind.UNUSED]
    used = len(sized) - len(unused)
    return Tally(
        1,
        len(sized),
        used,
        tokens,
        sum(unused),
        int(used > 0),
        int(empty),
        int(late),
        Latencies.of(ms),
    )
