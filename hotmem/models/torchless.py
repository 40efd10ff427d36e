"""Import spaCy without torch, which it loads wherever it is installed and which its English model does not use."""

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
"""Packages that run torch through spaCy; where one is installed, spaCy must see torch."""


class _Hidden(MetaPathFinder):
    """Hides torch from the thread that made this finder; other threads import it as ever."""

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
    """Within this block the calling thread cannot import torch, unless it is loaded already.

    With torch spaCy takes 3 s longer to import and the process 490 MB more.
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
