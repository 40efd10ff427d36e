"""HotMem: the long-term memory of voice bots.

    Turn ──remember──▶ store ──background──▶ facts, vectors, summaries
                         │
    utterance ─▶ analysis ─▶ facts │ sessions │ semantic │ verbatim ─▶ fusion ─▶ ContextBlock
                                                                                     │
    layer weights ◀── usage ◀── feedback ◀────────── what was heard of the reply ◀───┘

`Memory` is the door to all of it; `hotmem.recall` is the read path on one screen.
"""

from hotmem.errors import (
    DeadlineExceeded,
    HotMemError,
    InvalidInput,
    MemoryClosed,
    ModelMissing,
    StoreError,
    StoreFull,
    StoreGone,
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
    StoreUnusable,
)
from hotmem.memory import Memory
from hotmem.options import Options
from hotmem.types import ContextBlock, Item, Layer, Mark, Role, Turn, Usage, Weights

__version__ = "0.1.0"

__all__ = [
    "ContextBlock",
    "DeadlineExceeded",
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
    "StoreError",
    "StoreFull",
    "StoreGone",
    "StoreLocked",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnusable",
    "Turn",
    "Usage",
    "Weights",
    "__version__",
]
