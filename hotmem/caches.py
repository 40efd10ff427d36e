"""What this process keeps of users' words to save time, dropped when something is to be forgotten."""

from typing import Final

from hotmem import terms
from hotmem.analysis import commands, consent, references
from hotmem.consolidation.sameness import wording
from hotmem.context import trimming
from hotmem.models import CachedEncoder
from hotmem.reader import Reader

WORDED: Final = (
    terms.stems,
    terms.stem,
    trimming.sentence_content,
    wording.wording,
    commands.find_command,
    consent.grammar,
    references.read_turn,
)
"""Functions that keep their last answers, with the words they were asked for."""


def clear(reader: Reader) -> None:
    """Drops embeddings, parses, rewritings and stems of all users; they are worked out again when they are next asked for.

    Strings that nothing refers to any more may stay in the memory of the process until it is used for something else, and spaCy keeps a
    table of all words it ever read.
    """
    for function in WORDED:
        function.cache_clear()
    if isinstance(reader.encoder, CachedEncoder):
        reader.encoder.clear()
    reader.language.clear()
    if reader.rewriter is not None:
        reader.rewriter.clear()
