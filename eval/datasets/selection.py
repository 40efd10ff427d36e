"""Load several datasets given as DATASET=PATH."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from eval.datasets import LOADERS, Conversation, Dataset
from hotmem.errors import InvalidInput


def load_datasets(
    entries: Iterable[str], step: int, limit: int | None = None
) -> dict[str, list[Conversation]]:
    """Return the conversations of each dataset by name.

    Args:
        entries: One or more DATASET=PATH.
        step: Use every n-th conversation of LongMemEval, which has one per question.
        limit: Maximum conversations of each.

    Raises:
        InvalidInput: If an entry is malformed, or its file is missing.
    """
    chosen: dict[str, list[Conversation]] = {}
    for entry in entries:
        name, _, path = entry.partition("=")
        if name not in tuple(Dataset) or not path:
            raise InvalidInput(
                f"{entry!r} names no dataset. Use DATASET=PATH with one of {', '.join(Dataset)}."
            )
        every = step if name == Dataset.LONGMEMEVAL else 1
        chosen[name] = list(
            islice(islice(LOADERS[Dataset(name)](Path(path)), 0, None, every), limit)
        )
    return chosen
