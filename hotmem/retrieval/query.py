"""The query: an utterance, analysed and embedded."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import numpy as np

from hotmem.models import EncodedText, Encoder, Language, encode_tokens
from hotmem.models.encoders import TURNS
from hotmem.retrieval.context import RecallRequest, RetrievalContext
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.queries.reembedding import identified
from hotmem.storage.search.engine import SearchEngine
from hotmem.text.language_detection import detect_language
from hotmem.text.languages import ENGLISH
from hotmem.text.passages import truncate, truncate_start
from hotmem.types import Analysis, EvidenceKind, Profile, Query, Rewrite, Role, Turn, UserKey
from hotmem.types.arrays import Vector
from hotmem.types.recall import IndexState
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.corrections import lacks_case
from hotmem.understanding.facts.instructions import is_setting
from hotmem.understanding.facts.third_person import FIRST_PERSON_POSSESSIVES
from hotmem.understanding.query.analyzer import analyse, analyse_other_language
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import MAX_TURNS, expand, needs_context
from hotmem.understanding.query.entities import word_ngrams
from hotmem.understanding.query.misheard import find_misheard_names

QUERY_WORDS: Final = 200
"""Number of last words of an utterance that are analysed: the point of a long one is at its
end."""

RECENT_CHARACTERS: Final = 600
"""Characters of a recent turn that are parsed to resolve references in an utterance."""

RECENT_SHARE: Final = 0.25
"""Share of the deadline that parsing the recent turns may take. Most are cached from when they were
remembered; the others are ready for the next utterance."""

REWRITE_SHARE: Final = 0.25
"""Share of the deadline that the rewriter may take; the rest of the query's share is for the
rules."""

NOBODY: Final = UserKey(0)
"""The key of a user who does not exist."""


async def build_query(context: RetrievalContext, request: RecallRequest) -> tuple[Query, Profile]:
    """Analyse and embed an utterance.

    References in it ("that", "she", "and on Friday?") are resolved from the live session.

    Returns:
        The query, and the profile of the user.
    """
    text = truncate_start(" ".join(request.text.split()[-QUERY_WORDS:]))
    language = detect_language(text, context.expected_language)
    (reading, former), user, doc = await asyncio.gather(
        asyncio.to_thread(_embed, context, text),
        _load_user(context, request, text),
        _parse(context, text if language == ENGLISH else ""),
    )
    profile = user.profile
    if language != ENGLISH:
        rewrite, analysis = None, analyse_other_language(text, language)
    else:
        rewrite, analysis = await _analyse_in_context(context, request, doc, user, reading.vector)
    if analysis.expansion:
        own = " ".join((text, *analysis.expansion))
        expanded = rewrite.expanded if rewrite and rewrite.rewritten else own
        reading, former = await asyncio.to_thread(_embed, context, expanded)
    query = Query(
        text=text,
        user=user.key,
        session_id=request.session_id,
        at=request.at,
        analysis=_choose_layers(context, analysis, explicit=request.explicit),
        speakers=profile.speakers,
        vector=reading.vector,
        pieces=reading.token_states,
        rewrite=rewrite,
        index_states=user.states,
        index_language=context.expected_language,
        asker=profile.owner
        if request.asked_by is None
        else (analysis.first_person and request.asked_by) or None,
    )
    return _with_former_reading(query, reading, former, profile.encoder, context.encoder), profile


async def _analyse_in_context(
    context: RetrievalContext, request: RecallRequest, doc: Doc, user: "LoadedUser", vector: Vector
) -> tuple[Rewrite | None, Analysis]:
    """The analysis of an English utterance, with its references resolved from the live session."""
    profile, turns = user.profile, user.turns
    misheard = await asyncio.to_thread(_misheard_names, context.language, doc, profile)
    own = vector if context.encoder.name == TURNS else None
    analysis = _analyse(doc, request.at, profile, misheard, own)
    if turns and analysis.needs_memory and needs_context(doc, analysis.ambiguous):
        return await _expand(context, request, doc, analysis, profile, misheard, turns)
    return None, analysis


def _with_former_reading(
    query: Query, reading: EncodedText, former: EncodedText | None, file: str | None, own: Encoder
) -> Query:
    """Add the embedding by the former encoder, for rows that are not yet re-embedded.

    If another process has changed the file's encoder, this process's encoder is the former one.

    Args:
        query: The query.
        reading: Its embedding by this process's encoder.
        former: Its embedding by the former encoder, if there is one.
        file: Name and dimension of the file's encoder.
        own: This process's encoder.
    """
    if file not in (None, identified(own.name, own.dimension)):
        return replace(
            query,
            vector=np.zeros_like(reading.vector),
            former=reading.vector,
            former_pieces=reading.token_states,
        )
    if former is None:
        return query
    same_tokens = np.array_equal(former.token_ids, reading.token_ids)
    pieces = former.token_states if same_tokens else None
    return replace(query, former=former.vector, former_pieces=pieces)


def _misheard_names(language: Language, doc: Doc, profile: Profile) -> Sequence[str]:
    """Known names that stand as other words in the utterance. Blocking."""
    found = find_misheard_names(
        doc,
        profile.known_names,
        lambda text: language.parse([text], names=False)[0],
        language.is_word,
        cased=not lacks_case(doc.text),
    )
    return [one.name for one in found]


def _analyse(
    doc: Doc, at: datetime, profile: Profile, misheard: Sequence[str], own: Vector | None = None
) -> Analysis:
    """The analysis, with known names that stand as other words in the utterance."""
    known = (*profile.speakers, *profile.entities)
    analysis = analyse(doc, at, known, misheard=misheard, vector=own)
    if analysis.needs_memory and _is_only_instruction(doc, analysis):
        return replace(analysis, needs_memory=False).asking(())
    return analysis


def _is_only_instruction(doc: Doc, analysis: Analysis) -> bool:
    """Whether an utterance is only an instruction: "always call me Annie".

    One that refers to something of the user's may need memory.
    """
    own = analysis.ambiguous or any(token.lower_ in FIRST_PERSON_POSSESSIVES for token in doc)
    return not (own or analysis.question or len(list(doc.sents)) > 1) and is_setting(doc)


async def _expand(
    context: RetrievalContext,
    request: RecallRequest,
    doc: Doc,
    analysis: Analysis,
    profile: Profile,
    misheard: Sequence[str],
    turns: Sequence[Turn],
) -> tuple[Rewrite | None, Analysis]:
    """Resolve references from the recent turns.

    By the rewriter if one is configured and in time, which is told what was found without it.
    """
    rewrite = None
    recent = await _parse_recent(context, turns, _share_s(request, RECENT_SHARE))
    expansion = expand(doc, analysis.ambiguous, recent)
    if context.rewriter is not None:
        limit_s = _share_s(request, REWRITE_SHARE)
        texts = [turn.text for turn in turns]
        rewrite = await context.rewriter.rewrite(doc.text, texts, limit_s, expansion)
        if rewrite.rewritten:
            parsed = await _parse(context, rewrite.expanded)
            expanded = _analyse(parsed, request.at, profile, misheard)
            added = tuple(term for term in expanded.terms if term not in analysis.terms)
            return rewrite, replace(expanded, terms=analysis.terms, expansion=added)
    return rewrite, replace(analysis, expansion=expansion)


@dataclass(frozen=True, slots=True)
class LoadedUser:
    """What is loaded of a user before the query is analysed.

    Attributes:
        key: The user's row number; `NOBODY` for an unknown user.
        profile: Their profile.
        turns: The last turns of the live session.
        states: The states of their search indexes.
    """

    key: UserKey = NOBODY
    profile: Profile = field(default_factory=Profile)
    turns: Sequence[Turn] = ()
    states: Mapping[EvidenceKind, IndexState] = field(default_factory=dict)


async def _load_user(context: RetrievalContext, request: RecallRequest, text: str) -> LoadedUser:
    """The user with the last turns of the live session."""
    keys, name = context.user_keys, request.user_id
    wanted = context.engine, text, request.session_id
    found = None
    if (user := keys.get(name)) is not None:
        found = await context.database.read(_read_user, user, name, *wanted)
    if found is None:
        keys.drop(name)
        user = await context.database.read_all(queries.users.find, name)
        if user is not None:
            found = await context.database.read(_read_user, user, name, *wanted)
    if user is None or found is None:
        return LoadedUser()
    keys.put(name, user)
    profile, turns, states = found
    if context.weights is not None:
        profile = replace(profile, weights=context.weights, moved={})
    recent = [turn for turn in turns if turn.text != request.text][-MAX_TURNS:]
    return LoadedUser(user, profile, recent, states)


def _read_user(
    conn: Connection,
    user: UserKey,
    name: str,
    engine: SearchEngine,
    text: str,
    session_id: str | None,
) -> tuple[Profile, list[Turn], dict[EvidenceKind, IndexState]] | None:
    """The profile, the last turns of the session, and the states of the indexes, in one read.

    None if the row number is no longer this user's.
    """
    current = queries.users.ask_name(conn, user)
    profile = queries.users.ask_profile(conn, user, word_ngrams(text))
    turns = (
        list
        if session_id is None
        else queries.turns.ask_latest(conn, user, session_id, MAX_TURNS + 1)
    )
    states = engine.states(conn, user, text)
    if current() != name:
        return None
    return profile(), turns(), states()


def _share_s(request: RecallRequest, share: float) -> float | None:
    """A share of the deadline in seconds; None without a deadline."""
    return None if request.deadline_ms is None else request.deadline_ms * share / 1000


async def _parse_recent(
    context: RetrievalContext, turns: Sequence[Turn], limit_s: float | None
) -> list[RecentTurn]:
    """The parses of the turns; none if they are not ready in time."""
    texts = [truncate(turn.text, RECENT_CHARACTERS) for turn in turns]
    try:
        docs = await asyncio.wait_for(asyncio.to_thread(context.language.parse, texts), limit_s)
    except TimeoutError:
        return []
    return [RecentTurn(doc, turn.role is Role.USER) for doc, turn in zip(docs, turns, strict=True)]


def _embed(context: RetrievalContext, text: str) -> tuple[EncodedText, EncodedText | None]:
    """Embed a text by the file's encoder and, while rows have its vectors, the former one.

    Starts before the parse: the encoder releases the interpreter's lock, the parser hardly does.
    """
    (own,) = encode_tokens(context.encoder, [text])
    former = context.former.encoder
    return own, None if former is None else encode_tokens(former, [text])[0]


async def _parse(context: RetrievalContext, text: str) -> Doc:
    """Parse a text without entity recognition, which would double the time.

    Names come from the tagger and from the user's known entities.
    """
    return context.language.parse([text], names=False)[0]


def _choose_layers(context: RetrievalContext, analysis: Analysis, *, explicit: bool) -> Analysis:
    """The analysis with the layers to search.

    They are all that are enabled, or none where memory cannot help and was not asked for.
    """
    if not (explicit or analysis.needs_memory):
        return analysis
    return analysis.asking(tuple(search.layer for search in context.layers))
