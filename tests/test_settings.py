"""Settings from the environment and a .env file; .env.example lists all with their defaults."""

from pathlib import Path
from shutil import copy
from zoneinfo import ZoneInfo

import pytest

from hotmem import InvalidInput, Memory, Weights
from hotmem.core.variables import warn_once
from hotmem.options import Options
from hotmem.settings import Settings
from hotmem.types import Layer
from pipelines.llm import ModelSettings
from tests.conversation import OpenMemory
from tests.logs import captured_logs

EXAMPLE = Path(__file__).parents[1] / ".env.example"
PREFIX = "HOTMEM_"
PIPELINE_VARIABLES = {"LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"}
"""Variables read by the bots in pipelines/, not by the package."""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove all HOTMEM_ variables and work in a folder without a .env file."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"{PREFIX}{name.upper()}", raising=False)


def example() -> dict[str, str]:
    """Return the settings of .env.example by name without prefix."""
    lines = [
        line
        for line in EXAMPLE.read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    return {
        name.removeprefix(PREFIX): value
        for name, _, value in (line.partition("=") for line in lines)
    }


def test_the_example_lists_exactly_the_settings() -> None:
    assert all(
        line.startswith((PREFIX, "#")) for line in EXAMPLE.read_text("utf-8").splitlines() if line
    )
    assert example().keys() - PIPELINE_VARIABLES == {name.upper() for name in Settings.model_fields}
    assert example().keys() >= PIPELINE_VARIABLES


def test_the_example_names_the_defaults(tmp_path: Path) -> None:
    bare = Settings().model_dump()
    copy(EXAMPLE, tmp_path / ".env")
    assert Settings().model_dump() == bare
    for name, value in example().items():
        if name not in PIPELINE_VARIABLES:
            default = getattr(Settings(), name.lower())
            assert value == (
                ""
                if default is None
                else str(default).lower()
                if isinstance(default, bool)
                else str(default).removesuffix(".0")
            )


def test_every_setting_in_the_example_has_a_comment() -> None:
    lines = EXAMPLE.read_text("utf-8").splitlines()
    for name in Settings.model_fields:
        place = next(
            number
            for number, line in enumerate(lines)
            if line.startswith(f"{PREFIX}{name.upper()}=")
        )
        assert lines[place - 1].startswith("# ")
    assert all(field.description for field in Settings.model_fields.values())


def test_the_defaults_are_those_of_the_options() -> None:
    assert Settings().options() == Options()


def test_the_environment_comes_before_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(
        "HOTMEM_OPENING_TOKENS=2\nHOTMEM_MARK_SYMBOLS=yes\nHOTMEM_DATABASE=other.db\n"
        "HOTMEM_RELEVANCE_MODEL=\nHOTMEM_LLM_MODEL=x\nPATH_OF_OTHERS=y\n"
    )
    monkeypatch.setenv("HOTMEM_OPENING_TOKENS", "7")
    settings = Settings()
    assert (
        settings.opening_tokens,
        settings.mark_symbols,
        settings.database,
        settings.relevance_model,
    ) == (
        7,
        True,
        Path("other.db"),
        None,
    )


def test_every_setting_reaches_its_option(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "MULTILAYER_RETRIEVAL": "false", "MAX_CONTEXT_TOKENS": "300", "OPENING_TOKENS": "2",
        "SEMANTIC_THRESHOLD": "0.3", "VERBATIM_CONTEXT_WINDOW": "55", "MARK_SYMBOLS": "true",
        "ADAPTIVE_LEARNING": "false", "USAGE_ANALYTICS": "false", "SESSION_IDLE_S": "5",
        "ENCODER": "a/b", "RELEVANCE_MODEL": "r.json",
        "WEIGHTS": "1, 0.5,0.7,1.5", "SAY_UNKNOWN": "false",
        "LANGUAGE": "de",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    options = Settings().options()
    recall, learning = options.recall, options.learning
    assert (recall.layers, recall.max_tokens, recall.opening_tokens, recall.symbols) == (
        (Layer.FACTS,),
        300,
        2,
        True,
    )
    assert (recall.semantic_threshold, recall.verbatim_window, recall.say_unknown) == (
        0.3,
        55,
        False,
    )
    assert (learning.adaptive, learning.analytics, learning.weights) == (
        False,
        False,
        Weights(1.0, 0.5, 0.7, 1.5),
    )
    assert options.background.idle_s == 5
    assert options.language == "de"
    assert (options.models.encoder, options.models.relevance) == (
        "a/b",
        Path("r.json"),
    )


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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("HOTMEM_OPENING_TOKEN", "Did you mean HOTMEM_OPENING_TOKENS?"),
        ("hotmem_databse", "Did you mean HOTMEM_DATABASE?"),
        ("HOTMEM_LLM_BASEURL", "Did you mean HOTMEM_LLM_BASE_URL?"),
        ("HOTMEM_8080_TCP_ADDR", "has no effect."),
    ],
)
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
     ("SESSION_IDLE_S", "soon"), ("MARK_SYMBOLS", "perhaps"),
     ("WEIGHTS", "1,1,1"), ("WEIGHTS", "1,1,1,2"), ("WEIGHTS", "1,1,1,nan"), ("WEIGHTS", "much"),
     ("LANGUAGE", "german")],
)  # fmt: skip
def test_a_value_out_of_range_is_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    with pytest.raises(InvalidInput, match=rf"(HOTMEM_{name}|{name.lower()}) cannot be"):
        Settings()
