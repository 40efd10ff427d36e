"""The write path on one screen: turn → durable → vectors, facts, summaries, one line a stage.

    store_turn ─▶ database ─▶ worker ─┬▶ embed_rows         vectors, token signs
                                      ├▶ understand_turns   facts, corrections, entities
                                      └▶ summarise_session  topics, key sentences

`store_turn` returns once the turn is durable and can be found by its words. The other stages run in
the background (`hotmem.worker`), on rows that wait in the database.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Concatenate, Final, ParamSpec, TypeVar

import numpy as np

from hotmem.consolidation.summary import count_topics, render_summary, summarise
from hotmem.core.logs import log
from hotmem.errors import StoreError
from hotmem.models import Encoder, encode_tokens
from hotmem.readings import store_understanding
from hotmem.retrieval.context import FormerEncoder, RetrievalContext
from hotmem.retrieval.fusion import reciprocal_rank_fusion
from hotmem.revision.supersession import about_another, is_as_corrected, is_near, revise, said_later
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection
from hotmem.storage.queries.jobs import DueSession
from hotmem.storage.search.searches import IndexOf, LexicalSearch, VectorSearch, run
from hotmem.text.stemming import terms
from hotmem.types import (
    EvidenceKind,
    JobKind,
    Kind,
    Profile,
    QueryVectors,
    Revision,
    Role,
    SessionSummary,
    SignBits,
    StoredMemory,
    SummaryInput,
    Supersession,
    Topic,
    Turn,
    TurnContext,
    Understanding,
    UserKey,
    Vector,
)
from hotmem.understanding.private_statements import is_private, is_shown_unasked
from hotmem.understanding.query.entities import word_ngrams
from hotmem.understanding.turn_reader import MIN_COMPARED, TurnReader, parsed_text

P = ParamSpec("P")
T = TypeVar("T")

MAX_PAUSE: Final = timedelta(seconds=90)
"""Longest pause between two turns of one exchange, such as a question and its answer."""

NO_SIGNS: Final[SignBits] = np.empty((0, 0), dtype=np.uint8)
"""Token signs of summaries, which are not compared token by token."""

NEAREST: Final = 10
"""Memories by words and meaning that a turn is compared with."""

LATEST: Final = 4
"""Latest memories that it is compared with too, as they may not be embedded yet."""


WaitingText = tuple[EvidenceKind, int, str]
"""A row that waits to be embedded: kind, row number, text."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The live parts of the write path.

    Attributes:
        storage: The database.
        encoder: Texts → vectors.
        encoder_id: The encoder's identity in the database.
        reader: Turns → what they state.
        former: The database's former encoder, while rows still have its vectors.
        worker_id: Owner of the leases of this process's worker.
        extracts: Whether understood turns wait to be sent to a language model.
        summarises: Whether sessions that have ended wait for a summary by that model.
    """

    storage: Storage
    encoder: Encoder
    encoder_id: str
    reader: TurnReader
    former: FormerEncoder
    worker_id: str
    extracts: bool = False
    summarises: bool = False

    async def finish(
        self,
        user: UserKey,
        kind: JobKind,
        store: Callable[Concatenate[Connection, UserKey, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Stores the result of a user's job and releases its lease.

        Raises:
            StoreError: If it could not be written.
        """

        def run(conn: Connection, user: UserKey) -> T:
            return queries.claims.finish(conn, user, self.worker_id, kind, store, *args, **kwargs)

        return await self.storage.database.write(run, user)


async def store_turn(storage: Storage, turn: Turn, now: datetime) -> bool:
    """Stores a turn verbatim, with its passages and their words; durable on return.

    Returns:
        False if it was stored before.

    Raises:
        InvalidInput: If the id belongs to a turn with other words.
        StoreError: If it could not be written.
    """
    return await storage.database.write_all(queries.turns.add, turn, now)


async def embed_rows(
    context: WriteContext,
    rows: Sequence[WaitingText],
    *,
    anew: bool = False,
    last: bool = True,
) -> None:
    """Stores vectors and token signs of some rows of one kind (`anew`: see `embedding.put`)."""
    texts = [text for _, _, text in rows]
    kind = rows[0][0]
    vectors, signs = await asyncio.to_thread(_encode, context.encoder, kind, texts)
    await context.storage.database.write_all(
        queries.claims.finish_all,
        context.worker_id if last else None,
        JobKind(kind),
        queries.embedding.put,
        context.encoder_id,
        rows,
        vectors,
        signs,
        anew=anew,
    )


