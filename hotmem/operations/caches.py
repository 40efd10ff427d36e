"""Caches of this process that hold users' words, cleared when something is forgotten."""

from typing import Final

from hotmem.block import quotes
from hotmem.consolidation.equivalence import features
from hotmem.models import CachedEncoder
from hotmem.recall import RecallContext
from hotmem.text import language_detection, stemming
from hotmem.understanding import private_statements
from hotmem.understanding.query import consent, coreference, described_deletions, voice_commands

CACHED_FUNCTIONS: Final = (
    stemming.stems,
    stemming.stem,
    language_detection.detect_language,
    quotes.sentence_content,
    features.statement_features,
    voice_commands.find_command,
    described_deletions.find_described_deletion,
    private_statements.secrecy,
    consent.answer_pattern,
    coreference.read_turn,
)
"""Functions with a cache of their last results."""


def clear(context: RecallContext) -> None:
    """Clear the cached embeddings, parses, rewrites and stems of all users.

    Freed strings may remain in the process's memory until it is reused, and spaCy's vocabulary
    retains all words that it has parsed.
    """
    for function in CACHED_FUNCTIONS:
        function.cache_clear()
    if isinstance(context.encoder, CachedEncoder):
        context.encoder.clear()
    context.language.clear()
    if context.rewriter is not None:
        context.rewriter.clear()
