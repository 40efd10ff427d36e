"""`Tool`: a memory operation with name, description and schema, for MCP and language models."""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import checked, schema
from hotmem.operations.results import as_json
from hotmem.storage.sqlite.files import make_folder
from hotmem.types import Act, Action

CHANGING: Final = (
    "edit_memory",
    "merge_memories",
    "optimize_tags",
    "evolve_categories",
    "edit_subcategory",
    "undo_decision",
    "retry_jobs",
    "import_memories",
    "repair_index",
)
"""Tools that change a memory."""

NOT_AUDITED: Final = (
    "store_memory",
    "search_memory",
    "search_contextual",
    "trace_search",
    "export_memories",
    "backup_restore",
    "discover_memory_tools",
    "validate_storage",
    "forget_memory",
)
"""Tools whose operations write the audit log themselves, or that return no stored text."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A memory operation offered to language models, MCP clients and the command line.

    Attributes:
        name: Name in all interfaces.
        description: What it does, for a language model or a person.
        group: "memory", "maintenance", "analysis", "migration" or "debugging".
        arguments: Class of its arguments.
        run: Function of memory, user ID and arguments.
        files: Arguments that are file names.
        whole_file: Whether it works on the whole memory file with all users; never offered by a
            server for one user.
        deletes: Whether it deletes what cannot be restored by another tool; clients may ask the
            person first.
    """

    name: str
    description: str
    group: str
    arguments: type[Any]
    run: Callable[[Memory, str, Any], Awaitable[object]]
    files: tuple[str, ...] = ()
    whole_file: bool = False
    deletes: bool = False

    @property
    def action(self) -> Action | None:
        """Action in the audit log; None if `call` does not write an entry."""
        if self.name in NOT_AUDITED:
            return None
        return Action.CHANGE if self.name in CHANGING else Action.READ

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return schema(self.arguments)

    async def call(
        self, memory: Memory, user_id: str, arguments: Mapping[str, Any], folder: Path | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Validate the arguments, run the tool and return its result as JSON data.

        Args:
            memory: An open memory.
            user_id: User ID.
            arguments: Arguments by name.
            folder: Only folder in which the tool may use files; None allows any path.

        Raises:
            InvalidInput: If an argument is unknown, missing or invalid.
            StoreError: If the file cannot be read or written.
        """
        request = checked(self.arguments, arguments)
        if folder is not None:
            given = {
                name: value for name in self.files if (value := getattr(request, name)) is not None
            }
            paths = {name: _path_in(folder, name, value) for name, value in given.items()}
            request = replace(request, **paths)
        result = await self.run(memory, user_id, request)
        if self.action is not None:
            await memory.audit(
                Act(self.action, self.name), user_id=None if self.whole_file else user_id
            )
        return as_json(result)


def _path_in(folder: Path, name: str, value: str) -> str:
    """Return the path of a plain file name in the folder, which is created if missing."""
    if value in (".", "..") or Path(value).name != value or (folder / value).is_symlink():
        raise InvalidInput(f"{name} is {value!r}. Pass a file name without folders, in {folder}.")
    make_folder(folder)
    if folder.is_symlink() or (hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid()):
        raise InvalidInput(
            f"{folder} is a link or belongs to another account. "
            "Remove it, or name a folder of your own."
        )
    return str(folder / value)
