"""Text of others made safe for where it is shown: for a language model, a terminal, a page, a log.

What a model reads as its own tokens, as our fence or as our marks cannot be written by who is
quoted: the characters that these begin with are taken from the text, whatever follows them. The
words stay.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from hotmem.text.control_tokens import SQUARE_BRACKET_NAMES, TURN_ROLES


def _spans(*spans: tuple[int, int]) -> set[int]:
    return {code for first, last in spans for code in range(first, last + 1)}


_CONTROLS: Final = _spans(
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069)
)
"""What moves the cursor or begins an escape code, and what turns the direction of writing: all
but tab and line feed."""

_UNSEEN: Final = _spans(
    (0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFDD0, 0xFDEF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF),
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000)),
)  # fmt: skip
"""Fillers and selectors of variants, which have no shape of their own; controls, formats and
private use have categories that say so."""


class _Drops(dict[int, int | None]):
    """Drops what has no shape of its own, for `str.translate`.

    Each character is looked at when it is first met.
    """

    def __missing__(self, code: int) -> int | None:
        unseen = code in _UNSEEN or unicodedata.category(chr(code)) in ("Cc", "Cf", "Co", "Cs")
        self[code] = None if unseen else code
        return self[code]


_DROPPED: Final = _Drops()
_LIKE_OURS: Final = str.maketrans(
    {
        "＜": "‹",
        "﹤": "‹",
        "＞": "›",
        "﹥": "›",
        "（": "[",
        "﹙": "[",
        "）": "]",
        "﹚": "]",
        "［": "[",
        "］": "]",
    }
)
_HARMLESS: Final = re.compile(r"[ -'*-9;=-Z\\-~]*")
"""Text that nothing below changes, as most of what is quoted is: a recall shows some forty
lines, at 20 µs each for other text."""

MAX_SPACES: Final = 3
"""Spaces in a row that stay."""

_FENCE: Final = re.compile(r"([\"`~])\1\1+")
_FENCED: Final = re.compile(r" {4}|[\"`~]{3}")
"""What sets text apart for models that read Markdown or code, or moves it out of sight."""

_SPACES: Final = re.compile(r"\s+")
_BREAK: Final = re.compile(r"[\t\r\n\v\f\x1c-\x1f\x85\u2028\u2029]")
_TAG: Final = re.compile(r"<(?!\s*$|[\d=-]|\s+(?![/|｜!?<\s]|memory))", re.IGNORECASE)
"""What may begin a tag or a token. "2 < 3", "<3" and "<-" do not."""

_ASIDE: Final = re.compile(r"\(([^()]*)(\)?)")
_LIKE_MARKS: Final = re.compile(r"\b(?:high|medium|low|until)\b|[^\x00-\x7f‹›·–]", re.IGNORECASE)
"""What a parenthesis holds that may pass for one of ours, "(high, 2 March)", also in letters
that look like these."""

_SQUARE: Final = re.compile(
    rf"\[(?=\s*/?\s*(?:{'|'.join(SQUARE_BRACKET_NAMES)})\s*\])", re.IGNORECASE
)
_TURN: Final = re.compile(rf"\b({'|'.join(TURN_ROLES)})\s*[:：﹕]", re.IGNORECASE)


def escape_for_prompt(text: str) -> str:
    """The text on one line for a language model.

    Without invisible characters, tags, control tokens and marks like ours.
    """
    if _HARMLESS.fullmatch(text) and not _FENCED.search(text):
        return text
    text = unicodedata.normalize(
        "NFC", _SPACES.sub(_on_one_line, text).translate(_DROPPED)
    ).translate(_LIKE_OURS)
    squared = _ASIDE.sub(_squared, text)
    if (
        squared != text and _ASIDE.sub(_squared, squared) != squared
    ):  # a parenthesis around one that was squared
        squared = squared.replace("(", "[").replace(")", "]")
    plain = _FENCE.sub(r"\1", squared.replace("![", "! ["))
    return _TURN.sub(r"\1 –", _SQUARE.sub("[·", _TAG.sub("‹", plain)))


def _on_one_line(spaces: re.Match[str]) -> str:
    return " " if len(spaces[0]) > MAX_SPACES or _BREAK.search(spaces[0]) else spaces[0]


def _squared(aside: re.Match[str]) -> str:
    return f"[{aside[1]}{']' if aside[2] else ''}" if _LIKE_MARKS.search(aside[1]) else aside[0]


def escape_json_for_prompt(answer: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """What JSON holds, with every string in it as `escape_for_prompt`."""
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
    """The text for a terminal or a page.

    Nothing in it moves the cursor, changes colours or turns the direction of writing.
    """
    return text.translate(_REPLACED)


def escape_for_log(value: object) -> str:
    """A value for a log: one line, with escapes for what is not printed."""
    return "".join(
        _escape(one) if one in "\t\n" or ord(one) in _CONTROLS else one for one in str(value)
    )


def format_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """JSON for a terminal that is exactly the value, with escapes for what `escape_for_display` would replace."""
    return "".join(
        _escape(one) if ord(one) in _CONTROLS else one
        for one in json.dumps(value, ensure_ascii=False, indent=2)
    )


_REPLACED: Final = dict.fromkeys(_CONTROLS, "\ufffd")


def _escape(one: str) -> str:
    return f"\\u{ord(one):04x}"
