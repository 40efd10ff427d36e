"""Pages that list what is stored: memories, conversations, names, decisions, replies."""

from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from hotmem.core.graph_layout import Canvas, draw_graph
from hotmem.core.validation import counted
from hotmem.errors import InvalidInput
from hotmem.inspector.changes import Site, cursor, found, key
from hotmem.inspector.pages.learning import latest_month
from hotmem.ranking.relevance import SOURCE_TRUST, confidence, is_doubted, is_replaced
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection, conversations, statements
from hotmem.storage.search.searches import LexicalSearch
from hotmem.text.passages import MAX_QUERY_CHARACTERS, truncate
from hotmem.tools.maintenance import DecisionsArguments, memory_decisions
from hotmem.types import Category, DecisionAction, Evidence, EvidenceKind, Kind
from hotmem.types.inspection import EntityRow, MemoryDetails, MemoryFilter, MemoryRow, Page

ROWS: Final = 50

MAX_MATCHES: Final = 200
"""Maximum memories found by words."""

VALIDITY: Final = {"": None, "now": True, "past": False}
"""Values of the filter by validity."""

T = TypeVar("T", Kind, Category)


async def list_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the list."""
    asked = request.query_params
    words = asked.get("words", "").strip()
    wanted = MemoryFilter(
        now=datetime.now(UTC),
        kind=_one_of(Kind, asked.get("kind", "")),
        category=_one_of(Category, asked.get("category", "")),
        holds=VALIDITY.get(asked.get("standing", "")),
        tag=asked.get("tag", "").strip().lower() or None,
        keys=await _matching(site, rows, words) if words else None,
    )
    memories: Page[MemoryRow] = await rows.read(statements.memories, wanted, cursor(request), ROWS)
    filters = {
        name: asked.get(name, "") for name in ("words", "kind", "category", "standing", "tag")
    }
    return site.show(
        "memories.html", memories=memories, filters=filters, now=wanted.now, done=asked.get("done")
    )


async def detail_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show one memory."""
    now = datetime.now(UTC)
    memory: MemoryDetails = found(await rows.read(statements.memory, key(request)))
    evidence = await site.memory.runtime.database.read(
        queries.evidence.load, rows.user, {EvidenceKind.MEMORY: [memory.row.key]}
    )
    known = next(one for one in evidence if one.key == memory.row.key)
    return site.show(
        "memory.html",
        memory=memory,
        now=now,
        confidence=confidence(known, now),
        reasons=reasons(memory, known, now),
        done=request.query_params.get("done"),
    )


def reasons(memory: MemoryDetails, evidence: Evidence, now: datetime) -> list[str]:
    """Explain the confidence of a memory, in sentences."""
    sentences = [
        f"Statements extracted from speech start at {SOURCE_TRUST[EvidenceKind.MEMORY]:.0%}."
    ]
    if memory.hedged:
        sentences.append("It was hedged (“maybe”, “I think”), which lowers it.")
    if memory.changes:
        sentences.append("It can change with time, so confidence decreases every year.")
    if memory.confirmations:
        sentences.append(
            f"It was confirmed {counted(memory.confirmations, 'time')}, which raises it."
        )
    if is_replaced(evidence, now):
        sentences.append("It is no longer valid, which lowers it most.")
    elif is_doubted(evidence, now):
        sentences.append("Something said later may contradict it, which lowers it.")
    return sentences


async def _matching(site: Site, rows: Inspection, words: str) -> tuple[int, ...]:
    """Return the row numbers of memories that contain all words, best match first."""
    (ranked,) = await site.memory.runtime.storage.engine.search(
        rows.user,
        LexicalSearch(EvidenceKind.MEMORY, [truncate(words, MAX_QUERY_CHARACTERS)], MAX_MATCHES),
    )
    return tuple(key for key, _ in ranked)


def _one_of(kind: type[T], value: str) -> T | None:
    """Return the member of an enumeration; None for "".

    Raises:
        InvalidInput: If there is no such member.
    """
    if not value:
        return None
    if value not in tuple(kind):
        raise InvalidInput(
            f"{value[:40]!r} is not a {kind.__name__.lower()}. Use one of: {', '.join(kind)}."
        )
    return kind(value)


async def page(site: Site, _: Inspection, request: Request) -> Response:
    """Show the page."""
    known = await site.memory.subcategories.of_user(site.user_id)
    return site.show(
        "subcategories.html",
        categories=[
            (category, list(own)) for category, own in groupby(known, lambda one: one.category)
        ],
        done=request.query_params.get("done"),
    )


SESSIONS: Final = 50
TURNS: Final = 100

