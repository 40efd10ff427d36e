"""Make the pictures of the documentation: `python -m website.pictures docs/pictures`.

All of them show the real programs: the demo as it was played, the inspector and the report as
served, of a memory of an invented person (`eval/data/everyday`). Pages need Chromium.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import typer

from eval.datasets import everyday
from eval.datasets.base import Conversation
from hotmem import Memory, Turn
from website.recording import record_demo

PERSON: Final = Path(__file__).parents[1] / "eval" / "data" / "everyday" / "batch_1.json"
USER: Final = "hilary"
SPEAKER: Final = "Hilary"
QUESTIONS_A_SESSION: Final = 20
PAUSE: Final = timedelta(minutes=1)
QUESTION: Final = "What does Marcus do for a living?"

WIDTH: Final = 1100
PAGES: Final = {
    "inspector-overview": ("", 1000),
    "inspector-memories": ("memories", 800),
    "inspector-ask": (f"ask?{urlencode({'q': QUESTION})}", 900),
}
"""Pages of the inspector with their heights in pixels, by the name of the picture."""

EVALUATED: Final = 100
"""Recorded questions that the report replays."""

app = typer.Typer(add_completion=False)


@app.command()
def main(folder: Path) -> None:
    """Make every picture in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "demo.svg").write_text(asyncio.run(record_demo()), "utf-8")
    with tempfile.TemporaryDirectory(prefix="hotmem-") as scratch:
        database, report = Path(scratch) / "memory.db", Path(scratch) / "report.html"
        person = everyday.conversation(USER, json.loads(PERSON.read_text("utf-8")))
        asyncio.run(remember(database, person))
        with inspecting(database) as address:
            for name, (page, height) in PAGES.items():
                screenshot(f"{address}{page}", folder / f"{name}.png", height)
        asyncio.run(ask(database, person))
        run = [sys.executable, "-m", "hotmem.cli.app", "eval", "--user", USER]
        subprocess.run(
            [*run, "-d", str(database), "--report", str(report), "--questions", str(EVALUATED)],
            check=True,
        )
        screenshot(report.as_uri(), folder / "report.png", 900)


async def remember(database: Path, person: Conversation) -> None:
    """Store the person's conversations."""
    async with Memory.open(database) as memory:
        for session in person.sessions:
            for turn in session.turns:
                await memory.remember(turn)
            await memory.end_session(user_id=USER, session_id=session.id)
        await memory.settle()


async def ask(database: Path, person: Conversation) -> None:
    """Store the answers of a bot to questions about the person's conversations.

    The bot repeats what the person had said, as the writer of the question marked it.
    """
    words = {turn.id: turn.text for session in person.sessions for turn in session.turns}
    async with Memory.open(database) as memory:
        for number, question in enumerate(person.questions):
            session_id = f"asked {number // QUESTIONS_A_SESSION}"
            at = question.asked_at + number * PAUSE
            block = await memory.recall(question.text, user_id=USER, session_id=session_id, at=at)
            reply = " ".join(f"You told me: {words[turn]}" for turn in question.evidence)
            await memory.remember(Turn(USER, session_id, "user", question.text, at, SPEAKER))
            await memory.remember(
                Turn(USER, session_id, "assistant", reply or "I don't know.", at + PAUSE / 2)
            )
            await memory.feedback(block, reply or "I don't know.")
        await memory.settle()


@contextmanager
def inspecting(database: Path) -> Iterator[str]:
    """The address of the inspector, which runs meanwhile."""
    command = [sys.executable, "-m", "hotmem.cli.app", "inspect", "--user", USER]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    with subprocess.Popen(
        [*command, "-d", str(database)], stdout=subprocess.PIPE, text=True, env=environment
    ) as serving:
        assert serving.stdout is not None
        yield next(
            found[0]
            for line in serving.stdout
            if (found := re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line))
        )
        serving.terminate()


def screenshot(address: str, picture: Path, height: int) -> None:
    """A page as headless Chromium shows it."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        sys.exit("Chromium is missing. On Debian: apt-get install chromium")
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    subprocess.run(
        [
            *(found, *options, f"--window-size={WIDTH},{height}"),
            *(f"--screenshot={picture.resolve()}", address),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )


if __name__ == "__main__":
    app()