async def understand_turns(
    context: WriteContext, waiting: Sequence[tuple[int, Turn]], *, last: bool = True
) -> None:
    """Stores what some turns state, and what it confirms, corrects, ends or puts in doubt.

    They are parsed together and stored one by one, as a turn may change what the one before it
    stated.
    """
    turns = [turn for _, turn in waiting]
    profiles = [await _profile(context.storage, turn) for turn in turns]
    owners = [await other_owner(context.storage, turn) for turn in turns]
    contexts = [await _context(context.storage, key, turn) for key, turn in waiting]
    understandings = await asyncio.to_thread(context.reader.read, turns, profiles, owners, contexts)
    for place, ((key, turn), understanding) in enumerate(
        zip(waiting, understandings, strict=True), 1
    ):
        revision, later = await _effects(context, key, turn, understanding)
        await context.storage.database.write_all(
            queries.claims.finish_all,
            context.worker_id if last and place == len(waiting) else None,
            JobKind.TURN,
            store_understanding,
            key,
            understanding,
            revision,
            later,
            to_model=context.extracts,
        )


async def _effects(
    context: WriteContext, key: int, turn: Turn, understanding: Understanding
) -> tuple[Revision, Mapping[str, Supersession]]:
    """What a turn does to stored memories, and what those said later do to its statements."""
    user = await _user(context.storage, turn) if understanding.lasting >= MIN_COMPARED else None
    if user is None:
        return Revision(), {}
    text, named, speaker = parsed_text(turn), understanding.named, turn.speaker
    revision = await find_revision(context, user, text, understanding, speaker, key)
    read, around = context.storage.database.read, queries.memories.current_around
    states, at = understanding.statements, turn.spoken_at
    if not states or not await read(around, user, key, (), 1, after=True):
        return revision, {}
    later = await _candidates(context, user, text, named, speaker, key, after=True)
    return revision, await asyncio.to_thread(said_later, context.reader, states, at, later, speaker)


async def find_revision(
    context: WriteContext,
    user: UserKey,
    text: str,
    understanding: Understanding,
    speaker: str | None,
    key: int | None = None,
) -> Revision:
    """Find what a new text does to stored memories; nothing if it cannot be compared.

    Args:
        context: The resources of the write path.
        user: The user.
        text: The text, as it was said or stored.
        understanding: What was read of it. Memories that have what it corrects to stay.
        speaker: The name that stands for the user in stored memories.
        key: Row number of the turn; None for what is stored without one.

    Raises:
        StoreError: If the database cannot be read.
    """
    if not context.reader.reads(text):
        return Revision()
    try:
        found = await _candidates(context, user, text, understanding.named, speaker, key)
    except StoreError:
        raise
    except Exception as error:  # what it states is kept all the same
        log.warning("text not compared with what is known", error=type(error).__name__)
        return Revision()
    known = [one for one in found if not is_as_corrected(one, understanding.corrections)]
    effects = await asyncio.to_thread(context.reader.compare, known, text, speaker)
    states, lasting = understanding.statements, understanding.lasting
    return revise(known, effects, context.reader.limits, states, text, speaker, lasting)


async def _candidates(
    context: WriteContext,
    user: UserKey,
    text: str,
    named: frozenset[str],
    speaker: str | None,
    key: int | None,
    *,
    after: bool = False,
) -> list[StoredMemory]:
    """Current memories near to a text, as secret unless they are plans, and not about others."""
    vectors = await asyncio.to_thread(query_vectors, context, text)
    engine = context.storage.engine
    found = await context.storage.database.read(
        _find_candidates, user, key, terms(text), vectors, engine.indexes(user), after
    )
    known = [
        memory
        for memory in found
        if context.reader.reads(memory.text)
        and (memory.kind is Kind.REMINDER or is_private(memory.text) == is_private(text))
        and not about_another(memory, named, text, speaker)
    ]
    texts = [memory.text for memory in known]
    nearness = await asyncio.to_thread(context.encoder.encode, texts) if texts else ()
    return [one for one, row in zip(known, nearness, strict=True) if is_near(row, vectors.vector)]