RECALL_WINDOW: Final = timedelta(minutes=5)
"""Maximum time between a turn and its recall: a turn has the time of its start, a recall that of
its end."""


async def conversation_list(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the list."""
    return site.show(
        "conversations.html",
        sessions=await rows.read(conversations.sessions, cursor(request), SESSIONS),
        done=request.query_params.get("done"),
    )


async def conversation_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show one conversation."""
    session = found(await rows.read(conversations.session, key(request)))
    turns = await rows.read(conversations.turns, session.key, cursor(request), TURNS)
    summary = await site.memory.lookup.summary(user_id=site.user_id, session_id=session.id)
    sentences = (
        () if summary is None else (*summary.narrative, *summary.decisions, *summary.open_loops)
    )
    keys = await rows.read(conversations.turn_keys, [sentence.turn_id for sentence in sentences])
    return site.show("conversation.html", session=session, turns=turns, summary=summary, keys=keys)


async def turn_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show one turn."""
    turn = found(await rows.read(conversations.turn, key(request)))
    recalls = await rows.read(
        statements.recalls_for,
        turn.session_id,
        turn.text,
        turn.spoken_at - RECALL_WINDOW,
        turn.spoken_at + RECALL_WINDOW,
    )
    return site.show(
        "turn.html",
        turn=turn,
        memories=await rows.read(statements.read_from, turn.key),
        recalls=recalls,
    )


DECISION_ROWS: Final = 200


async def decision_list(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the list, of one action or of all."""
    action = request.query_params.get("action") or None
    if action is not None and action not in tuple(DecisionAction):
        raise InvalidInput(f"{action[:40]!r} is not an action. Choose one from the list.")
    actions = () if action is None else (DecisionAction(action),)
    decisions = (
        await memory_decisions(
            site.memory, site.user_id, DecisionsArguments(limit=DECISION_ROWS, actions=actions)
        )
    ).decisions
    ids = [
        name for one in decisions for name in (*one.memory_ids, *((one.into,) if one.into else ()))
    ]
    memories = await rows.read(statements.by_names, ids)
    return site.show(
        "changes.html",
        decisions=decisions,
        memories=memories,
        action=action,
        rows=DECISION_ROWS,
        done=request.query_params.get("done"),
    )


NAMES_DRAWN: Final = 40
"""Maximum names in the network."""

CANVAS: Final = Canvas()

NAME_ROWS: Final = 100
COOCCURRING: Final = 20
MENTIONS: Final = 25


async def name_list(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the network and the list."""
    asked = request.query_params
    begins, at = asked.get("begins", "").strip(), cursor(request)
    names = await rows.read(statements.entities, begins, at, NAME_ROWS)
    drawing, entities = None, tuple[EntityRow, ...]()
    if not begins and at is None:
        graph = await rows.read(statements.graph, NAMES_DRAWN)
        entities = graph.entities
        counts = [one.turns + one.memories for one in entities]
        drawing = draw_graph(counts, graph.links, CANVAS, largest_component=True)
    return site.show(
        "names.html",
        names=names,
        begins=begins,
        drawing=drawing,
        entities=entities,
        done=asked.get("done"),
    )


async def name_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show one name."""
    name = found(await rows.read(statements.entity, key(request)))
    return site.show(
        "name.html",
        name=name,
        memories=await rows.read(statements.mentioning, name.key, MENTIONS),
        turns=await rows.read(conversations.mentioning, name.key, cursor(request), MENTIONS),
        cooccurring=await rows.read(statements.beside, name.key, COOCCURRING),
        now=datetime.now(UTC),
    )


REPLY_ROWS: Final = 50


async def reply_list(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the list."""
    return site.show(
        "replies.html", recalls=await rows.read(statements.recalls, cursor(request), REPLY_ROWS)
    )


async def reply_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show one recall."""
    recall = found(await rows.read(statements.recall, key(request)))
    reply = None
    if recall.session_id:
        asked_at = recall.asked_at
        reply = await rows.read(
            conversations.reply_to, recall.session_id, asked_at, asked_at + RECALL_WINDOW
        )
    return site.show(
        "reply.html",
        recall=recall,
        items=await rows.read(statements.items, recall.key),
        reply=reply,
    )


LATEST: Final = 8
"""Memories and conversations shown."""


async def overview_page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the overview_page."""
    latest = await rows.read(
        statements.memories, MemoryFilter(datetime.now(UTC), holds=True), None, LATEST
    )
    sessions = await rows.read(conversations.sessions, None, LATEST)
    return site.show(
        "overview.html",
        totals=await rows.read(conversations.totals),
        helped=await latest_month(rows),
        memories=latest.rows,
        sessions=sessions.rows,
        done=request.query_params.get("done"),
    )
