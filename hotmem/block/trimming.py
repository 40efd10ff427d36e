"""Trimming: a statement without its least important sentences, each replaced by an ellipsis."""

import re
from functools import lru_cache
from typing import Final

from hotmem.text.languages import ENGLISH
from hotmem.text.stemming import STOP_STEMS, stems

KEPT_SHARE: Final = 0.8
"""Share of the content words of a statement that are kept (`python -m eval ablation`)."""

ELLIPSIS: Final = "…"

_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)\]])\s+|\n+")


def trim(text: str, asked: frozenset[str], language: str = ENGLISH) -> str:
    """Remove the sentences with the least content, those with words of the query last.

    Args:
        text: The statement.
        asked: Stems of the words of the query.
        language: The language by whose rules they are stemmed.
    """
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence]
    if len(sentences) < 2:
        return text
    content = [sentence_content(sentence, language) for sentence in sentences]
    required = KEPT_SHARE * len(frozenset().union(*content))

    def importance(index: int) -> tuple[bool, float]:
        return bool(content[index] & asked), len(content[index]) / len(sentences[index])

    kept = set(range(len(sentences)))
    for index in sorted(kept, key=importance):
        rest = kept - {index}
        if rest and len(frozenset().union(*(content[other] for other in rest))) >= required:
            kept = rest
    return text if len(kept) == len(sentences) else _join(sentences, kept)


def _join(sentences: list[str], kept: set[int]) -> str:
    parts: list[str] = []
    for index, sentence in enumerate(sentences):
        if index in kept:
            parts.append(sentence)
        elif not parts or parts[-1] != ELLIPSIS:
            parts.append(ELLIPSIS)
    return " ".join(parts)


@lru_cache(maxsize=8192)
def sentence_content(sentence: str, language: str = ENGLISH) -> frozenset[str]:
    """Stems of the content words of a sentence."""
    return stems(sentence, language) - STOP_STEMS