def _find_candidates(
    conn: Connection,
    user: UserKey,
    turn: int | None,
    terms: Sequence[str],
    vectors: QueryVectors,
    index_of: IndexOf,
    after: bool,
) -> list[StoredMemory]:
    """Current memories from before a turn or after it that are near to it.

    Args:
        conn: A connection.
        user: The user.
        turn: Row number of the turn; None for what is stored without one.
        terms: Its words.
        vectors: Its embeddings.
        index_of: The user's indexes.
        after: Whether those from after it are wanted.
    """
    searches = (
        LexicalSearch(EvidenceKind.MEMORY, terms, NEAREST),
        VectorSearch(EvidenceKind.MEMORY, vectors, NEAREST),
    )
    rankings = run(conn, user, searches, index_of)
    ranked = reciprocal_rank_fusion([key for key, _ in ranking] for ranking in rankings)
    nearest = [key for key, _ in ranked[:NEAREST]]
    return queries.memories.current_around(conn, user, turn, nearest, LATEST, after)


def query_vectors(context: WriteContext | RetrievalContext, text: str) -> QueryVectors:
    """The embeddings of a text by the encoders of the stored vectors."""
    former = context.former.encoder
    return QueryVectors(
        context.encoder.encode([text])[0], None if former is None else former.encode([text])[0]
    )


async def summarise_session(context: WriteContext, session: DueSession) -> None:
    """Extends a session's summary by the turns that it does not cover yet."""
    read = context.storage.database.read
    seen = await read(queries.sessions.unsummarised, session.user, session.key)
    if seen is None:
        await context.finish(session.user, JobKind.SESSION, queries.sessions.done, session.key)
        return
    summary, topics = await asyncio.to_thread(_summary, context.reader, seen)
    await context.finish(
        session.user,
        JobKind.SESSION,
        queries.sessions.put,
        seen,
        summary,
        topics,
        render_summary(summary),
        to_model=context.summarises and bool(summary.narrative),
    )


def _summary(reader: TurnReader, seen: SummaryInput) -> tuple[SessionSummary, Mapping[str, Topic]]:
    """The summary of the turns not covered yet and of those quoted before, and topic weights.

    Turns in another language than English are left out, and those that may hold a secret.
    """
    shown = [place for place, turn in enumerate(seen.turns) if is_shown_unasked(turn.text)]
    shown = [place for place in shown if reader.reads(seen.turns[place].text)]
    turns = [seen.turns[place] for place in shown]
    docs = list(reader.parse(turns))
    fresh = [
        (turn, doc)
        for place, turn, doc in zip(shown, turns, docs, strict=True)
        if seen.keys[place] in seen.fresh
    ]
    topics = count_topics(fresh, seen.topics)
    cased = list(reader.restore_case(docs))
    return summarise(turns, cased, seen.vectors[shown], topics), topics


def _encode(
    encoder: Encoder, kind: EvidenceKind, texts: Sequence[str]
) -> tuple[Sequence[Vector], Sequence[SignBits]]:
    """Vectors of the texts and their token signs."""
    if kind is EvidenceKind.SUMMARY:
        return list(encoder.encode(texts)), [NO_SIGNS] * len(texts)
    encoded = encode_tokens(encoder, texts)
    return [one.vector for one in encoded], [one.token_signs for one in encoded]


async def _profile(storage: Storage, turn: Turn) -> Profile:
    """What the user's profile says about the names in a turn."""
    text = parsed_text(turn)
    user = await _user(storage, turn)
    if user is None:
        return Profile()
    return await storage.database.read(queries.users.profile, user, word_ngrams(text))


async def other_owner(storage: Storage, turn: Turn) -> str | None:
    """The user's name, if somebody else in the room said this; empty if nobody is the user yet."""
    if turn.role != Role.USER or not turn.speaker or not (user := await _user(storage, turn)):
        return None
    name = await storage.database.read(queries.sessions.speaker, user)
    return None if turn.speaker == name else name or ""


async def _context(storage: Storage, key: int, turn: Turn) -> TurnContext:
    """What was said directly before a user's turn."""
    if turn.role != Role.USER:
        return TurnContext()
    before = await storage.database.read_all(queries.turns.preceding, key, 2)
    recent = [one for one in before if abs(turn.spoken_at - one.spoken_at) <= MAX_PAUSE]
    question = recent[0].text if recent and recent[0].role == Role.ASSISTANT else ""
    earlier = next(
        (one.text for one in recent if one.role == Role.USER and one.speaker == turn.speaker), ""
    )
    return TurnContext(question, earlier)


async def _user(storage: Storage, turn: Turn) -> UserKey | None:
    return await storage.database.read_all(queries.users.find, turn.user_id)
