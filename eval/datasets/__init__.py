"""Datasets by name, one module per format; each becomes `Conversation`."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from eval.datasets import beam, everyday, hotmem, locomo, locomo_plus, longmemeval, realtalk, talks
from eval.datasets.base import Conversation, Question, Session

__all__ = ["LOADERS", "Conversation", "Dataset", "Question", "Session"]


class Dataset(StrEnum):
    """A dataset that can be run."""

    LOCOMO = "locomo"
    REALTALK = "realtalk"
    LONGMEMEVAL = "longmemeval"
    BEAM = "beam"
    EVERYDAY = "everyday"
    LOCOMO_PLUS = "locomo_plus"
    HOTMEM = "hotmem"
    TALKS = "talks"


LOADERS: Final[Mapping[Dataset, Callable[[Path], Iterator[Conversation]]]] = {
    Dataset.LOCOMO: locomo.load,
    Dataset.REALTALK: realtalk.load,
    Dataset.LONGMEMEVAL: longmemeval.load,
    Dataset.BEAM: beam.load,
    Dataset.EVERYDAY: everyday.load,
    Dataset.LOCOMO_PLUS: locomo_plus.load,
    Dataset.HOTMEM: hotmem.load,
    Dataset.TALKS: talks.load,
}
