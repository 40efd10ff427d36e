"""forget_memory: delete a user's data in two calls, with a confirmation between them."""

import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED

_PROCESS_KEY: Final = secrets.token_bytes(32)
"""Key of the confirmations of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetArguments:
    """Arguments of `forget_memory`; exactly one target is given.

    Attributes:
        memory_id: A memory, with the turns that it was read from.
        entity: A name: everything that mentions it.
        session: A session.
        everything: All data of the user.
        confirmation: What the first call returned, once the user agreed; None deletes nothing.
    """

    __pydantic_config__ = CLOSED

    memory_id: (
        Annotated[str, Field(description="ID of a memory to delete, with its source turns.")] | None
    ) = None
    entity: Annotated[str, Field(description="Name; deletes all that mentions it.")] | None = None
    session: Annotated[str, Field(description="ID of a session to delete.")] | None = None
    everything: Annotated[bool, Field(description="Delete all data of the user.")] = False
    confirmation: (
        Annotated[str, Field(description="What the first call returned, once the user has agreed.")]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """Result of `forget_memory`.

    Attributes:
        deleted: Whether it was deleted.
        description: What was or would be deleted, for the user.
        confirmation: To be passed with the same target; None once it is deleted, or if nothing
            matches.
    """

    deleted: bool
    description: str
    confirmation: str | None


async def forget_memory(memory: Memory, user_id: str, arguments: ForgetArguments) -> ForgetReport:
    """Preview a deletion, or carry out one whose preview was confirmed.

    Raises:
        InvalidInput: If not exactly one target is given, or the confirmation is not the one of this
            target, or what matches has changed since.
        DeletionChanged: If it changes at this moment; nothing is deleted.
        StoreError: If the memory cannot be written.
    """
    target: dict[str, Any] = {
        "memory_id": arguments.memory_id,
        "entity": arguments.entity,
        "session_id": arguments.session,
        "everything": arguments.everything,
    }
    given = arguments.confirmation
    preview = await memory.forget(user_id=user_id, **target, dry_run=True)
    if not preview.anything:
        return ForgetReport(False, "Nothing of it is stored.", None)
    expected = _confirmation(user_id, target, preview.fingerprint)
    if given is None:
        return ForgetReport(False, f"{preview.summary()} would be deleted for good.", expected)
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise InvalidInput(
            "confirmation is not valid for this target, or what matches it has changed. Call again "
            "without confirmation, and ask the user."
        )
    deleted = await memory.forget(user_id=user_id, **target, confirmed=preview.ids)
    return ForgetReport(True, str(deleted), None)


def _confirmation(user_id: str, target: dict[str, Any], fingerprint: str) -> str:
    """Return the code that confirms this deletion, of this user, of what has this fingerprint."""
    stated = json.dumps([user_id, target, fingerprint], sort_keys=True).encode()
    return hmac.digest(_PROCESS_KEY, stated, "sha256").hex()[:12]
