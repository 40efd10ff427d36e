"""Every error HotMem raises, drawn as a tree.

    HotMemError
    ├── InvalidInput          an argument cannot be used; nothing was stored
    ├── MemoryClosed          the memory was used before open or after close
    ├── ModelMissing          weights or tables of a model are not installed or not the expected ones
    ├── ExtraMissing          a feature needs packages of an extra that is not installed
    ├── DeadlineExceeded      a stage did not finish in its time
    └── StoreError            the database file
        ├── StoreUnusable     not HotMem's, or not readable
        │   └── StoreDamaged  no database, truncated, or not what was written; nothing more is written into it
        ├── StoreKeyWrong     encrypted, and the key is missing or another; or plain, and there is a key
        ├── StoreTooNew       written by a newer HotMem
        ├── StoreLocked       another program holds the file
        ├── StoreReadOnly     the file or its folder cannot be written
        ├── StoreGone         the file was deleted or replaced while it was open
        └── StoreFull         the disk is full

A message gives the fact first, then the fix. Speech and memory text never appear in it.
"""


class HotMemError(Exception):
    """Base of every error that HotMem raises on purpose."""


class InvalidInput(HotMemError, ValueError):
    """An argument cannot be used. Nothing was stored or changed."""


class MemoryClosed(HotMemError):
    """The memory is not open."""


class ModelMissing(HotMemError):
    """A model's weights or tables are missing or have the wrong checksum."""


class ExtraMissing(HotMemError, ImportError):
    """A feature needs packages that an optional extra installs."""


class DeadlineExceeded(HotMemError):
    """A stage did not finish within its deadline."""


class StoreError(HotMemError):
    """The database file cannot do what was asked. What was stored before is untouched."""


class StoreUnusable(StoreError):
    """The file is not HotMem's, or cannot be opened."""


class StoreDamaged(StoreUnusable):
    """The file is no database, or its content is not what was written.

    Nothing more is written into it.
    """


class StoreKeyWrong(StoreError):
    """The file is encrypted and the key is missing or another one, or it is plain and a key was given."""


class StoreTooNew(StoreError):
    """The file was written by a newer HotMem."""


class StoreLocked(StoreError):
    """Another program holds the write lock for longer than the waiting time."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""


class StoreGone(StoreError):
    """The file was deleted, moved or replaced while it was open.

    What was to be written is not kept.
    """


class StoreFull(StoreError):
    """The disk is full; the last write was rolled back."""
