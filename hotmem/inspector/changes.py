"""All that the page changes, each by the tool that does it everywhere: edit, merge, forget, undo.

What cannot be taken back is asked for twice.
"""

import contextlib
from datetime import datetime, tzinfo
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hotmem.errors import InvalidInput
from hotmem.inspector.guard import form
from hotmem.inspector.site import Site, found, key
from hotmem.operations.requests import checked
from hotmem.tools.editing import EditArguments, edit_memory
from hotmem.tools.maintenance import MergeArguments, UndoArguments, merge_memories, undo_decision

REASON = "by hand, in the inspector"


async def edit(site: Site, request: Request) -> Response:
    """Changes a memory as a form says."""
    fields = await form(request, site.form_token)
    rows = await site.rows()
    memory = found(await rows.memory(key(request)))
    asked: dict[str, Any] = {"id": memory.row.id, "reason": REASON}
    asked |= {
        name: fields[name]
        for name in ("content", "category", "kind", "importance", "note")
        if name in fields
    }
    if (
        "tags" in fields
        and (tags := tuple(tag.strip() for tag in fields["tags"].split(",") if tag.strip()))
        != memory.tags
    ):
        asked["tags"] = tags
    if fields.get("until"):
        asked["expires_at"] = _date(fields["until"], site.zone)
    elif "holds" in fields:
        asked["holds"] = fields["holds"] == "yes"
    edited = await edit_memory(site.memory, site.user_id, checked(EditArguments, asked))
    row = (await rows.memories_by_id([edited.id]))[edited.id]
    return site.go(f"/memories/{row.key}?done={'edited' if edited.changed else 'unchanged'}")


async def asked_merge(site: Site, request: Request) -> Response:
    """Asks which of the memories that were chosen stays."""
    rows = await site.rows()
    memories = await rows.memories_by_key(_keys(request.query_params.getlist("key")))
    if len(memories) < 2:
        raise InvalidInput("Tick at least two memories that say the same, then press “Merge”.")
    return site.show("merge.html", memories=memories)


async def merge(site: Site, request: Request) -> Response:
    """Lets one memory stand for others."""
    fields = await form(request, site.form_token)
    rows = await site.rows()
    memories = {
        row.key: row for row in await rows.memories_by_key(_keys(fields.get("keys", "").split(",")))
    }
    (into,) = [row for row in memories.values() if str(row.key) == fields.get("into")] or [
        found(None)
    ]
    ids = tuple(row.id for row in memories.values() if row is not into)
    await merge_memories(
        site.memory,
        site.user_id,
        checked(MergeArguments, {"into": into.id, "ids": ids, "reason": REASON}),
    )
    return site.go(f"/memories/{into.key}?done=merged")


async def asked_forget(site: Site, request: Request) -> Response:
    """Shows what would go, and asks."""
    what, number = request.query_params.get("what", ""), request.query_params.get("key", "")
    return site.show("forget.html", what=what, key=number, thing=await _thing(site, what, number))


async def forget(site: Site, request: Request) -> Response:
    """Removes what was asked for, everywhere."""
    fields = await form(request, site.form_token)
    what = fields.get("what", "")
    thing = await _thing(site, what, fields.get("key", ""))
    match what:
        case "memory":
            receipt, to = (
                await site.memory.forget(user_id=site.user_id, memory_id=thing.row.id),
                "/memories",
            )
        case "conversation":
            receipt, to = (
                await site.memory.forget(user_id=site.user_id, session_id=thing.id),
                "/conversations",
            )
        case "name":
            receipt, to = (
                await site.memory.forget(user_id=site.user_id, entity=thing.name),
                "/names",
            )
        case _:
            if fields.get("typed") != site.user_id:
                raise InvalidInput(
                    f"Nothing was forgotten. To forget everything, type {site.user_id} into the field."
                )
            receipt, to = await site.memory.forget(user_id=site.user_id, everything=True), "/"
    return site.go(f"{to}?done={'forgotten' if receipt.emptied else 'forgotten_read'}")


async def undo(site: Site, request: Request) -> Response:
    """Takes a decision back."""
    fields = await form(request, site.form_token)
    await undo_decision(
        site.memory, site.user_id, checked(UndoArguments, {"decision": fields.get("decision", "")})
    )
    return site.go("/changes?done=undone")


async def _thing(site: Site, what: str, number: str) -> Any:  # noqa: ANN401 - a row of one of three sorts
    """What is to be forgotten, if it is there and the user's."""
    rows = await site.rows()
    reads = {"memory": rows.memory, "conversation": rows.session, "name": rows.entity}
    if what == "everything":
        return await rows.totals()
    numbers = _keys([number])
    return found(await reads[what](numbers[0]) if what in reads and numbers else None)


def _keys(texts: list[str]) -> list[int]:
    """Row numbers of what may be anything."""
    return [
        int(text)
        for text in dict.fromkeys(texts)
        if text.isascii() and text.isdecimal() and len(text) < 19
    ]


def _date(text: str, zone: tzinfo | None) -> datetime:
    """The beginning of a day, by the page's clock.

    Raises:
        InvalidInput: If it is none.
    """
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone).astimezone(zone)
    raise InvalidInput(f"{text[:40]!r} is no date. Write it as year-month-day, such as 2026-12-31.")
