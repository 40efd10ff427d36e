"""Subcategories, and the input and result of finding them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from hotmem.types.vocabulary import Category

if TYPE_CHECKING:
    from hotmem.types.arrays import Vector, Vectors


@dataclass(frozen=True, slots=True)
class Subcategory:
    """A cluster of a category's memories.

    Attributes:
        category: The category.
        name: Its first keywords; it keeps its name while most of its memories stay together.
        keywords: Words more frequent in its memories than in the rest of the category, highest
            weight first.
        memories: Number of its memories.
        digest: Its most central statements.
        since: When it first existed, UTC.
        evolved_at: When the category was last clustered, UTC.
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
    """The memories of a category to be clustered, and their current subcategories.

    Attributes:
        keys: Row numbers.
        ids: Memory ids.
        texts: Texts.
        tags: Tags of each.
        rows: Embeddings, unit rows, float32 (memories, dimension).
        named: By subcategory name, the row numbers of its memories and when it first existed.
        total: Number of memories in the category, those that are not clustered included.
    """

    keys: tuple[int, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    rows: Vectors
    named: dict[str, tuple[frozenset[int], datetime]]
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class SubcategoryDraft:
    """A subcategory that is not live yet.

    Attributes:
        name: Its name.
        keywords: Its keywords.
        examples: Ids of its most central memories.
        since: When it first existed, UTC.
        centroid: Mean of its memories' embeddings, a unit row.
        members: Row numbers of its memories.
    """

    name: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    since: datetime
    centroid: Vector
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvolutionResult:
    """The result of clustering a category.

    Attributes:
        category: The category.
        memories: Number of its memories.
        subcategories: Names of its subcategories.
        new: Names of those that did not exist before.
        decision: Id of the decision, for undoing it; None if nothing changed.
    """

    category: Category
    memories: int
    subcategories: tuple[str, ...]
    new: tuple[str, ...]
    decision: str | None
