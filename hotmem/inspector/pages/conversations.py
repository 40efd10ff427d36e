"""Conversations: the list, one conversation with its summary, and one turn with its recalls."""

from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.changes import Site, cursor, found, key

SESSIONS: Final = 50
TURNS: Final = 100

RECALL_WINDOW: Final = timedelta(minutes=5)
"""Maximum time between a turn and its recall: a turn has the time of its start, a recall that of
its end."""


async def list_page(site: Site, request: Request) -> Response:
    """Show the list."""
    rows = await site.rows()
    return site.show(
        "conversations.html",
        sessions=await rows.sessions(cursor(request), SESSIONS),
        done=request.query_params.get("done"),
    )


async def detail_page(site: Site, request: Request) -> Response:
    """Show one conversation."""
    rows = await site.rows()
    session = found(await rows.session(key(request)))
    turns = await rows.turns(session.key, cursor(request), TURNS)
    summary = await site.memory.summary(user_id=site.user_id, session_id=session.id)
    sentences = (
        () if summary is None else (*summary.narrative, *summary.decisions, *summary.open_loops)
    )
    keys = await rows.turn_keys([sentence.turn_id for sentence in sentences])
    return site.show("conversation.html", session=session, turns=turns, summary=summary, keys=keys)


async def turn_page(site: Site, request: Request) -> Response:
    """Show one turn."""
    rows = await site.rows()
    turn = found(await rows.turn(key(request)))
    recalls = await rows.recalls_for(
        turn.session_id, turn.text, turn.spoken_at - RECALL_WINDOW, turn.spoken_at + RECALL_WINDOW
    )
    return site.show(
        "turn.html", turn=turn, memories=await rows.read_from(turn.key), recalls=recalls
    )
