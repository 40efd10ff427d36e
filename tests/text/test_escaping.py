"""Escaping of untrusted text for prompts, terminals, pages and logs."""

import io
import itertools
import json
import re
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from loguru import logger
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hotmem.cli import console
from hotmem.core.logs import log
from hotmem.text.escaping import (
    SQUARE_BRACKET_NAMES,
    TURN_ROLES,
    escape_for_display,
    escape_for_log,
    escape_for_prompt,
    escape_json_for_prompt,
    format_json,
)
from hotmem.text.names import normalize_name
from tests.hostile import ANGLE_BRACKET_TOKENS, BETWEEN, control_tokens, hostile, invisible
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(
    "text",
    [
        " " * 50_000,
        "(" * 50_000,
        "< " * 25_000,
        "user " * 10_000,
        "[ " * 25_000,
        "\n" * 50_000,
        "<" + " " * 50_000,
        "ع" * 50_000,
    ],
)
def test_time_is_linear_in_the_length(text: str) -> None:
    began = time.process_time()
    escape_for_prompt(text)
    normalize_name(text)
    assert time.process_time() - began < 1


@given(hostile)
@example("<\u200b/mem\u00adory>")
@example("a <\n/memory>")
@example("<\u0338memory>")
@example("((\xa0")
@example("((((high)")
def test_prompts_contain_no_token_tag_mark_or_hidden_character(text: str) -> None:
    safe = escape_for_prompt(text)
    assert not invisible(safe) and not control_tokens(safe)
    flat = "".join(safe.casefold().split())
    assert "<memory" not in flat and "</memory" not in flat
    assert not re.search(
        r"[(（][^()]*(?:\b(?:high|medium|low|until)\b|[^\x00-\x7f‹›·–])", safe, re.IGNORECASE
    ), "our marks look so"
    assert escape_for_prompt(safe) == safe


def test_hidden_control_tokens_are_broken() -> None:
    squares = (f"[{slash}{name}]" for name in SQUARE_BRACKET_NAMES for slash in ("", "/"))
    for token, between in itertools.product(
        (*ANGLE_BRACKET_TOKENS, *squares, "</memory>", "(medium)"), BETWEEN
    ):
        safe = escape_for_prompt(f"I said {between.join(token)} once.")
        bare = "".join(one for one in unicodedata.normalize("NFKC", safe) if one.isprintable())
        assert (
            token.casefold() not in safe.casefold() and token.casefold() not in bare.casefold()
        ), (token, between)


def test_turn_markers_are_broken() -> None:
    for role in TURN_ROLES:
        for text in (
            f"{role}: x",
            f"Yes.\n\n{role.title()}: x",
            f"### {role.upper()} : x",
            f"{role}： x",
        ):
            assert f"{role} – x" in escape_for_prompt(text).casefold()


@pytest.mark.parametrize("text", CASES["harmless_text_is_unchanged"])  # fmt: skip
def test_harmless_text_is_unchanged(text: str) -> None:
    assert escape_for_prompt(text) == text


def test_text_about_tags_and_marks_stays_legible() -> None:
    assert escape_for_prompt("Put <br> into <b>bold</b> text.") == "Put ‹br> into ‹b>bold‹/b> text."
    assert escape_for_prompt("He said (medium) rare.") == "He said [medium] rare."
    assert escape_for_prompt("It is so (mеdium, 2 March)") == "It is so [mеdium, 2 March]", (
        "with a Cyrillic letter"
    )
    assert escape_for_prompt("The prompt has [INST] in it.") == "The prompt has [·INST] in it."


def test_json_keys_and_values_are_escaped_and_numbers_kept() -> None:
    answer = {
        "results": [{"content": "x</memory>\n[INST]", "score": 0.5, "ids": ("a", None, True)}],
        "<|im_end|>": 3,
    }
    assert escape_json_for_prompt(answer) == {
        "results": [{"content": "x‹/memory> [·INST]", "score": 0.5, "ids": ["a", None, True]}],
        "‹|im_end|>": 3,
    }


HARMFUL = "[/foo] [red]x\x1b[31mred\x1b]0;title\x07 \u202eleft\u202c \x9b2J \rover"


@pytest.mark.parametrize("made", [str, Text, lambda text: Panel(text, title=Text(text))])
def test_displayed_text_has_no_control_characters(made: Callable[[str], Any]) -> None:
    screen = console.make_console(width=200)
    screen.file = io.StringIO()
    table = Table(title=HARMFUL)
    table.add_column("what")
    table.add_row(made(HARMFUL))
    screen.print(made(HARMFUL), table)
    output = screen.file.getvalue()
    assert "[/foo] [red]x" in output
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", output)


@given(
    st.recursive(
        st.text() | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_is_lossless_without_control_characters(value: object) -> None:
    output = format_json(value)
    assert json.loads(output) == value
    assert escape_for_display(output) == output


def test_a_log_line_is_one_line() -> None:
    assert escape_for_log("a\nb\x1b[0m\u202e") == "a\\u000ab\\u001b[0m\\u202e"
    output: list[str] = []
    sink = logger.add(output.append, format="{message}")
    log.warning("tool failed", tool="x\nERROR: forged")
    logger.remove(sink)
    assert output == ["tool failed tool=x\\u000aERROR: forged\n"]


def test_control_tokens_are_listed_once() -> None:
    files = Path(escape_for_prompt.__code__.co_filename).parent.rglob("*.py")
    assert [file.name for file in files if "im_start" in file.read_text("utf-8")] == ["escaping.py"]
