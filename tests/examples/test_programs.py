"""The examples that are programs run in a folder of their own, as a developer starts them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hotmem.storage.sqlite.connection import connect
from tests.examples.endpoint import Answer, ToolCall, endpoint
from tests.packaging.source import ROOT

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Copies an example alone to an empty folder, runs it, and returns its output."""

    def started(
        name: str, *arguments: str, lines: Sequence[str] = (), variables: Mapping[str, str] = {}
    ) -> str:
        program = str(shutil.copy(ROOT / "examples" / name, tmp_path))
        done = subprocess.run(
            [sys.executable, program, *arguments],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "PYTHONPATH": str(ROOT),
                "HF_HUB_OFFLINE": "1",
                "HOTMEM_RECALL_DEADLINE_MS": "20000",
            }
            | dict(variables),
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            timeout=110,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return started


def from_block(messages: Sequence[dict[str, Any]]) -> Answer:
    """Says the dog's name if a context block has it."""
    blocks = [str(one["content"]) for one in messages if "<memory>" in str(one["content"])]
    return "She is called Potola." if "Potola" in "".join(blocks) else "I see."


def test_quickstart(run: Run) -> None:
    shown = run("quickstart.py")
    assert shown.startswith("<memory>") and "My dog is called Potola." in shown


def test_the_keyboard_bot_remembers_in_the_next_session(run: Run) -> None:
    with endpoint(from_block) as model:
        first = run(
            "keyboard_bot.py",
            lines=["My dog is called Potola.", "Lovely weather today."],
            variables=model.environment(),
        )
        second = run(
            "keyboard_bot.py", lines=["What's my dog called?"], variables=model.environment()
        )
    assert first.splitlines()[0] == "I see." and second.splitlines() == ["She is called Potola."]
    assert model.requests[-1]["messages"][-1]["content"] == "What's my dog called?"


def test_the_model_of_the_tools_bot_stores_and_searches(run: Run, tmp_path: Path) -> None:
    def answer(messages: Sequence[dict[str, Any]]) -> Answer:
        if messages[-1]["role"] == "tool":
            found = json.loads(messages[-1]["content"])
            results = found.get("results")
            return str(results[0]["content"]) if results else f"Stored: {found['success']}."
        if "remember" in messages[-1]["content"]:
            return ToolCall("store_memory", {"content": "The boiler's number is 44 B 19."})
        return ToolCall("search_memory", {"query": "number of the boiler"})

    with endpoint(answer) as model:
        shown = run(
            "tools_bot.py",
            lines=["Please remember the number on this letter.", "Which number has the boiler?"],
            variables=model.environment(),
        )
    assert shown.splitlines() == ["Stored: True.", "The boiler's number is 44 B 19."]
    offered = {tool["function"]["name"] for tool in model.requests[0]["tools"]}
    assert {"store_memory", "search_memory"} <= offered
    with closing(connect(tmp_path / "memory.db", read_only=True)) as conn:
        stored = conn.execute("SELECT text FROM memories WHERE text LIKE '%44 B 19%'").fetchall()
    assert stored == [("The boiler's number is 44 B 19.",)]


def test_an_mcp_client(run: Run) -> None:
    tools, found, asked = run("mcp_client.py").splitlines()
    assert {"store_memory", "search_memory", "forget_memory"} <= set(tools.split())
    assert found == "The boiler's serial number is 44 B 19."
    assert asked.startswith("0 turns, 1 memory") and "would be deleted" in asked


def test_old_logs_are_imported_once(run: Run, tmp_path: Path) -> None:
    transcript = tmp_path / "2026-03-02.txt"
    transcript.write_text(
        "Ana: My dog is called Potola.\nHelper: What a nice name.\nAna: She was born in Porto.\n",
        "utf-8",
    )
    messages = tmp_path / "chat.json"
    chat = [
        {"role": "user", "content": "I'm allergic to peanuts."},
        {"role": "assistant", "content": "I'll keep that in mind."},
    ]
    messages.write_text(json.dumps(chat), "utf-8")
    files = (str(transcript), str(messages))
    first, again = run("import_logs.py", "ana", *files), run("import_logs.py", "ana", *files)
    assert "2026-03-02.txt: transcript, turns: 3, known: 0" in first
    assert "chat.json: messages, turns: 2, known: 0" in first
    assert "dog is called Potola" in first and "peanuts" in first
    assert "turns: 0, known: 3" in again and "turns: 0, known: 2" in again


@pytest.mark.parametrize("engine", ["file", "postgres"])
def test_a_worker_extracts_what_the_bot_stored(
    engine: str, run: Run, postgres_url: Callable[[str], str], tmp_path: Path
) -> None:
    location = str(tmp_path / "memory.db") if engine == "file" else postgres_url("16")
    variables = {"HOTMEM_DATABASE": location}
    told = run("postgres_worker.py", "bot", variables=variables)
    assert "Potola" in told and run("postgres_worker.py", "show", variables=variables) == ""
    shown = run("postgres_worker.py", variables=variables)
    assert shown.splitlines()[-1] == "Ana's dog is called Potola."
