"""The cost of importing HotMem, and the libraries that a memory loads."""

import json
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hotmem.models import Language
from hotmem.models.language import installed_model
from hotmem.text.word_sets import STOP_WORDS
from tests.packaging.child import ROOT, Home, python

HEAVY = (
    "spacy",
    "torch",
    "onnxruntime",
    "onnx",
    "sklearn",
    "scipy",
    "sentence_transformers",
    "transformers",
    "pipecat",
    "openai",
)

IMPORT = """
import json, sys, time
started = time.process_time()
{statement}
seconds = time.process_time() - started
print(json.dumps([seconds, [name for name in sys.argv[1:] if name in sys.modules]]))
"""

OPEN = """
import asyncio, json, sys, time
from hotmem import Memory, Options

async def main():
    started = time.process_time()
    async with Memory.open(sys.argv[1], Options()):
        seconds = time.process_time() - started
        print(json.dumps([seconds, [name for name in sys.argv[2:] if name in sys.modules]]))

asyncio.run(main())
"""

HIDDEN = """
import threading
from hotmem.models.encoders import torch_hidden

imported = []

def other():
    import torch
    imported.append(torch)

with torch_hidden():
    try:
        import torch
    except ImportError as error:
        print("hidden")
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
import torch
print(imported == [torch])
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.mark.parametrize(
    "statement",
    [
        "import hotmem",
        "from hotmem import Memory",
        "import hotmem.settings",
        "import hotmem.cli.app",
    ],
)
def test_an_import_loads_no_model_library(home: Home, statement: str) -> None:
    ended = python(IMPORT.format(statement=statement), *HEAVY, home=home)
    assert json.loads(ended.stdout)[1] == [], ended.stderr


def test_an_import_of_the_package_loads_no_numpy(home: Home) -> None:
    ended = python(IMPORT.format(statement="import hotmem"), "numpy", home=home)
    assert json.loads(ended.stdout)[1] == [], ended.stderr


def test_an_import_costs_little_more_than_the_libraries_it_needs(home: Home) -> None:
    """Processor time with compiled modules; 1.5 times on an idle machine."""

    def seconds(statement: str) -> float:
        ended = python(
            IMPORT.format(statement=statement),
            home=home,
            PYTHONDONTWRITEBYTECODE="",
            PYTHONPYCACHEPREFIX=str(home.path / "compiled"),
        )
        return float(json.loads(ended.stdout)[0])

    needed = "import loguru; from pydantic import TypeAdapter"
    ratios = [seconds("import hotmem") / seconds(needed) for _ in range(5)]
    assert min(ratios) < 2.5, ratios


def test_a_memory_opens_in_time_and_without_torch(home: Home, tmp_path: Path) -> None:
    """Processor time; torch alone would take 3 s."""
    seconds = []
    for _ in range(2):
        ended = python(
            OPEN,
            tmp_path / "memory.db",
            "torch",
            "sklearn",
            "onnx",
            home=home,
        )
        taken, loaded = json.loads(ended.stdout)
        assert loaded == [], ended.stderr
        seconds.append(taken)
    assert min(seconds) < 4.0


@pytest.mark.part("torch")
def test_torch_is_hidden_from_one_thread_only(home: Home) -> None:
    ended = python(HIDDEN, home=home)
    assert ended.stdout.split() == ["hidden", "True"], ended.stderr


def test_the_tokenizer_equals_the_published_model_s(language: Language) -> None:
    import spacy

    published: Any = spacy.load(installed_model()).tokenizer
    ours: Any = language._pipeline.tokenizer
    text = (
        "I don't know—she's at 5 p.m. in the U.K., isn't she? :-) Visit "
        "https://example.org/a?b=1, e-mail a.b@example.org."
    )
    assert ours.to_bytes(exclude=["vocab"]) == published.to_bytes(exclude=["vocab"])
    assert [token.text for token in ours(text)] == [token.text for token in published(text)]


def test_stop_words_equal_spacy_s() -> None:
    from spacy.lang.en import stop_words

    assert stop_words.STOP_WORDS == STOP_WORDS


def test_a_lean_install_needs_no_torch() -> None:
    """Resolve the requirements of the base install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ahead = [Requirement(line) for line in project["dependencies"]]
    lean: set[str] = set()
    while ahead:
        requirement = ahead.pop()
        name = canonicalize_name(requirement.name)
        if name in lean or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        lean.add(name)
        try:
            ahead += [Requirement(line) for line in requires(name) or ()]
        except (
            PackageNotFoundError
        ):  # another platform's, or one that `make setup` has not brought yet
            continue
    assert {"spacy", "onnxruntime", "numpy"} <= lean
    assert lean.isdisjoint(
        {
            "torch",
            "transformers",
            "sentence-transformers",
            "pandas",
            "scipy",
            "scikit-learn",
            "numba",
            "openai",
        }
    )
