"""edit_subcategory: rename, merge, split or pin a subcategory."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED
from hotmem.types import Category, Subcategory

Name = Annotated[str, Field(min_length=1, max_length=80)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditSubcategoryArguments:
    """Arguments of `edit_subcategory`: which subcategory, and exactly one change.

    Attributes:
        category: Its category.
        name: Its name.
        new_name: New name.
        merge: Names of subcategories whose memories move into it.
        split: True splits it by topic into two or three.
        pinned: True keeps it as it is when its category evolves; False lets it change again.
    """

    __pydantic_config__ = CLOSED

    category: Category
    name: Annotated[Name, Field(description="Name of the subcategory.")]
    new_name: Annotated[Name, Field(description="New name.")] | None = None
    merge: Annotated[
        tuple[Name, ...],
        Field(description="Names of subcategories whose memories move into it.", max_length=20),
    ] = ()
    split: Annotated[bool, Field(description="Split it by topic into two or three.")] = False
    pinned: (
        Annotated[bool, Field(description="True: keep it as it is; false: let it change again.")]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class SubcategoryChange:
    """Result of `edit_subcategory`.

    Attributes:
        decision: ID of the decision, for undoing it.
        subcategories: The subcategories of the category afterwards, largest first.
    """

    decision: str
    subcategories: tuple[Subcategory, ...]


async def edit_subcategory(
    memory: Memory, user_id: str, arguments: EditSubcategoryArguments
) -> SubcategoryChange:
    """Rename, merge, split or pin a subcategory. What was renamed, merged or split is pinned.

    Raises:
        InvalidInput: If not exactly one change is given, or it is impossible.
        StoreError: If it could not be written.
    """
    category, name = arguments.category, arguments.name
    changes = (
        arguments.new_name is not None,
        bool(arguments.merge),
        arguments.split,
        arguments.pinned is not None,
    )
    if sum(changes) != 1:
        raise InvalidInput(
            "Pass exactly one of new_name (--rename), merge (--merge), split (--split) and "
            "pinned (--pin, --unpin)."
        )
    if arguments.new_name is not None:
        decision = await memory.rename_subcategory(user_id, category, name, arguments.new_name)
    elif arguments.merge:
        decision = await memory.merge_subcategories(user_id, category, name, arguments.merge)
    elif arguments.split:
        decision = await memory.split_subcategory(user_id, category, name)
    else:
        decision = await memory.pin_subcategory(
            user_id, category, name, pinned=bool(arguments.pinned)
        )
    return SubcategoryChange(
        decision,
        tuple(one for one in await memory.subcategories(user_id) if one.category == category),
    )
