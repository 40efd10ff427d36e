"""A memory as a file, and what other programs wrote as a memory.

`hotmem.portability.jsonl` writes and reads our own form, JSON Lines that hold everything. Foreign
files are read record by record, however long they are:

    mem0 export ─▶ what is known, without its origin ─▶ filed (hotmem.portability.classify) ─▶ our own form
    chat messages, transcript ─▶ turns, understood as if they were said now

Ids of foreign records follow from the file alone, so that an import can be repeated: what is there
already stays as it is.
"""

from hotmem.portability.jsonl import exported, imported
from hotmem.portability.user_mapping import UserMapping

__all__ = ["UserMapping", "exported", "imported"]
