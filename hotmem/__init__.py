"""HotMem: the long-term memory of voice bots.

    Turn ──remember──▶ store ──background──▶ facts, vectors, summaries
                         │
    utterance ─▶ analysis ─▶ facts │ sessions │ semantic │ verbatim ─▶ fusion ─▶ ContextBlock
                                                                                     │
    layer weights ◀── usage ◀── feedback ◀────────── what was heard of the reply ◀───┘

`Memory` is the door to all of it; `hotmem.recall` is the read path on one screen.

Importing this package sets `ORT_DISABLE_TELEMETRY` and `HF_HUB_DISABLE_TELEMETRY` where they are
not set. Import it before anything that imports ONNX Runtime, such as pipecat's voice activity
detection, which else starts with its telemetry on.
"""

from typing import TYPE_CHECKING

from hotmem.block.rendering import MEMORY_GUIDE
from hotmem.core import __version__
from hotmem.core.logs import disable_telemetry
from hotmem.errors import (
    DeadlineExceeded,
    DeletionChanged,
    ExtraMissing,
    HotMemError,
    InvalidInput,
    MemoryClosed,
    ModelMissing,
    SpoolFull,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreGone,
    StoreKeyWrong,
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
    StoreUncertain,
    StoreUnreachable,
    StoreUnusable,
)
from hotmem.options import Options
from hotmem.types import ContextBlock, Item, Layer, Mark, Role, Turn, Usage, Weights

if TYPE_CHECKING:
    from hotmem.memory import Memory

__all__ = [
    "MEMORY_GUIDE",
    "ContextBlock",
    "DeadlineExceeded",
    "DeletionChanged",
    "ExtraMissing",
    "HotMemError",
    "InvalidInput",
    "Item",
    "Layer",
    "Mark",
    "Memory",
    "MemoryClosed",
    "ModelMissing",
    "Options",
    "Role",
    "SpoolFull",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreGone",
    "StoreKeyWrong",
    "StoreLocked",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUncertain",
    "StoreUnreachable",
    "StoreUnusable",
    "Turn",
    "Usage",
    "Weights",
    "__version__",
]

disable_telemetry()


def __getattr__(name: str) -> object:
    """Import `Memory` on first use (PEP 562).

    It brings most of the package, errors and options do not.
    """
    if name != "Memory":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hotmem.memory import Memory

    globals()[name] = Memory
    return Memory
