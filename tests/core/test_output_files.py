"""Atomic output files: no links followed, nothing overwritten unasked, no partial files."""

import asyncio
import os
from pathlib import Path

import pytest

from hotmem import InvalidInput, Memory
from hotmem.cli.plots import timeline_png
from hotmem.core.output_files import new_file
from hotmem.tools.files import BackupArguments, ExportArguments, backup_restore, export_memories
from hotmem.tools.registry import tool
from hotmem.types import Period


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A foreign file outside the output folder, which must stay unchanged."""
    file = tmp_path / "theirs.txt"
    file.write_text("theirs")
    (tmp_path / "out").mkdir()
    return file


def test_a_file_is_private_and_complete_or_absent(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="halfway"), new_file(tmp_path / "new.txt") as making:
        making.write_text("half")
        raise ValueError("halfway")
    assert not list(tmp_path.iterdir())
    with new_file(tmp_path / "new.txt") as making:
        making.write_text("whole")
        assert not (tmp_path / "new.txt").exists()
        assert making.parent.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new.txt").read_text() == "whole"
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["new.txt"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    theirs: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:
        monkeypatch.setattr(
            os, "link", lambda *_: (_ for _ in ()).throw(PermissionError("no hard links here"))
        )
    path, none = theirs.parent / "out" / "new.txt", theirs.with_name("none")
    for plant in (
        lambda: path.symlink_to(theirs),
        lambda: path.symlink_to(none),
        lambda: path.write_text("theirs"),
    ):
        with pytest.raises(InvalidInput, match="exists"), new_file(path) as making:
            making.write_text("ours")
            plant()
        assert theirs.read_text() == "theirs" and not none.exists()
        path.unlink()
    with new_file(path) as making:
        making.write_text("ours")
    assert path.read_text() == "ours"


def test_overwriting_replaces_a_link_without_following_it(theirs: Path) -> None:
    path = theirs.parent / "out" / "new.txt"
    path.symlink_to(theirs)
    with pytest.raises(InvalidInput, match="exists"), new_file(path):
        pass
    with new_file(path, overwrite=True) as making:
        making.write_text("ours")
    assert theirs.read_text() == "theirs" and path.read_text() == "ours" and not path.is_symlink()


async def test_exports_backups_and_plots_follow_no_link(memory: Memory, theirs: Path) -> None:
    await memory.store_memory("Ana lives in Porto.", user_id="ana")
    folder = theirs.parent / "out"
    for name in ("new", "new.making"):
        (folder / name).symlink_to(theirs)
        (folder / f"dangling{name.removeprefix('new')}").symlink_to(folder.parent / "none")
    for name in ("new", "dangling"):
        path = folder / name
        with pytest.raises(InvalidInput, match="exists"):
            await export_memories(memory, "ana", ExportArguments(file=str(path)))
        with pytest.raises(InvalidInput, match="exists"):
            await backup_restore(memory, "ana", BackupArguments(action="backup", file=str(path)))
        with pytest.raises(InvalidInput, match="exists"):
            timeline_png([Period("2026", 1, ())], "year", path, "")
        path.unlink()
        # The link at a former temporary path is left alone.
        await export_memories(memory, "ana", ExportArguments(file=str(path)))
        path.unlink()
        await backup_restore(memory, "ana", BackupArguments(action="backup", file=str(path)))
        assert path.stat().st_mode & 0o777 == 0o600
    assert (
        await asyncio.to_thread(theirs.read_text) == "theirs"
        and not (folder.parent / "none").exists()
    )


async def test_a_linked_or_foreign_folder_is_rejected(
    memory: Memory, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.store_memory("Ana lives in Porto.", user_id="ana")
    planted, mine = theirs.parent / "planted", theirs.parent / "mine"
    planted.symlink_to(theirs.parent / "out")
    with pytest.raises(InvalidInput, match="is a link"):
        await tool("export_memories").call(memory, "ana", {"file": "ana.jsonl"}, planted)
    await tool("export_memories").call(memory, "ana", {"file": "ana.jsonl"}, mine)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(InvalidInput, match="another account"):
        await tool("export_memories").call(memory, "ana", {"file": "more.jsonl"}, mine)
    assert not list((theirs.parent / "out").iterdir())
