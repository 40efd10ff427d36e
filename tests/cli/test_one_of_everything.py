"""Commands on a memory with one of everything: no output says "1 turns"."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from hotmem import Turn
from hotmem.cli import console
from hotmem.types import Role
from tests.commands import run
from tests.conversation import OpenMemory

NOUNS: Final = (
    *("candidates", "conversations", "days", "decisions", "duplicates", "entries", "facts"),
    *("hits", "items", "jobs", "lines", "memories", "messages", "names", "passages", "questions"),
    *("recalls", "records", "replies", "results", "rows", "sentences", "sessions", "summaries"),
    *("tags", "tokens", "turns", "users"),
)

ONE_OF_SEVERAL: Final = re.compile(
    rf"(?<![\d.,])1 (?:more |other |system )?(?:{'|'.join(NOUNS)})\b"
)
"""A count of one before a plural."""

TALK: Final = (
    ("monday", Role.USER, "My dog is called Potola."),
    ("monday", Role.ASSISTANT, "What a lovely name!"),
    ("friday", Role.USER, "What is my dog called?"),
    ("friday", Role.ASSISTANT, "Your dog is called Potola."),
)

MESSAGES: Final = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "I live in Porto."},
]

COMMANDS: Final = (
    *("doctor", "users", "memories -u ana", "stats -u ana", "timeline -u ana", "network -u ana"),
    *("subcategories -u ana", "decisions -u ana", "recall -u ana dog", "search -u ana dog"),
    *("contextual -u ana dog", "trace -u ana dog", "quality -u ana", "usage -u ana"),
    *(
        "eval -u ana",
        "discover -u ana",
        "import messages.json -u ben",
        "import messages.json -u ben",
    ),
    *("store -u ben tea", "store -u ben tea", "optimize-tags -u ben", "evolve -u ben"),
    *("export ana.jsonl -u ana", "export ana.json --all -u ana", "copy memory.db copy.db"),
    *("forget -u ben --everything --dry-run", "retain --dry-run", "audit", "validate"),
    *("repair", "language de", "doctor"),
)


@pytest.fixture
def folder(tmp_path: Path, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a memory that has one fact and one answered question."""

    async def fill() -> None:
        began = datetime.now(UTC) - timedelta(days=3)
        path = tmp_path / "memory.db"
        async with open_memory(path) as memory:
            for number, (session, role, text) in enumerate(TALK):
                said_at = began + timedelta(minutes=number)
                await memory.remember(Turn("ana", session, role, text, said_at, "Ana"))
                if role is Role.USER:
                    await memory.settle()
            block = await memory.recall(TALK[2][2], user_id="ana", session_id="friday")
            await memory.feedback(block, TALK[3][2])
            for session in ("monday", "friday"):
                await memory.end_session(user_id="ana", session_id=session)
            await memory.settle()

    asyncio.run(fill())
    (tmp_path / "messages.json").write_text(json.dumps(MESSAGES), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_RETENTION_DAYS", "1000")
    monkeypatch.setattr(console, "screen", console.make_console(width=200))
    return tmp_path


def test_the_pattern_finds_counts_of_one() -> None:
    for wrong in ("1 turns", "1 more tokens", "(1 memories"):
        assert ONE_OF_SEVERAL.search(wrong)
    for right in ("1 turn", "11 turns", "0.1 tokens", "1,001 turns", "2 turns"):
        assert not ONE_OF_SEVERAL.search(right)


def test_no_command_counts_one_as_several(folder: Path) -> None:
    for words in COMMANDS:
        copied = [] if words.startswith("copy") else ["-d", "memory.db"]
        done = run(*words.split(), *copied)
        assert done.exit_code == 0, (words, done.output, done.exception)
        for line in done.output.splitlines():
            assert not ONE_OF_SEVERAL.search(line), (words, line)
