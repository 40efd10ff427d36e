"""What a reply makes of a block: the outcome of one exchange under one setting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.learning.quality import tallied
from hotmem.learning.usage import detect
from hotmem.reader import Reader
from hotmem.terms import STOPS, stems
from hotmem.types import ContextBlock, Tally, UsageKind

REPLY_WORDS: Final = 1000
"""Words of a reply that are looked at; no one listens to more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One exchange under one setting.

    Attributes:
        session: Place of the session in the recording.
        tally: Items and tokens given and used.
        words: Telling words of the reply that items it used held, and that neither the question nor the session held before.
        ms: How long the block took.
    """

    session: int
    tally: Tally
    words: frozenset[str]
    ms: float


def scored(reader: Reader, session: int, block: ContextBlock, visible: Sequence[str], reply: str, ms: float) -> Outcome | None:
    """The outcome of an exchange; None if its question needs no memory.

    Args:
        reader: Whose models judge.
        session: Place of the session in the recording.
        block: What the setting gives.
        visible: What the language model had before it: the session so far, with the question.
        reply: What the bot really said.
        ms: How long the block took.
    """
    heard = " ".join(reply.split()[:REPLY_WORDS])
    uses = detect(block.items, block.query, heard)
    records = tallied(block, uses, reader.tokens.count)
    if not records:
        return None
    used = frozenset[str]().union(*(stems(use.item.text) for use in uses if use.kind is not UsageKind.UNUSED))
    new = (used & stems(heard)) - STOPS
    return Outcome(session, records[0].tally, new.difference(*map(stems, visible)), ms)
