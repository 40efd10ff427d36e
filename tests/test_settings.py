"""Settings from the environment and a .env file; .env.example lists all with their defaults."""

from pathlib import Path
from shutil import copy
from zoneinfo import ZoneInfo

import pytest

from hotmem import InvalidInput, Memory
from hotmem.options import (
    AuditOptions,
    BackgroundMode,
    BackgroundOptions,
    ExtractionOptions,
    ForgettingOptions,
    LearningOptions,
    ModelOptions,
    Options,
    RecallOptions,
    RetentionRule,
    RewriteOptions,
)
from hotmem.settings import PREFIX, VARIABLES, Settings, warn_once
from hotmem.types import Layer
from pipelines.llm import ModelSettings
from tests.conversation import OpenMemory
from tests.logs import captured_logs
from tests.tables import tables

CASES = tables(__file__)

EXAMPLE = Path(__file__).parents[1] / ".env.example"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove all HOTMEM_ variables and work in a folder without a .env file."""
    monkeypatch.chdir(tmp_path)
    for name in VARIABLES:
        monkeypatch.delenv(f"{PREFIX}{name}", raising=False)


def test_there_are_few_settings_and_each_is_described() -> None:
    fields = Settings.model_fields
    assert len(fields) <= 24 and all(field.description for field in fields.values())


def test_the_example_names_the_defaults(tmp_path: Path) -> None:
    bare = Settings().model_dump()
    copy(EXAMPLE, tmp_path / ".env")
    assert Settings().model_dump() == bare


def test_the_defaults_are_those_of_the_options() -> None:
    assert Settings().options() == Options()


def test_the_environment_comes_before_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(
        "HOTMEM_OPENING_TOKENS=2\nHOTMEM_USAGE_ANALYTICS=no\nHOTMEM_DATABASE=other.db\n"
        "HOTMEM_SPOOL_DIR=\nHOTMEM_LLM_MODEL=x\nPATH_OF_OTHERS=y\n"
    )
    monkeypatch.setenv("HOTMEM_OPENING_TOKENS", "7")
    settings = Settings()
    assert (
        settings.opening_tokens,
        settings.usage_analytics,
        settings.database,
        settings.spool_dir,
    ) == (
        7,
        False,
        Path("other.db"),
        None,
    )


def test_every_setting_reaches_its_option(monkeypatch: pytest.MonkeyPatch) -> None:
    values = CASES["values"]
    for name, value in values.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    assert Settings().options() == Options(
        recall=RecallOptions(
            layers=(Layer.FACTS,),
            max_tokens=300,
            opening_tokens=2,
            semantic_threshold=0.3,
            verbatim_window=55,
        ),
        learning=LearningOptions(adaptive=False, analytics=False),
        background=BackgroundOptions(mode=BackgroundMode.OFF),
        forgetting=ForgettingOptions(grace_s=3600),
        audit=AuditOptions(on=False, days=9),
        retention=(RetentionRule(7),),
        models=ModelOptions(encoder="a/b"),
        language="de",
        extraction=ExtractionOptions(model="m", api_key="k", topics=True),
        rewriting=RewriteOptions(model="r", deadline_ms=90),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("EXTRACTION", "secret"), ("EXTRACTION", '{"api_key": "secret", "daily_calls": -1}'),
     ("EXTRACTION__APIKEY", "secret"), ("REWRITING__DEADLINE_MS", "secret")],
)  # fmt: skip
def test_an_error_in_the_options_of_a_model_shows_no_value(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    with pytest.raises(InvalidInput, match=f"^HOTMEM_{name} cannot be used") as raised:
        Settings()
    assert "secret" not in str(raised.value)


def test_a_memory_opened_without_options_reads_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {
        "OPENING_TOKENS": "2",
        "TIME_ZONE": "Asia/Tokyo",
        "DATABASE": "mine.db",
    }.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    (tmp_path / ".env").write_text("HOTMEM_MAX_CONTEXT_TOKENS=77\n")
    memory = Memory.open()
    assert memory.runtime.location == Path("mine.db")
    assert (memory.runtime.options.recall.opening_tokens, memory.runtime.options.time_zone) == (
        2,
        ZoneInfo("Asia/Tokyo"),
    )
    assert memory.runtime.options.recall.max_tokens == Options().recall.max_tokens, (
        "the library reads no file"
    )
    assert Settings().max_context_tokens == 77, "programs do"


def test_arguments_come_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_OPENING_TOKENS", "2")
    monkeypatch.setenv("HOTMEM_MAX_CONTEXT_TOKENS", "300")
    assert Memory.open("given.db").runtime.location == Path("given.db")
    assert Memory.open("given.db", Options()).runtime.options == Options(), (
        "options are taken as they are"
    )
    overridden = Settings.from_environment(opening_tokens=9).options().recall
    assert (overridden.opening_tokens, overridden.max_tokens) == (9, 300)


async def test_the_time_of_a_recall_is_in_the_time_zone_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, database: Path, open_memory: OpenMemory
) -> None:
    monkeypatch.setenv("HOTMEM_TIME_ZONE", "Pacific/Kiritimati")
    async with open_memory(database) as memory:
        block = await memory.recall("What did I say yesterday?", user_id="ana")
    assert block.at.tzinfo == ZoneInfo("Pacific/Kiritimati")


def test_an_invalid_value_prevents_opening_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_OPENING_TOKENS", "many")
    with pytest.raises(InvalidInput, match="HOTMEM_OPENING_TOKENS cannot be 'many'"):
        Memory.open("given.db")
    Memory.open("given.db", Options())


@pytest.mark.parametrize(("name", "meant"), CASES["an_unknown_variable_is_reported_once"])
def test_an_unknown_variable_is_reported_once_with_a_suggestion(
    name: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "3")
    monkeypatch.setenv("HOTMEM_LLM_MODEL", "of the bots")
    warn_once.cache_clear()
    with captured_logs() as logs:
        Memory.open("given.db")
        Memory.open("given.db")
    (warning,) = logs
    assert (
        warning["log_level"] == "warning"
        and warning["message"].startswith(f"{name} is not a setting")
        and warning["message"].endswith(meant)
    )


def test_programs_report_a_misspelt_line_of_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HOTMEM_ENCODR=default\nOTHERS=1\n")
    warn_once.cache_clear()
    with captured_logs() as logs:
        Settings.from_environment()
        assert not logs
        Settings()
    assert [line["message"] for line in logs] == [
        "HOTMEM_ENCODR is not a setting and has no effect. Did you mean HOTMEM_ENCODER?"
    ]


def test_a_file_that_is_not_utf8_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("HOTMEM_DATABASE=caf\u00e9.db\n".encode("latin-1"))
    for kind in (Settings, ModelSettings):
        with pytest.raises(InvalidInput) as raised:
            kind()
        assert str(raised.value) == f"{tmp_path / '.env'} is not UTF-8. Save it as UTF-8."
    Memory.open("given.db")


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_CONTEXT_TOKENS", "0"), ("OPENING_TOKENS", "-1"), ("SEMANTIC_THRESHOLD", "1.5"),
     ("VERBATIM_CONTEXT_WINDOW", "1001"), ("RECALL_DEADLINE_MS", "-1"),
     ("AUDIT_DAYS", "soon"), ("AUDIT", "perhaps"), ("LANGUAGE", "german")],
)  # fmt: skip
def test_a_value_out_of_range_is_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    with pytest.raises(InvalidInput, match=rf"(HOTMEM_{name}|{name.lower()}) cannot be"):
        Settings()
