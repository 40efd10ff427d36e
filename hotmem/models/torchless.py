"""Import spaCy without torch.

spaCy imports torch wherever it is installed, although its English pipeline does not use it.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import get_ident
from types import ModuleType
from typing import Final

USERS: Final = (
    "spacy_transformers",
    "spacy_curated_transformers",
    "curated_transformers",
    "spacy_llm",
)
"""Packages that use torch through spaCy; torch is not hidden where one of them is installed."""


class _Hidden(MetaPathFinder):
    """Hides torch from imports in the thread that created this finder."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "torch" and get_ident() == self._thread:
            raise ModuleNotFoundError("torch is hidden while spaCy is imported", name=name)
        return None


@contextmanager
def torch_hidden() -> Iterator[None]:
    """Hide torch from the calling thread within this block, unless it is already imported.

    Importing torch with spaCy takes seconds and hundreds of megabytes.
    """
    if "torch" in sys.modules or any(find_spec(user) is not None for user in USERS):
        yield
        return
    finder = _Hidden()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
