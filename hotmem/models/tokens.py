"""Token counting for the budget of a context block."""

import binascii
import gzip
from functools import lru_cache
from typing import Final, Self

import tiktoken

from hotmem.errors import InvalidInput
from hotmem.models.files import read_shipped

_O200K: Final = (
    "o200k_base",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_CL100K: Final = (
    "cl100k_base",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|"
    r"\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
)

TABLES: Final = {"o200k_base": _O200K, "o200k_harmony": _O200K, "cl100k_base": _CL100K}
"""The table of each supported encoding, and the pattern that splits a text into words."""


class TokenCounter:
    """Counts tokens with tiktoken."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

    @classmethod
    def load(cls, encoding: str) -> Self:
        """Load the counter of an encoding; blocking.

        Args:
            encoding: A key of `TABLES`.

        Raises:
            InvalidInput: If the encoding is unknown.
            ModelMissing: If its table is missing, or not the published one.
        """
        if encoding not in TABLES:
            raise InvalidInput(f"The encoding is {encoding!r}. Use one of: {', '.join(TABLES)}.")
        return cls(_encoding(*TABLES[encoding]))

    def count(self, text: str) -> int:
        """Count the tokens of a text; names of special tokens count as ordinary text."""
        return len(self._encoding.encode(text, disallowed_special=()))


@lru_cache(maxsize=2)
def _encoding(table: str, pattern: str) -> tiktoken.Encoding:
    """Build the encoding from the shipped table.

    `tiktoken.get_encoding` would download it.
    """
    lines = gzip.decompress(read_shipped(f"{table}.tiktoken.gz")).split()
    tokens = lines[::2]  # each line is a token and its rank, which equals the line number
    ranks = {binascii.a2b_base64(token): rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding(table, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
