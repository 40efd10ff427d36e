"""A question asked on the page: what memory would give a bot for it, and why."""

from dataclasses import replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.core.stage_timer import StageTimer
from hotmem.inspector.site import Site
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import rank
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import retrieve
from hotmem.retrieval.context import RecallRequest as Question
from hotmem.text.validation import clean_text
from hotmem.types import ContextBlock

DROPPED: Final = 20
"""Candidates shown that were not given, the best."""


async def show(site: Site, request: Request) -> Response:
    """The page, with the answer if something is asked.

    What was left out is worked out anew, and only if it is wanted.
    """
    question = clean_text(request.query_params.get("q", ""))
    if not question:
        return site.show("ask.html", question="", block=None)
    rows = await site.rows()
    session = await _session(site, request)
    block = await site.memory.recall(question, user_id=site.user_id, session_id=session)
    dropped = (
        await site.lane.run(left_out(site, block)) if "dropped" in request.query_params else None
    )
    items = [(item.memory_id, item.turn_ids) for item in block.items]
    items += [(one.evidence.memory_id, one.evidence.turn_ids) for one in dropped or ()]
    memories = await rows.memories_by_id([memory for memory, _ in items if memory])
    turns = await rows.turn_keys([turn for _, ids in items for turn in ids])
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


async def left_out(site: Site, block: ContextBlock) -> list[ScoredCandidate]:
    """The best candidates for the question that the block does not hold.

    A language model that rewrites works in the recalls' own lane: not here.
    """
    reader = replace(site.memory.runtime.recall, rewriter=None)
    request = Question(
        block.query,
        block.user_id,
        block.session_id,
        block.at,
        site.memory.options.recall.max_tokens,
    )
    found = await retrieve(reader, request, StageTimer())
    if not found.candidates:
        return []
    ranking = rank(
        found.query,
        found.candidates,
        candidate_features(found.query, found.candidates),
        reader.model,
        found.profile.weights,
        request.max_tokens,
    )
    statements, _ = deduplicate(ranking.candidates)
    given = {(item.kind, item.memory_id or item.turn_ids) for item in block.items}
    return [
        one
        for one in statements
        if (one.evidence.kind, one.evidence.memory_id or one.evidence.turn_ids) not in given
    ][:DROPPED]


async def _session(site: Site, request: Request) -> str | None:
    """The id of the conversation that the question is asked in, by its row number.

    None without one.
    """
    number = request.query_params.get("session", "")
    session = (
        await (await site.rows()).session(int(number))
        if number.isdecimal() and len(number) < 19
        else None
    )
    return None if session is None else session.id
