"""A memory as a file, and what other programs wrote as a memory.

`hotmem.transfer.lines` writes and reads our own form, JSON Lines that hold everything. Foreign files are read record by record, however long
they are:

    mem0 export ─▶ what is known, without its origin ─▶ filed (hotmem.transfer.filed) ─▶ our own form
    chat messages, transcript ─▶ turns, understood as if they were said now

Ids of foreign records follow from the file alone, so that an import can be repeated: what is there already stays as it is.
"""

from hotmem.transfer.lines import exported, imported
from hotmem.transfer.whose import Whose

__all__ = ["Whose", "exported", "imported"]
