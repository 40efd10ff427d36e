"""What this process keeps of users' words to save time, dropped when something is to be forgotten."""

from typing import Final

from hotmem.block import trimming
from hotmem.consolidation.equivalence import features
from hotmem.models import CachedEncoder
from hotmem.recall import RecallContext
from hotmem.text import stemming
from hotmem.understanding.query import consent, coreference, voice_commands

CACHED_FUNCTIONS: Final = (
    stemming.stems,
    stemming.stem,
    trimming.sentence_content,
    features.statement_features,
    voice_commands.find_command,
    consent.answer_pattern,
    coreference.read_turn,
)
"""Functions that keep their last answers, with the words they were asked for."""


def clear(reader: RecallContext) -> None:
    """Drops embeddings, parses, rewritings and stems of all users.

    They are worked out again when they are next asked for.

    Strings that nothing refers to any more may stay in the memory of the process until it is used
    for something else, and spaCy keeps a table of all words it ever read.
    """
    for function in CACHED_FUNCTIONS:
        function.cache_clear()
    if isinstance(reader.encoder, CachedEncoder):
        reader.encoder.clear()
    reader.language.clear()
    if reader.rewriter is not None:
        reader.rewriter.clear()
