"""Export of a memory to a file, and import of HotMem and foreign files.

`hotmem.portability.jsonl` writes and reads HotMem's own format, JSON Lines with all data of a user.
Foreign files are read one record at a time:

    mem0 export ─▶ foreign memories ─▶ classified (hotmem.portability.classify) ─▶ memories
    chat messages, transcript ─▶ turns, processed like new turns

IDs of foreign records depend only on the file, so that repeating an import adds nothing.
"""

from hotmem.portability.jsonl import export_lines, read_export
from hotmem.portability.messages import UserMapping

__all__ = ["UserMapping", "export_lines", "read_export"]
