"""Score of a context block by the recorded reply: the outcome of one exchange under one setting.

A long block contains words of any reply. Each block is therefore also scored by unrelated replies;
what these seem to use is coincidence and is subtracted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.feedback.quality import quality_records
from hotmem.feedback.usage import detect_usage
from hotmem.recall import RecallContext
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import ContextBlock, ItemUse, Tally, UsageKind

ASSUMED_ITEMS: Final = 12
"""Number of items assumed for usage detection, whatever the length of the block: otherwise the same
item could count as used in a short block and as unused in a long one."""

REPLY_WORDS: Final = 1000
"""Maximum words of a reply that are evaluated."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One exchange under one setting.

    Attributes:
        session: Index of the session in the recording.
        tally: Items and tokens given and used.
        found: Share of the reply's content words in used items, 0 to 1. Content words are neither
            stop words nor in the visible conversation.
        coincidence: Mean of the same share over unrelated replies.
        ms: Latency of the block in milliseconds.
    """

    session: int
    tally: Tally
    found: float
    coincidence: float
    ms: float


def score_block(
    reader: RecallContext,
    session: int,
    block: ContextBlock,
    visible: Sequence[str],
    replies: Sequence[str],
    ms: float,
) -> Outcome | None:
    """Return the outcome of an exchange; None if its question needs no memory.

    Args:
        reader: Recall context with the models.
        session: Index of the session in the recording.
        block: Block of the setting.
        visible: Conversation visible to the language model, including the question.
        replies: The recorded reply, followed by unrelated replies.
        ms: Latency of the block in milliseconds.
    """
    uses, found = _score_reply(reader, block, visible, replies[0])
    records = quality_records(block, uses, reader.tokens.count)
    if not records:
        return None
    others = [_score_reply(reader, block, visible, other)[1] for other in replies[1:]]
    return Outcome(
        session, records[0].tally, found, sum(others) / len(others) if others else 0.0, ms
    )


def _score_reply(
    reader: RecallContext, block: ContextBlock, visible: Sequence[str], reply: str
) -> tuple[tuple[ItemUse, ...], float]:
    """Return the use of each item, and the share of content words in used items."""
    heard = " ".join(reply.split()[:REPLY_WORDS])
    uses = detect_usage(
        reader.encoder, block.items, block.query, heard, visible, among=ASSUMED_ITEMS
    )
    content_words = (stems(heard) - STOP_STEMS).difference(*map(stems, visible))
    used_words = frozenset[str]().union(
        *(stems(use.item.text) for use in uses if use.kind is not UsageKind.UNUSED)
    )
    return uses, len(content_words & used_words) / len(content_words) if content_words else 0.0
