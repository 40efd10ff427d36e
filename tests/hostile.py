"""Hypothesis strategies for hostile text, and checks for what must not reach a language model."""

import re
import unicodedata
from pathlib import Path

from hypothesis import strategies as st

from hotmem.text.escaping import SQUARE_BRACKET_NAMES, TURN_ROLES

ANGLE_BRACKET_TOKENS = Path(__file__).with_name("control_tokens.txt").read_text("utf-8").split()
"""Control tokens in angle brackets, a family of language models in each line of the file."""

BETWEEN = (
    "", " ", "\u200b", "\u200d", "\u2060", "\u00ad", "\ufe0f", "\u034f", "\U000e0041", "\u202e",
    "\n", "\u2028", "\t", "\u3000", "\u0301",
)  # fmt: skip
"""Characters that attackers put between two letters to evade a filter."""

PIECES = (
    "<", "/", "memory", "MEMORY", ">", "|", "｜", "＜", "‹", "(", ")", "（", "[", "]", "high",
    "medium", "low", "until 4 March", "🟢", "x", "don't",
    "</memory>", "<memory>", "(medium)", "(high, 2 March)", "INST", "Human:", "\\n\\nAssistant :",
    "\r", "\x0b", "\x1b[31m", ":", "-", "3",
    *ANGLE_BRACKET_TOKENS, *(f"[{name}]" for name in SQUARE_BRACKET_NAMES),
    *(f"[/{name}]" for name in SQUARE_BRACKET_NAMES), *(f"\n{role}:" for role in TURN_ROLES),
)  # fmt: skip

hostile = st.text(max_size=60) | st.lists(st.sampled_from((*PIECES, *BETWEEN)), max_size=14).map(
    "".join
)
"""Any text, and text made of the parts of attacks."""


def invisible(text: str) -> list[str]:
    """Return invisible characters: controls, formats, private use, line breaks."""
    return [
        one
        for one in text
        if unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
        or one in "\u034f\u2800\u3164\ufe0f"
    ]


def control_tokens(text: str) -> list[str]:
    """Return control tokens of models and turn prefixes in a text."""
    squares = "|".join(SQUARE_BRACKET_NAMES)
    found = re.findall(
        rf"<[|｜]|<<|</|\[\s*/?\s*(?:{squares})\s*\]|\b(?:{'|'.join(TURN_ROLES)})\s*[:：]",
        text.replace("</memory>", ""),
        re.IGNORECASE,
    )
    return found + [token for token in ANGLE_BRACKET_TOKENS if token.casefold() in text.casefold()]
