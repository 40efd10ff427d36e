"""What tests share: the real models, loaded once.

Prepared files are kept in pytest's own cache between runs.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from loguru import logger

from hotmem import Memory
from hotmem.models import CachedEncoder, Language, TokenCounter, load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.storage.sqlite import connection


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--full` runs the attacks of tests/attacks as often as a release wants them, which takes an hour."""
    parser.addoption("--full", action="store_true", help="run the attacks in full")


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether the attacks run in full."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture(scope="session", autouse=True)
def no_settings() -> None:
    """No variable of ours: a memory that is opened without options takes them."""
    for name in [name for name in os.environ if name.upper().startswith("HOTMEM_")]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def durable() -> Iterator[str]:
    """Commits in this process do not wait for the disk, which only a power cut would tell.

    Those of processes that tests start do.

    It gives what holds outside of tests.
    """
    outside = connection.SYNCHRONOUS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "SYNCHRONOUS", "OFF")
        yield outside


def _to_stderr(message: str) -> None:
    """To standard error as it is now: pytest exchanges it for each test."""
    sys.stderr.write(message)


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Commands set up logging for their whole process.

    The next test gets it back as it was at first.
    """
    yield
    logger.remove()
    logger.add(_to_stderr)


@pytest.fixture(scope="session")
def model_options(pytestconfig: pytest.Config) -> ModelOptions:
    """Options with a folder of prepared models that tests share."""
    cache = pytestconfig.cache
    assert cache is not None
    return ModelOptions(cache_dir=cache.mkdir("hotmem"))


@pytest.fixture(scope="session")
def encoder(model_options: ModelOptions) -> CachedEncoder:
    """The default encoder."""
    return load_encoder(model_options)


@pytest.fixture(scope="session")
def language() -> Language:
    """spaCy's English model."""
    return load_language()


@pytest.fixture(scope="session")
def tokens(model_options: ModelOptions) -> TokenCounter:
    """tiktoken's count in the default encoding."""
    return TokenCounter.load(model_options.encoding, model_options.cache_dir)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where a test's memory file is, or will be."""
    return tmp_path / "memory.db"


@pytest.fixture
async def memory(
    database: Path, encoder: CachedEncoder, language: Language
) -> AsyncIterator[Memory]:
    """An open, empty memory."""
    async with Memory.open(database, encoder=encoder, language=language) as opened:
        yield opened
