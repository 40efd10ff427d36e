"""What a reply makes of a block: the outcome of one exchange under one setting.

A block that is long enough holds words of any reply. So each block is judged twice: by the reply
that was given, and by replies to other questions in other conversations. What these seem to use is
coincidence, and is deducted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.feedback.quality import quality_records
from hotmem.feedback.usage import detect_usage
from hotmem.recall import RecallContext
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import ContextBlock, ItemUse, Tally, UsageKind

AMONG: Final = 12
"""Items of a block that uses are judged as if of, whatever its length (one of 500 tokens has as
many): else the same item beside the same reply would count as used in a short block and as
unused in a long one, and every short block would look better."""

REPLY_WORDS: Final = 1000
"""Words of a reply that are looked at; no one listens to more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One exchange under one setting.

    Attributes:
        session: Place of the session in the recording.
        tally: Items and tokens given and used.
        found: Share of the reply's telling words, 0 to 1, that the items it used held. Telling are
            words that are no stop words, and that the language model did not have before it anyway.
        coincidence: The same of the other replies, on average.
        ms: How long the block took.
    """

    session: int
    tally: Tally
    found: float
    coincidence: float
    ms: float


def scored(
    reader: RecallContext,
    session: int,
    block: ContextBlock,
    visible: Sequence[str],
    replies: Sequence[str],
    ms: float,
) -> Outcome | None:
    """The outcome of an exchange; None if its question needs no memory.

    Args:
        reader: Whose models judge.
        session: Place of the session in the recording.
        block: What the setting gives.
        visible: What the language model had before it: the session so far, with the question.
        replies: What the bot really said, and then what it said to other questions.
        ms: How long the block took.
    """
    uses, found = _judged(reader, block, visible, replies[0])
    records = quality_records(block, uses, reader.tokens.count)
    if not records:
        return None
    others = [_judged(reader, block, visible, other)[1] for other in replies[1:]]
    return Outcome(
        session, records[0].tally, found, sum(others) / len(others) if others else 0.0, ms
    )


def _judged(
    reader: RecallContext, block: ContextBlock, visible: Sequence[str], reply: str
) -> tuple[tuple[ItemUse, ...], float]:
    """How the reply used each item, and the share of its telling words that used items held.

    0 if it has none.
    """
    heard = " ".join(reply.split()[:REPLY_WORDS])
    uses = detect_usage(reader.encoder, block.items, block.query, heard, visible, among=AMONG)
    telling = (stems(heard) - STOP_STEMS).difference(*map(stems, visible))
    held = frozenset[str]().union(
        *(stems(use.item.text) for use in uses if use.kind is not UsageKind.UNUSED)
    )
    return uses, len(telling & held) / len(telling) if telling else 0.0
