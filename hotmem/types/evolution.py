"""What categories evolve into."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hotmem.types.vocabulary import Category, Vector


@dataclass(frozen=True, slots=True)
class Subcategory:
    """A part of a category that has shown itself in what is known.

    Attributes:
        category: The category.
        name: Its most telling keywords; it stays while most of what is in it does.
        keywords: Words that its memories hold more often than the rest of the category, the most
            telling first.
        memories: How many are in it.
        digest: The statements that stand for it best.
        since: When it was first there, UTC.
        evolved_at: When the category last evolved, UTC.
    """

    category: Category
    name: str
    keywords: tuple[str, ...]
    memories: int
    digest: tuple[str, ...]
    since: datetime
    evolved_at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class CategoryMembers:
    """The memories of a category that are clustered, and where they are now.

    Attributes:
        keys: Row numbers.
        ids: Their ids.
        texts: Their words.
        rows: Their embeddings, unit rows, float32 (memories, dimension).
        named: The memories of each live subcategory, by row number, and since when it is there, by
            its name.
        total: Memories of the category, those among them that are not clustered.
    """

    keys: tuple[int, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    rows: NDArray[np.float32]
    named: dict[str, tuple[frozenset[int], datetime]]
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class SubcategoryDraft:
    """A subcategory as it is to be.

    Attributes:
        name: Its name.
        keywords: Its words.
        examples: Ids of the memories that stand for it best.
        since: When it was first there, UTC.
        centroid: The mean of its memories' embeddings, a unit row.
        members: Row numbers of the memories in it.
    """

    name: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    since: datetime
    centroid: Vector
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvolutionResult:
    """What became of a category.

    Attributes:
        category: The category.
        memories: How many it holds.
        subcategories: The names of its subcategories.
        new: Those among them that were not there before.
        decision: The decision's id, by which it can be taken back; None if nothing changed.
    """

    category: Category
    memories: int
    subcategories: tuple[str, ...]
    new: tuple[str, ...]
    decision: str | None
