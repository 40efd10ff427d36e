"""Disable the telemetry of third-party libraries, before they are imported.

ONNX Runtime reads its switch once, on import. From version 1.29 on it then stores a device id in
the user's cache folder, queues events there and resolves its vendor's host;
`disable_telemetry_events()` is too late.
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
"""Environment variables that disable telemetry when set to 1."""


def disable_telemetry() -> None:
    """Set every switch not yet in the environment, for this process and its children."""
    if "onnxruntime" in sys.modules and ONNX_RUNTIME not in os.environ:
        log.warning(
            "onnxruntime was imported before hotmem, with its telemetry on: "
            f"import hotmem first, or set {ONNX_RUNTIME}=1"
        )
    for name in SWITCHES:
        os.environ.setdefault(name, "1")
