"""The README's code runs, with the output that it shows."""

import ast
import asyncio
import inspect
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
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
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from hotmem import Memory, Options
from hotmem.models.preparation import Prepared
from hotmem.options import ModelOptions
from hotmem.settings import Settings
from tests.packaging.source import ROOT
from tests.pipecat.scene import Scene, ScriptedModel

README: Final = (ROOT / "README.md").read_text("utf-8")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: As written behind the fence; empty for output.
        heading: The heading it is under.
        code: Its lines.
    """

    language: str
    heading: str
    code: str


def blocks() -> list[Block]:
    """Every fenced block of the README, in order."""
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        headings = re.findall(r"^#+ (.+)$", README[: match.start()], re.MULTILINE)
        found.append(Block(match[1], headings[-1], match[2]))
    return found


def block(heading: str, language: str = "python", number: int = 0) -> str:
    """The code of a block."""
    matching = [one for one in blocks() if (one.heading, one.language) == (heading, language)]
    return matching[number].code


async def execute(code: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Runs code that may await at its top level, and returns its names."""
    compiled = compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(compiled, namespace)
    if inspect.isawaitable(running):
        await running
    return namespace


def test_every_python_block_is_run_here() -> None:
    """A new block needs a test of its own."""
    found = [(one.heading, one.language) for one in blocks() if one.language in ("python", "diff")]
    assert found == [
        ("In a pipeline", "diff"),
        ("Without a pipeline", "python"),
        ("Tools", "python"),
        ("Tools", "python"),
        ("Settings", "python"),
    ]


@pytest.mark.slow
def test_the_first_example_prints_what_the_readme_shows(
    tmp_path: Path, model_options: ModelOptions
) -> None:
    Prepared.load(model_options.cache_dir)
    done = subprocess.run(
        [sys.executable, "-c", block("Without a pipeline")],
        cwd=tmp_path,
        env=os.environ
        | {"HOTMEM_CACHE_DIR": str(model_options.cache_dir), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    shown = block("Without a pipeline", "")
    assert done.stdout.startswith(shown)
    precision, weights = done.stdout.removeprefix(shown).split(maxsplit=1)
    assert float(precision) == 1.0 and weights.startswith("Weights(facts=")


async def converse(said: str) -> tuple[LLMContext, ScriptedModel]:
    """Says one thing to the README's pipeline, and returns the bot's context and its model.

    Speech services and the model are stand-ins; everything else is pipecat's.
    """
    context, llm = LLMContext(), ScriptedModel(["All right."])
    aggregators = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies()),
    )
    names = await execute(
        re.sub("^[+ ]", "", block("In a pipeline", "diff"), flags=re.MULTILINE),
        {
            "Pipeline": Pipeline,
            "aggregators": aggregators,
            "llm": llm,
            "transport": SimpleNamespace(input=IdentityFilter, output=IdentityFilter),
            "stt": IdentityFilter(),  # type: ignore[no-untyped-call]
            "tts": IdentityFilter(),  # type: ignore[no-untyped-call]
        },
    )
    worker = PipelineWorker(names["pipeline"], enable_rtvi=False, cancel_on_idle_timeout=False)
    bot = Scene(worker, context, llm)

    async def on_stopped(_: object, message: AssistantTurnStoppedMessage) -> None:
        await bot.stopped.put(message)

    aggregators.assistant().add_event_handler("on_assistant_turn_stopped", on_stopped)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await bot.exchange(said)
    await worker.queue_frame(EndFrame())
    await asyncio.wait_for(running, 30)
    return context, llm


@pytest.mark.slow
async def test_the_pipeline_with_the_three_lines_remembers(
    tmp_path: Path, model_options: ModelOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_CACHE_DIR", str(model_options.cache_dir))
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "5000")
    await converse("My dog is called Potola.")
    context, llm = await converse("What's my dog called?")
    *blocks, question = llm.shown[0]
    assert {message["role"] for message in blocks} == {"user"}
    assert "<memory>" in blocks[-1]["content"] and "Potola" in blocks[-1]["content"]
    assert question["content"] == "What's my dog called?"
    assert "<memory>" not in str(context.get_messages())


async def test_the_tools_store_and_find(memory: Memory) -> None:
    names = await execute(block("Tools"), {"memory": memory})
    assert names["best"].content == "The boiler's serial number is 44 B 19."
    assert names["stored"].id == names["best"].id


async def test_a_model_gets_the_tools_as_functions(memory: Memory) -> None:
    from tests.pipecat.test_functions import CallingModel

    llm = CallingModel([])
    names = await execute(
        block("Tools", number=1), {"memory": memory, "llm": llm, "LLMContext": LLMContext}
    )
    tools = {schema.name for schema in names["context"].tools.standard_tools}
    assert {"store_memory", "search_memory"} <= tools
    assert all(llm.has_function(name) for name in tools)


async def test_settings_change_one_and_take_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_MAX_CONTEXT_TOKENS", "700")
    options = (await execute(block("Settings"), {}))["options"]
    assert isinstance(options, Options)
    assert (options.recall.max_facts, options.recall.max_tokens) == (3, 700)
    assert Settings.from_environment().options().recall.max_facts != 3
