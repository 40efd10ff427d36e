"""The shipped files are all there, and each is compared with its checksum."""

import shutil
from pathlib import Path

import pytest

from hotmem.errors import ModelMissing
from hotmem.models import files, load_former
from hotmem.models.encoders import TURNS
from hotmem.models.files import FOLDER, read_checksums, read_shipped


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shipped files, which are read instead of them."""
    shutil.copytree(FOLDER, tmp_path / "data")
    monkeypatch.setattr(files, "FOLDER", tmp_path / "data")
    return tmp_path / "data"


def test_each_shipped_file_has_a_checksum_and_a_line_in_the_card() -> None:
    listed = read_checksums(FOLDER / "SHA256SUMS")
    beside = {"SHA256SUMS", "README.md", "en_core_web_sm-3.8.0.sha256"}
    there = {path.name for path in FOLDER.iterdir() if not path.name.startswith("LICENSE")}
    assert there - beside == listed.keys()
    card = (FOLDER / "README.md").read_text("utf-8")
    assert [name for name in listed if f"`{name}`" not in card] == []
    assert all(read_shipped(name) for name in listed)


def test_all_shipped_files_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 60e6


@pytest.mark.parametrize("name", ["turns-1.onnx", "tokenizer.json", "commands-2.npz"])
def test_a_damaged_or_missing_file_is_refused(name: str, copied: Path) -> None:
    """A model that somebody else has made would read whatever they like into what is said."""
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(ModelMissing, match=r"differs from the published file\. Reinstall it: pip"):
        read_shipped(name)
    (copied / name).unlink()
    with pytest.raises(ModelMissing, match=f"{name} is missing"):
        read_shipped(name)


def test_a_former_encoder_that_is_not_at_hand_is_none() -> None:
    assert load_former("somebodys-own-1234abcd/384") is None
    assert load_former("all-MiniLM-L6-v2-int8-2/384") is None
    former = load_former(f"{TURNS}/384")
    assert former is not None and former.name == TURNS
