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
        name: The topic of its memories, or what a person called it. It keeps its name while most
            of its memories stay together.
        keywords: Words more frequent in its memories than in the rest of the category, highest
            weight first.
        memories: Number of its memories.
        digest: Its most central statements.
        since: When it first existed, UTC.
        evolved_at: When the category was last clustered, UTC.
        pinned: Whether it keeps its name, its memories and its centroid when the category evolves.
    """

    category: Category
    name: str
    keywords: tuple[str, ...]
    memories: int
    digest: tuple[str, ...]
    since: datetime
    evolved_at: datetime
    pinned: bool


@dataclass(frozen=True, slots=True, eq=False)
class FormerSubcategory:
    """A subcategory as it is before its category evolves.

    Attributes:
        members: Row numbers of its memories.
        since: When it first existed, UTC.
        keywords: Its keywords.
        pinned: Whether it stays as it is.
        centroid: Mean of its memories' embeddings, a unit row; None while unknown.
    """

    members: frozenset[int]
    since: datetime
    keywords: tuple[str, ...] = ()
    pinned: bool = False
    centroid: Vector | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CategoryMembers:
    """The memories of a category to be clustered, and their current subcategories.

    Attributes:
        keys: Row numbers.
        ids: Memory ids.
        texts: Texts.
        tags: Tags of each.
        rows: Embeddings, unit rows, float32 (memories, dimension).
        named: The subcategories by name.
        total: Number of memories in the category, those that are not clustered included.
    """

    keys: tuple[int, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    rows: Vectors
    named: dict[str, FormerSubcategory]
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
        pinned: Whether it stays as it is when the category evolves.
    """

    name: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    since: datetime
    centroid: Vector
    members: tuple[int, ...]
    pinned: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class EvolutionDraft:
    """The subcategories of a category that are not live yet.

    Attributes:
        subcategories: The subcategories; memories that are in none stay in the category itself.
        centre: Direction that all memories of the category share, a unit row.
    """

    subcategories: tuple[SubcategoryDraft, ...]
    centre: Vector


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
