"""Telemetry of the libraries that HotMem loads.

Disabled in the environment before they are imported.

ONNX Runtime reads its switch once, on import: it then stores a device id in the user's cache
folder, queues events there and looks up its vendor's host. `disable_telemetry_events()` comes too
late for that.
"""

import os
import sys
from typing import Final

from hotmem.core.logs import log

ONNX_RUNTIME: Final = "ORT_DISABLE_TELEMETRY"

SWITCHES: Final = (
    ONNX_RUNTIME,
    # huggingface-hub, and with it transformers and sentence-transformers
    "HF_HUB_DISABLE_TELEMETRY",
)
"""Environment variables that disable telemetry when they are 1."""


def disable_telemetry() -> None:
    """Set every switch that the environment does not set already, for this process and its children."""
    if "onnxruntime" in sys.modules and ONNX_RUNTIME not in os.environ:
        log.warning(
            f"onnxruntime was imported before hotmem, with its telemetry on: import hotmem first, or set {ONNX_RUNTIME}=1"
        )
    for name in SWITCHES:
        os.environ.setdefault(name, "1")
