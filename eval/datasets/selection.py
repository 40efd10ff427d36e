"""Several datasets at once, as commands name them: DATASET=PATH."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from eval.datasets import LOADERS, Conversation, Dataset
from hotmem.errors import InvalidInput


def selected(
    entries: Iterable[str], step: int, limit: int | None = None
) -> dict[str, list[Conversation]]:
    """The conversations of each dataset, by its name.

    Args:
        entries: DATASET=PATH, one a dataset.
        step: Every n-th conversation of LongMemEval is taken, which has one a question.
        limit: Conversations of each at most.

    Raises:
        InvalidInput: If an entry has another form, or its file is missing.
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
