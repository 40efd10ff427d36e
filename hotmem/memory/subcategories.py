"""`Memory.subcategories`: common topics of a category."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.memory.runtime import Runtime
from hotmem.storage import queries
from hotmem.text.validation import validate_text
from hotmem.types import Category, EvolutionResult, Subcategory, UserKey

MAX_NAME_CHARACTERS: Final = 80


class Subcategories:
    """Subcategories of the categories.

    Args:
        runtime: The memory that they are in.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def of_user(self, user_id: str) -> list[Subcategory]:
        """The user's subcategories, by category, the largest first."""
        return await self._runtime.read(user_id, [], queries.subcategories.of_user)

    async def evolve(
        self, user_id: str, *, category: Category | None = None
    ) -> list[EvolutionResult]:
        """Finds a user's subcategories again now; the worker does so every few hours.

        Args:
            user_id: Whose memory.
            category: Which category; None for all.

        Raises:
            InvalidInput: If there is no such category.
            StoreError: If they could not be written; they stay as they were.
        """
        if category is not None:
            validate_category(category)
        user = await self._runtime.find_user(user_id)
        if user is None:
            return []
        return await self._runtime.worker.evolve(user, Category if category is None else [category])

    async def rename(self, user_id: str, category: Category, name: str, new_name: str) -> str:
        """Renames and pins a subcategory. Line breaks and tabs in the new name become spaces.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If there is no such subcategory, or another has the new name.
            StoreError: If it could not be written.
        """
        user = await self._owner(user_id, category, name)
        new_name = " ".join(validate_text(new_name, "new_name", MAX_NAME_CHARACTERS).split())
        return await self._runtime.database.write(
            queries.subcategories.rename, user, category, name, new_name, datetime.now(UTC)
        )

    async def merge(
        self, user_id: str, category: Category, into: str, others: Sequence[str]
    ) -> str:
        """Moves the memories of subcategories into another one, which is pinned.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If one of them does not exist, or is named twice.
            StoreError: If it could not be written.
        """
        user = await self._owner(user_id, category, into)
        return await self._runtime.database.write(
            queries.subcategories.merge, user, category, into, others, datetime.now(UTC)
        )

    async def split(self, user_id: str, category: Category, name: str) -> str:
        """Splits a subcategory by topic into two or three, which are pinned.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If there is no such subcategory, or its memories share one topic.
            StoreError: If it could not be written.
        """
        user = await self._owner(user_id, category, name)
        return await self._runtime.worker.split(user, category, name)

    async def pin(self, user_id: str, category: Category, name: str, *, pinned: bool = True) -> str:
        """Keeps a subcategory as it is when its category evolves, or lets it change again.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If there is no such subcategory.
            StoreError: If it could not be written.
        """
        user = await self._owner(user_id, category, name)
        return await self._runtime.database.write(
            queries.subcategories.pin, user, category, name, pinned, datetime.now(UTC)
        )

    async def _owner(self, user_id: str, category: Category, name: str) -> UserKey:
        """The key of the user, for a change of a subcategory of this name."""
        validate_category(category)
        user = await self._runtime.find_user(user_id)
        if user is None:
            raise queries.subcategories.missing(category, name)
        return user


def validate_category(category: str) -> None:
    """Check that there is a category of this name.

    Raises:
        InvalidInput: If there is none.
    """
    if category not in tuple(Category):
        raise InvalidInput(f"category is {category!r}. Use one of: {', '.join(Category)}.")
