"""Every error that HotMem raises, as a tree.

    HotMemError
    ├── InvalidInput          an argument is invalid; nothing was stored or changed
    │   └── DeletionChanged   a deletion would remove more than what was confirmed
    ├── MemoryClosed          the memory was used before open or after close
    ├── ModelMissing          model weights or tables are missing or have the wrong checksum
    ├── ExtraMissing          an optional dependency (extra) is not installed
    ├── DeadlineExceeded      a stage did not finish within its deadline
    └── StoreError            the database file
        ├── StoreUnusable     not a HotMem file, or not readable
        │   └── StoreDamaged  not a database, truncated or corrupt; no further writes
        ├── StoreKeyWrong     the encryption key is missing, wrong or not needed
        ├── StoreTooNew       written by a newer version of HotMem
        ├── StoreLocked       another process holds the write lock
        ├── StoreReadOnly     the file or its folder is not writable
        ├── StoreUnreachable  the database server cannot be reached
        │   └── StoreUncertain  … since a write was committed: it may be stored or not
        ├── StoreGone         the file was deleted or replaced while it was open
        └── StoreFull         the disk is full
            └── SpoolFull     too many turns wait for the database; this one is not kept

A message states the problem first, then the fix. It never contains speech or memory text.
"""


class HotMemError(Exception):
    """Base class of all errors that HotMem raises."""


class InvalidInput(HotMemError, ValueError):
    """An argument is invalid. Nothing was stored or changed."""


class DeletionChanged(InvalidInput):
    """A deletion would remove more than what was confirmed. Nothing was removed."""


class MemoryClosed(HotMemError):
    """The memory is not open."""


class ModelMissing(HotMemError):
    """Model weights or tables are missing or have the wrong checksum."""


class ExtraMissing(HotMemError, ImportError):
    """A feature needs packages of an optional extra that is not installed."""


class DeadlineExceeded(HotMemError):
    """A stage did not finish within its deadline."""


class StoreError(HotMemError):
    """The database operation failed. Data stored earlier is unchanged."""


class StoreUnusable(StoreError):
    """The file is not a HotMem file or cannot be opened."""


class StoreDamaged(StoreUnusable):
    """The file is not a database, or it is truncated or corrupt. No further writes are made."""


class StoreKeyWrong(StoreError):
    """The encryption key is missing or wrong, or a key was given for a plain file."""


class StoreTooNew(StoreError):
    """The file was written by a newer version of HotMem."""


class StoreLocked(StoreError):
    """Another process held the write lock until the timeout."""


class StoreReadOnly(StoreError):
    """The file or its folder is not writable."""


class StoreUnreachable(StoreError):
    """The database server cannot be reached, or the connection to it was lost."""


class StoreUncertain(StoreUnreachable):
    """The connection was lost while a write was committed: it may be stored or not."""


class StoreGone(StoreError):
    """The file was deleted, moved or replaced while it was open. Pending writes are lost."""


class StoreFull(StoreError):
    """The disk is full; the last write was rolled back."""


class SpoolFull(StoreFull):
    """Too many turns wait for the database; this one is not kept."""
