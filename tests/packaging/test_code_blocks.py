"""The code of the README and of the documentation runs, with the output that it shows.

Python blocks of a page are executed in order, in one namespace that has an open `memory` and
stand-ins for the parts of a bot. A block that starts its own event loop is a program of its own. A
`text` block directly after a Python block is what it prints.
"""

import ast
import asyncio
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from loguru import logger
from pipecat.frames.frames import EndFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner
from typer.core import TyperGroup
from typer.main import get_command

from hotmem import Memory, Options
from hotmem.cli.app import app
from hotmem.pipecat import HotMemProcessor
from hotmem.tools.files import ImportArguments, import_memories
from tests.conversation import remember, said
from tests.packaging.source import ROOT
from tests.pipecat.scene import Scene, ScriptedModel, turns_in
from tests.pipecat.test_functions import CallingModel

README: Final = ROOT / "README.md"
PAGES: Final = [README, *sorted((ROOT / "docs").rglob("*.md"))]

SHELL: Final = {"bash"}
FILES: Final = {"sql", "yaml"}
"""What is not run here: commands, and files for other programs."""

PROGRAMS: Final = {
    *("createdb", "export", "hotmem", "litestream", "make", "pip", "psql", "python", "source"),
}
"""What the lines of a block for the shell begin with."""

FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: As written behind the fence.
        code: Its lines.
        output: The text block that follows it directly; empty if there is none.
    """

    language: str
    code: str
    output: str = ""

    @property
    def is_program(self) -> bool:
        """Whether it starts an event loop of its own."""
        return "asyncio.run(" in self.code


@pytest.fixture(autouse=True)
def logging_again() -> Iterator[None]:
    """Enables the log after a block that silences it."""
    yield
    logger.enable("hotmem")


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    found = list(FENCE.finditer(text))
    for place, match in enumerate(found):
        output = ""
        if place + 1 < len(found) and found[place + 1][1] == "text":
            between = text[match.end() : found[place + 1].start()].strip()
            output = found[place + 1][2] if between in ("", "It prints:") else ""
        yield Block(match[1], match[2], output)


def with_blocks(language: str) -> list[Any]:
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)))
        for page in PAGES
        if any(block.language == language for block in blocks(page))
    ]


async def execute(code: str, namespace: dict[str, Any]) -> None:
    """Run code that may await at its top level."""
    compiled = compile(code, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(compiled, namespace)
    if inspect.isawaitable(running):
        await running


def parts_of_a_bot() -> dict[str, Any]:
    """What the snippets take for granted. Speech services are stand-ins, the rest is pipecat's."""
    context, llm = LLMContext(), ScriptedModel(["All right."])
    aggregators = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies()),
    )
    return {
        "HotMemProcessor": HotMemProcessor,
        "LLMContext": LLMContext,
        "Pipeline": Pipeline,
        "aggregators": aggregators,
        "context": context,
        "llm": llm,
        "transport": SimpleNamespace(input=IdentityFilter, output=IdentityFilter),
        "stt": IdentityFilter(),  # type: ignore[no-untyped-call]
        "tts": IdentityFilter(),  # type: ignore[no-untyped-call]
    }


def test_every_block_is_run_or_is_for_the_shell() -> None:
    languages = {block.language for page in PAGES for block in blocks(page)}
    assert languages <= {"python", "diff", "text", "json", *SHELL, *FILES}


