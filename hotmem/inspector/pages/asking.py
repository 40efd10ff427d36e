"""Ask: the context block for a question, and how it was made."""

from dataclasses import replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.block.quotes import quotes
from hotmem.core.timing import StageTimer
from hotmem.inspector.changes import Site, row_numbers
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import rank_retrieved, retrieve
from hotmem.retrieval.context import RecallRequest
from hotmem.storage.inspection import Inspection, conversations, statements
from hotmem.text.validation import clean_text
from hotmem.types import ContextBlock

MAX_DROPPED: Final = 20
"""Candidates shown that are not in the block, highest-ranked first."""


async def page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the context block for a question.

    Candidates that are not in the block are computed only on request.
    """
    question = clean_text(request.query_params.get("q", ""))
    if not question:
        return site.show("ask.html", question="", block=None)
    session = await _session(rows, request)
    block = await site.memory.recall(question, user_id=site.user_id, session_id=session)
    dropped = (
        await site.worker.run(dropped_candidates(site, block))
        if "dropped" in request.query_params
        else None
    )
    items = [(item.memory_id, item.turn_ids) for item in block.items]
    items += [(one.evidence.memory_id, one.evidence.turn_ids) for one in dropped or ()]
    memories = await rows.read(statements.by_names, [memory for memory, _ in items if memory])
    turns = await rows.read(conversations.turn_keys, [turn for _, ids in items for turn in ids])
    again = {"q": question, "session": request.query_params.get("session", "")}
    return site.show(
        "ask.html",
        question=question,
        again=again,
        block=block,
        dropped=dropped,
        memories=memories,
        turns=turns,
    )


async def dropped_candidates(site: Site, block: ContextBlock) -> list[ScoredCandidate]:
    """Return the highest-ranked candidates that are not in the block."""
    # The rewriter belongs to the recall thread and must not be used on this one.
    reader = replace(site.memory.runtime.recall, rewriter=None)
    request = RecallRequest(
        block.query,
        block.user_id,
        block.session_id,
        block.at,
        site.memory.runtime.options.recall.max_tokens,
    )
    found = await retrieve(reader, request, StageTimer())
    ranking = rank_retrieved(reader, found, request.max_tokens)
    statements, _ = quotes(ranking.candidates, found.query.index_language)
    given = {(item.kind, item.memory_id or item.turn_ids) for item in block.items}
    return [
        one
        for one in statements
        if (one.evidence.kind, one.evidence.memory_id or one.evidence.turn_ids) not in given
    ][:MAX_DROPPED]


async def _session(rows: Inspection, request: Request) -> str | None:
    """Return the session ID for the row number in the query string, or None."""
    numbers = row_numbers([request.query_params.get("session", "")])
    session = await rows.read(conversations.session, numbers[0]) if numbers else None
    return None if session is None else session.id
