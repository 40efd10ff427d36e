"""`hotmem inspect`: serving, stopping and errors."""

import asyncio
import io
import re
import shutil
from contextlib import closing
from pathlib import Path
from socket import create_server

import httpx
import pytest
from rich.console import Console

from hotmem import InvalidInput, Memory, StoreUnusable
from hotmem.cli import console
from hotmem.inspector.server import serve
from tests.commands import run


async def address(screen: io.StringIO) -> str:
    """Return the printed address."""
    for _ in range(200):
        if found := re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", screen.getvalue()):
            return found[0]
        await asyncio.sleep(0.02)
    raise AssertionError(screen.getvalue())


async def test_pages_are_served_until_the_process_stops(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(console, "screen", Console(file=screen, width=200))
    serving = asyncio.create_task(serve(memory, "ana", 0))
    async with httpx.AsyncClient() as client:
        page = await client.get(await address(screen))
        assert page.status_code == 200 and "Potola" in page.text
        assert "server" not in page.headers
        assert (
            (await client.get(f"{await address(screen)}style.css"))
            .headers["content-type"]
            .startswith("text/css")
        )
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        with pytest.raises(httpx.ConnectError):
            await client.get(await address(screen))
    assert await memory.memories("ana")


async def test_a_port_in_use_and_an_unknown_user_are_reported(memory: Memory) -> None:
    with (
        closing(create_server(("127.0.0.1", 0))) as taken,
        pytest.raises(InvalidInput, match="is in use"),
    ):
        await serve(memory, "ana", taken.getsockname()[1])
    with pytest.raises(InvalidInput, match="has no user 'eve'"):
        await serve(memory, "eve", 0)


def test_the_command_has_a_help_text() -> None:
    outcome = run("inspect", "--help")
    assert outcome.exit_code == 0 and "view, edit and delete" in " ".join(outcome.output.split())


def test_a_missing_or_invalid_file_is_reported(tmp_path: Path, two_users: Path) -> None:
    strange = tmp_path / "strange.db"
    missing = run("inspect", str(strange), "--user", "ana")
    assert isinstance(missing.exception, InvalidInput) and "not found" in str(missing.exception)
    strange.write_text("These are notes, and no database at all.\n" * 50)
    assert isinstance(
        run("inspect", str(strange), "--user", "ana").exception,
        StoreUnusable,
    )
    shutil.copy(two_users, strange)
    strange.write_bytes(strange.read_bytes()[:5000])
    assert isinstance(
        run("inspect", str(strange), "--user", "ana").exception,
        StoreUnusable,
    )