@pytest.mark.parametrize("page", with_blocks("python"))
async def test_the_python_of_a_page_runs(
    page: Path,
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    await remember(memory, said("My dog is called Potola.", session="monday"))
    names = parts_of_a_bot() | {
        "memory": memory,
        "llm": CallingModel([]),
        "user_id": "ana",
        "url_of": lambda user_id: tmp_path / f"{user_id}.db",
    }
    for block in blocks(page):
        if block.language != "python":
            continue
        if block.is_program:
            printed = run_program(block.code, tmp_path / "program")
        else:
            out = StringIO()
            with redirect_stdout(out):
                await execute(block.code, names)
            printed = out.getvalue()
        if block.output:
            assert printed == block.output


def run_program(code: str, folder: Path) -> str:
    """What a program prints."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def converse(
    code: str, *sentences: str, model: FrameProcessor | None = None
) -> tuple[LLMContext, ScriptedModel]:
    """Say something to a page's pipeline, and return the bot's context and its model."""
    names = parts_of_a_bot()
    names["llm"] = model or names["llm"]
    await execute(code, names)
    context, llm = names["context"], names["llm"]
    worker = PipelineWorker(names["pipeline"], enable_rtvi=False, cancel_on_idle_timeout=False)
    bot = Scene(worker, context, llm)

    async def on_stopped(_: object, message: AssistantTurnStoppedMessage) -> None:
        await bot.stopped.put(message)

    assistant = names["aggregators"].assistant()
    assistant.add_event_handler("on_assistant_turn_stopped", on_stopped)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    for sentence in sentences:
        await bot.exchange(sentence)
    await worker.queue_frame(EndFrame())
    await asyncio.wait_for(running, 30)
    return context, llm


@pytest.mark.parametrize(
    ("page", "language"),
    [
        pytest.param(README, "diff", id="README.md"),
        pytest.param(ROOT / "docs/quickstart.md", "diff", id="quickstart.md"),
        pytest.param(ROOT / "docs/guides/bot.md", "python", id="guides/bot.md"),
    ],
)
async def test_a_bot_with_the_pipeline_of_a_page_remembers(
    page: Path,
    language: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "5000")
    code = next(block.code for block in blocks(page) if block.language == language)
    if language == "diff":
        code = re.sub("^[+ ]", "", code, flags=re.MULTILINE)
    await converse(code, "My dog is called Potola.")
    context, llm = await converse(code, "What's my dog called?")
    *given, question = llm.shown[0]
    assert {message["role"] for message in given} == {"user"}
    assert "<memory>" in given[-1]["content"] and "Potola" in given[-1]["content"]
    assert question["content"] == "What's my dog called?"
    assert "<memory>" not in str(context.get_messages())


async def test_the_model_without_keys_asks_so_that_a_yes_deletes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "5000")
    monkeypatch.setenv("HOTMEM_FORGET_GRACE_HOURS", "0")
    pipeline, *others = [block.code for block in blocks(ROOT / "docs/guides/bot.md")]
    names: dict[str, Any] = {}
    await execute(next(code for code in others if "class ScriptedModel" in code), names)
    spoken = ["My dog is called Potola.", "Forget everything about Potola.", "Yes."]
    await converse(pipeline, *spoken, model=names["ScriptedModel"]())
    stored = turns_in(tmp_path / "memory.db")
    assert stored == [("assistant", "I see.")]
    assert "Potola" not in str(stored)


@pytest.mark.parametrize("page", with_blocks("bash"))
def test_each_line_for_the_shell_is_one_command(page: Path) -> None:
    """A line that was joined with the next one shows a command behind a comment."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    for block in blocks(page):
        for line in block.code.splitlines() if block.language in SHELL else ():
            program, *arguments = shlex.split(line, comments=True)
            assert program in PROGRAMS, line
            assert not re.search(r"#.*\b(hotmem|pip|python) [a-z]", line), line
            if program == "hotmem":
                name, *options = arguments
                assert command.commands[name].make_context(name, options), line


@pytest.mark.parametrize("page", with_blocks("json"))
def test_json_is_json(page: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.code)


async def test_the_files_of_the_import_guide_can_be_imported(
    memory: Memory, tmp_path: Path
) -> None:
    page = ROOT / "docs/guides/import.md"
    files = [block for block in blocks(page) if block.language in ("json", "text")]
    imported = []
    for number, block in enumerate(files):
        path = tmp_path / f"file{number}"
        path.write_text(block.code, "utf-8")
        arguments = ImportArguments(file=str(path), bots=("Robin",))
        imported.append(await import_memories(memory, "ana", arguments))
    assert [bool(result.turns or result.memories) for result in imported] == [True] * 3


async def test_settings_change_some_and_take_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_SEMANTIC_THRESHOLD", "0.2")
    names: dict[str, Any] = {}
    page = ROOT / "docs/guides/tuning.md"
    await execute(next(one.code for one in blocks(page) if one.language == "python"), names)
    options = names["options"]
    assert isinstance(options, Options)
    assert (options.recall.opening_tokens, options.recall.semantic_threshold) == (100, 0.2)
