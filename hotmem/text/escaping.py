"""Escaping of untrusted text for prompts, terminals, web pages and logs.

In a prompt, quoted text cannot contain control tokens of a model, the fence of the context block,
or marks like those of the block: the characters that start them are replaced. The words stay.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

SQUARE_BRACKET_NAMES: Final = (
    # Mistral
    "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT",
    "TOOL_DESCRIPTION", "ARGS", "CALL_ID",
    # Mistral
    "IMG", "IMG_BREAK", "IMG_END", "AUDIO", "BEGIN_AUDIO", "THINK", "PREFIX", "SUFFIX", "MIDDLE",
    "MODEL_SETTINGS", "CONTROL",
    # GLM, encoders
    "gMASK", "sMASK", "MASK", "sop", "eop", "CLS", "SEP", "PAD", "UNK", "BOS", "EOS", "SYS",
    "SYSTEM", "USER", "ASSISTANT", "EOT",
    "MEMORY", "END OF MEMORY",  # the fence of the context block
)  # fmt: skip
"""Names of tokens in square brackets; the closing token has a slash."""

TURN_ROLES: Final = (
    "human", "assistant", "system", "user", "developer", "instruction", "instructions", "response",
    "question", "answer", "tool",
)  # fmt: skip
"""Words that start a turn in plain-text prompt formats: "Human: ...", "### Instruction: ..."."""


def _spans(*spans: tuple[int, int]) -> set[int]:
    return {code for first, last in spans for code in range(first, last + 1)}


_CONTROLS: Final = _spans(
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069)
)
"""Control characters and direction overrides, except tab and line feed."""

_INVISIBLE: Final = _spans(
    (0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065),
    (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFDD0, 0xFDEF), (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF),
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000)),
)  # fmt: skip
"""Invisible characters whose Unicode category does not say so: fillers, variation selectors."""


class _Drops(dict[int, int | None]):
    """Translation table for `str.translate` that drops invisible characters, filled on demand."""

    def __missing__(self, code: int) -> int | None:
        hidden = unicodedata.category(chr(code)) in ("Cc", "Cf", "Co", "Cs")
        invisible = code in _INVISIBLE or hidden
        self[code] = None if invisible else code
        return self[code]


_DROPPED: Final = _Drops()
_BRACKETS: Final = str.maketrans("＜﹤＞﹥（﹙）﹚［］", "‹‹››[[]][]")
_HARMLESS: Final = re.compile(r"[ -'*-9;=-Z\\-~]*")
"""Text that escaping does not change, as most text is; the fast path."""

MAX_SPACES: Final = 3
"""Spaces in a row that are not reduced to one."""

_FENCE: Final = re.compile(r"([\"`~])\1\1+")
_FENCED: Final = re.compile(r" {4}|[\"`~]{3}")
"""Markdown fences, and indentation, which may make code or move text out of view."""

_SPACES: Final = re.compile(r"\s+")
_BREAK: Final = re.compile(r"[\t\r\n\v\f\x1c-\x1f\x85\u2028\u2029]")
_TAG: Final = re.compile(r"<(?!\s*$|[\d=-]|\s+(?![/|｜!?<\s]|memory))", re.IGNORECASE)
"""The start of a tag or of a control token, "<|im_start|>"; not "2 < 3", "<3" and "<-"."""

_PARENTHESIS: Final = re.compile(r"\(([^()]*)(\)?)")
_LIKE_MARKS: Final = re.compile(r"\b(?:high|medium|low|until)\b|[^\x00-\x7f‹›·–]", re.IGNORECASE)
"""Content of a parenthesis that resembles a mark of the context block, "(high, 2 March)"."""

_SQUARE: Final = re.compile(
    rf"\[(?=\s*/?\s*(?:{'|'.join(SQUARE_BRACKET_NAMES)})\s*\])", re.IGNORECASE
)
_TURN: Final = re.compile(rf"\b({'|'.join(TURN_ROLES)})\s*[:：﹕]", re.IGNORECASE)


def escape_for_prompt(text: str) -> str:
    """Escape a text for a prompt, on one line.

    Invisible characters are dropped; tags, control tokens and marks of the block are broken.
    """
    if _HARMLESS.fullmatch(text) and not _FENCED.search(text):
        return text
    text = unicodedata.normalize(
        "NFC", _SPACES.sub(_on_one_line, text).translate(_DROPPED)
    ).translate(_BRACKETS)
    squared = _PARENTHESIS.sub(_squared, text)
    # A parenthesis around one that was replaced:
    if squared != text and _PARENTHESIS.sub(_squared, squared) != squared:
        squared = squared.replace("(", "[").replace(")", "]")
    plain = _FENCE.sub(r"\1", squared.replace("![", "! ["))
    return _TURN.sub(r"\1 –", _SQUARE.sub("[·", _TAG.sub("‹", plain)))


def _on_one_line(spaces: re.Match[str]) -> str:
    return " " if len(spaces[0]) > MAX_SPACES or _BREAK.search(spaces[0]) else spaces[0]


def _squared(aside: re.Match[str]) -> str:
    return f"[{aside[1]}{']' if aside[2] else ''}" if _LIKE_MARKS.search(aside[1]) else aside[0]


def escape_json_for_prompt(answer: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Apply `escape_for_prompt` to every string of a JSON value."""
    if isinstance(answer, str):
        return escape_for_prompt(answer)
    if isinstance(answer, Mapping):
        return {
            escape_json_for_prompt(name): escape_json_for_prompt(value)
            for name, value in answer.items()
        }
    return (
        [escape_json_for_prompt(one) for one in answer]
        if isinstance(answer, list | tuple)
        else answer
    )


def escape_for_display(text: str) -> str:
    """Escape a text for a terminal or a web page.

    Control characters and direction overrides become U+FFFD.
    """
    return text.translate(_REPLACED)


def escape_for_log(value: object) -> str:
    """Format a value for a log: one line, control characters as escapes."""
    return "".join(
        _escape(one) if one in "\t\n" or ord(one) in _CONTROLS else one for one in str(value)
    )


def format_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Format a value as JSON for a terminal, without loss: control characters are JSON escapes."""
    return "".join(
        _escape(one) if ord(one) in _CONTROLS else one
        for one in json.dumps(value, ensure_ascii=False, indent=2)
    )


_REPLACED: Final = dict.fromkeys(_CONTROLS, "\ufffd")


def _escape(one: str) -> str:
    return f"\\u{ord(one):04x}"
