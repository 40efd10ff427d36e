"""Validation of numbers in options, calls and settings."""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from hotmem import InvalidInput, Memory, Options
from hotmem.options import (
    AuditOptions,
    BackgroundOptions,
    EvolutionOptions,
    ForgettingOptions,
    ModelOptions,
    RecallOptions,
    RewriteOptions,
)
from hotmem.pipecat import HotMemProcessor
from hotmem.settings import Settings

GROUPS = (
    RecallOptions,
    AuditOptions,
    BackgroundOptions,
    EvolutionOptions,
    ForgettingOptions,
    ModelOptions,
    RewriteOptions,
)
NUMBERS = [
    (group, one.name)
    for group in GROUPS
    for one in fields(group)
    if one.type in (int, float, float | None)
]


def test_every_number_has_bounds() -> None:
    assert len(NUMBERS) == 17


@pytest.mark.parametrize(("group", "name"), NUMBERS)
@pytest.mark.parametrize("value", [nan, inf, -inf, -1, "5", True])
def test_an_option_out_of_bounds_is_rejected(
    group: Callable[[], Any], name: str, value: object
) -> None:
    with pytest.raises(InvalidInput, match=rf"^{name} is .*\. Pass a (whole )?number "):
        replace(group(), **{name: value})


@pytest.mark.parametrize("value", [nan, inf, -1, True])
async def test_an_invalid_deadline_is_rejected(memory: Memory, value: float) -> None:
    with pytest.raises(InvalidInput, match="deadline_ms is"):
        await memory.recall("Hello?", user_id="ana", deadline_ms=value)


async def test_an_invalid_limit_is_rejected(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="limit is -1"):
        await memory.lookup.vocabulary("ana", limit=-1)
    with pytest.raises(InvalidInput, match="limit is nan"):
        await memory.learning.history("ana", limit=nan)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("deadline_ms", nan),
        ("deadline_ms", -1),
        ("max_tokens", 0),
        ("opening_tokens", -1),
        ("opening_tokens", nan),
        ("user_id", ""),
        ("session_id", 5),
        ("user_name", 7),
        ("user_name", ""),
        ("bot_name", ""),
        ("speakers", ["Ana"]),
        ("speakers", {"p1": None}),
        ("clock", 5),
    ],
)
def test_a_processor_rejects_invalid_arguments(tmp_path: Path, name: str, value: object) -> None:
    given: dict[str, Any] = {"user_id": "ana", name: value}
    with pytest.raises(InvalidInput, match=rf"{name} (is|are) .*\. Pass "):
        HotMemProcessor(tmp_path / "memory.db", options=Options(), **given)


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        ({"opening_tokens": 3}, r"options is dict, not Options. Pass Options\("),
        ({}, "options is dict"),
    ],
)
def test_options_of_another_type_are_rejected(options: object, fix: str) -> None:
    for kind in (Memory.open, partial(HotMemProcessor, user_id="ana")):
        with pytest.raises(InvalidInput, match=fix):
            kind("memory.db", options=options)  # type: ignore[arg-type]


def test_settings_given_as_options_name_the_method_that_makes_options() -> None:
    with pytest.raises(InvalidInput, match=r"options is Settings, .*from_environment.*options\(\)"):
        Memory.open("memory.db", Settings.from_environment())  # type: ignore[arg-type]


def test_options_of_a_stage_have_its_type() -> None:
    with pytest.raises(InvalidInput, match=r"recall is dict, not RecallOptions\. Pass "):
        Options(recall={"opening_tokens": 3})  # type: ignore[arg-type]


@pytest.mark.parametrize("location", [5, b"memory.db", ["memory.db"]])
def test_a_location_is_a_path_or_url(location: object) -> None:
    for kind in (Memory.open, partial(HotMemProcessor, user_id="ana")):
        with pytest.raises(InvalidInput, match=r"location of the memory is .*Pass a file"):
            kind(location, options=Options())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("opening_token", r"opening_token is not a setting\. Did you mean opening_tokens\?"),
        ("HOTMEM_OPENING_TOKENS", r"Did you mean opening_tokens\?"),
        ("zzz", "Use database, key, "),
    ],
)
def test_an_unknown_argument_of_the_settings_is_rejected(name: str, fix: str) -> None:
    with pytest.raises(InvalidInput, match=fix):
        Settings.from_environment(**{name: 3})


def test_an_infinite_setting_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "inf")
    with pytest.raises(InvalidInput, match="HOTMEM_RECALL_DEADLINE_MS cannot be 'inf'"):
        Settings.from_environment()
