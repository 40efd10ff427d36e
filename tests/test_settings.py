"""Settings: read from the environment and a .env file, all listed in .env.example with their defaults."""

from pathlib import Path
from shutil import copy

import pytest

from hotmem import InvalidInput, Weights
from hotmem.options import Options
from hotmem.settings import Settings
from hotmem.types import Layer

EXAMPLE = Path(__file__).parents[1] / ".env.example"
PREFIX = "HOTMEM_"
OF_THE_BOTS = {"LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"}
"""Read by the bots in pipelines/, not by the package."""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No .env file and no variable of ours."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"{PREFIX}{name.upper()}", raising=False)


def example() -> dict[str, str]:
    """The names of .env.example, without their prefix, with their values."""
    lines = [line for line in EXAMPLE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return {name.removeprefix(PREFIX): value for name, _, value in (line.partition("=") for line in lines)}


def test_the_example_lists_exactly_the_settings() -> None:
    assert all(line.startswith((PREFIX, "#")) for line in EXAMPLE.read_text("utf-8").splitlines() if line)
    assert example().keys() - OF_THE_BOTS == {name.upper() for name in Settings.model_fields}
    assert example().keys() >= OF_THE_BOTS


def test_the_example_names_the_defaults(tmp_path: Path) -> None:
    bare = Settings().model_dump()
    copy(EXAMPLE, tmp_path / ".env")
    assert Settings().model_dump() == bare
    for name, value in example().items():
        if name not in OF_THE_BOTS:
            default = getattr(Settings(), name.lower())
            assert value == ("" if default is None else str(default).lower() if isinstance(default, bool) else str(default).removesuffix(".0"))


def test_every_setting_in_the_example_has_its_line_of_sense() -> None:
    lines = EXAMPLE.read_text("utf-8").splitlines()
    for name in Settings.model_fields:
        place = next(number for number, line in enumerate(lines) if line.startswith(f"{PREFIX}{name.upper()}="))
        assert lines[place - 1].startswith("# ")
    assert all(field.description for field in Settings.model_fields.values())


def test_the_defaults_are_those_of_the_options() -> None:
    assert Settings().options() == Options()


def test_the_environment_comes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "HOTMEM_MAX_FACTS=2\nHOTMEM_MARK_SYMBOLS=yes\nHOTMEM_DATABASE=other.db\nHOTMEM_CACHE_DIR=\nHOTMEM_LLM_MODEL=x\nPATH_OF_OTHERS=y\n"
    )
    monkeypatch.setenv("HOTMEM_MAX_FACTS", "7")
    settings = Settings()
    assert (settings.max_facts, settings.mark_symbols, settings.database, settings.cache_dir) == (7, True, Path("other.db"), None)


def test_every_setting_reaches_its_option(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "MULTILAYER_RETRIEVAL": "false", "MAX_CONTEXT_TOKENS": "300", "MAX_FACTS": "2", "SEMANTIC_THRESHOLD": "0.3", "VERBATIM_CONTEXT_WINDOW": "55",
        "MARK_SYMBOLS": "true", "ADAPTIVE_LEARNING": "false", "USAGE_ANALYTICS": "false", "SESSION_IDLE_S": "5", "ENCODER": "a/b", "CACHE_DIR": "c",
        "RELEVANCE_MODEL": "r.json", "WEIGHTS": "1, 0.5,0.7,1.5",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    options = Settings().options()
    recall, learning = options.recall, options.learning
    assert (recall.layers, recall.max_tokens, recall.max_facts, recall.symbols) == ((Layer.FACTS,), 300, 2, True)
    assert (recall.semantic_threshold, recall.verbatim_window) == (0.3, 55)
    assert (learning.adaptive, learning.analytics, learning.weights) == (False, False, Weights(1.0, 0.5, 0.7, 1.5))
    assert options.background.idle_s == 5
    assert (options.models.encoder, options.models.cache_dir, options.models.relevance) == ("a/b", Path("c"), Path("r.json"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_CONTEXT_TOKENS", "0"), ("MAX_FACTS", "-1"), ("SEMANTIC_THRESHOLD", "1.5"), ("VERBATIM_CONTEXT_WINDOW", "1001"),
     ("RECALL_DEADLINE_MS", "-1"), ("SESSION_IDLE_S", "soon"), ("MARK_SYMBOLS", "perhaps"),
     ("WEIGHTS", "1,1,1"), ("WEIGHTS", "1,1,1,2"), ("WEIGHTS", "1,1,1,nan"), ("WEIGHTS", "much")],
)  # fmt: skip
def test_a_value_out_of_range_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    with pytest.raises(InvalidInput, match=rf"(HOTMEM_{name}|{name.lower()}) cannot be"):
        Settings()
