"""When what a turn speaks of happened: the times it names, each read by the tense of its sentence."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from hotmem.analysis.query import looks_ahead
from hotmem.analysis.time import Bound, TimeMention
from hotmem.types import Happening, Interval
from hotmem.types.parse import Doc


def read_happenings(doc: Doc, said_at: datetime, behind: Sequence[TimeMention], before: Sequence[TimeMention]) -> Iterator[Happening]:
    """The times a turn names, in order.

    "Since March" lasts until it is said. What lies before, after or up to a time is nowhere exactly, and left out.

    Args:
        doc: The parsed turn.
        said_at: When it was said.
        behind: Its times, read as past.
        before: The same, read as to come.
    """
    for sentence in doc.sents:
        for mention in before if looks_ahead(sentence) else behind:
            if not sentence.start_char <= mention.start < sentence.end_char:
                continue
            found = mention.interval
            if mention.bound is Bound.SINCE and found.start < said_at:
                yield Happening(mention.start, mention.stop, Interval(found.start, max(said_at, found.end)))
            elif mention.bound is Bound.AT:
                yield Happening(mention.start, mention.stop, found)
