"""What was said: conversations, one with its summary, and one turn with what was read from it and what memory gave for it."""

from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.site import Site, found, key, place

SESSIONS: Final = 50
TURNS: Final = 100

AROUND: Final = timedelta(minutes=5)
"""A recall belongs to the turn of its words if it was asked so near to it: the bot asks when the
turn ends, and keeps when it began."""


async def listed(site: Site, request: Request) -> Response:
    """The list."""
    rows = await site.rows()
    return site.show(
        "conversations.html",
        sessions=await rows.sessions(place(request), SESSIONS),
        done=request.query_params.get("done"),
    )


async def one(site: Site, request: Request) -> Response:
    """One conversation."""
    rows = await site.rows()
    session = found(await rows.session(key(request)))
    turns = await rows.turns(session.key, place(request), TURNS)
    summary = await site.memory.summary(user_id=site.user_id, session_id=session.id)
    told = () if summary is None else (*summary.narrative, *summary.decisions, *summary.open_loops)
    keys = await rows.turn_keys([sentence.turn_id for sentence in told])
    return site.show("conversation.html", session=session, turns=turns, summary=summary, keys=keys)


async def turn(site: Site, request: Request) -> Response:
    """One turn."""
    rows = await site.rows()
    said = found(await rows.turn(key(request)))
    recalls = await rows.recalls_for(
        said.session_id, said.text, said.spoken_at - AROUND, said.spoken_at + AROUND
    )
    return site.show(
        "turn.html", turn=said, memories=await rows.read_from(said.key), recalls=recalls
    )
