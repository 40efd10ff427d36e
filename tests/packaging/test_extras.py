"""Errors about missing packages name the extra that installs them."""

from pathlib import Path

import pytest

from tests.packaging.child import Home, python

ABSENT = """
import sys
sys.modules[{package!r}] = None
{code}
"""

MEMORY = """
import asyncio
from datetime import UTC, datetime
from pathlib import Path
from hotmem import Memory, Options, Turn
from hotmem.options import EvolutionOptions, ModelOptions, RewriteOptions

async def main():
    models = ModelOptions({model})
    evolution, rewriting = EvolutionOptions(every_s=0), RewriteOptions(model={rewriter!r})
    options = Options(models=models, evolution=evolution, rewriting=rewriting)
    async with Memory.open(sys.argv[1], options) as memory:
        turn = Turn("ana", "monday", "user", "My dog is called Potola.", datetime.now(UTC))
        await memory.remember(turn)
        await memory.settle()
        print("Potola" in (await memory.recall("What's my dog called?", user_id="ana")).text)

asyncio.run(main())
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def run(
    package: str,
    home: Home,
    *,
    model: str = "",
    rewriter: str = "",
) -> tuple[str, str]:
    """Return standard output and the last line of standard error of a session without a package."""
    code = ABSENT.format(package=package, code=MEMORY.format(model=model, rewriter=rewriter))
    ended = python(code, home.path.parent / "memory.db", home=home)
    return ended.stdout, (ended.stderr.splitlines() or [""])[-1]


def test_another_encoder_names_its_extra(home: Home) -> None:
    _, error = run("sentence_transformers", home, model="encoder='all-MiniLM-L6-v2'")
    assert error.startswith("hotmem.errors.ModelMissing: ")
    assert 'pip install "pipecat-hotmem[sentence-transformers]"' in error


def test_a_rewriting_model_names_its_extra(home: Home) -> None:
    _, error = run("openai", home, rewriter="any")
    assert error.startswith("hotmem.errors.ExtraMissing: ")
    assert 'pip install "pipecat-hotmem[rewriting]"' in error


def test_importing_the_processor_without_pipecat_names_the_extra(home: Home) -> None:
    error = python(ABSENT.format(package="pipecat", code="import hotmem.pipecat"), home=home).stderr
    assert error.splitlines()[-1] == (
        "hotmem.errors.ExtraMissing: pipecat is not installed. Run: pip install "
        '"pipecat-hotmem[pipecat]"'
    )


def test_a_memory_needs_no_pipecat(home: Home) -> None:
    out, error = run("pipecat", home)
    assert "True" in out.splitlines(), error
