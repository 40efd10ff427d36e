"""RecallRequest → Query: the utterance analysed and embedded."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hotmem.models import EncodedText, Encoder, encode_tokens
from hotmem.retrieval.context import RecallRequest, RetrievalContext
from hotmem.storage.queries.encoders import identified
from hotmem.text.truncation import truncate, truncate_start
from hotmem.types import Analysis, Profile, Query, Rewrite, UserKey
from hotmem.types.parse import Doc
from hotmem.understanding.facts.instructions import is_instruction
from hotmem.understanding.facts.third_person import FIRST_PERSON_POSSESSIVES
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.coreference import MAX_TURNS, expand, needs_context
from hotmem.understanding.query.entities import match_similar_names
from hotmem.understanding.query.ngrams import word_ngrams

QUERY_WORDS: Final = 200
"""Words of a query that are analysed, the last ones: who talks long comes to the point at the
end."""

RECENT_CHARACTERS: Final = 600
"""Characters of a turn of the live session that are looked at for what an utterance leaves
unsaid."""

RECENT_PARSE_S: Final = 0.015
"""Seconds that parsing them may take. Most were parsed when they were remembered; those that
were not are ready for the next utterance."""

REWRITE_SHARE: Final = 0.25
"""Part of a recall's deadline that a language model may take to rewrite; what is left of the
query's share must do for the rules."""

NOBODY: Final = UserKey(0)
"""A user number that no row has."""


async def build_query(reader: RetrievalContext, request: RecallRequest) -> tuple[Query, Profile]:
    """What is asked, and what is known of who asks.

    What it leaves unsaid ("that", "she", "and on Friday?") is looked for in its session.
    """
    text = truncate_start(" ".join(request.text.split()[-QUERY_WORDS:]))
    (reading, former), (user, profile, turns), doc = await asyncio.gather(
        asyncio.to_thread(_embed, reader, text),
        _load_user(reader, request, text),
        _parse(reader, text),
    )
    analysis = _analyse(doc, request, profile)
    rewrite = None
    if turns and analysis.needs_memory and needs_context(doc, analysis.ambiguous):
        rewrite, analysis = await _expand(reader, request, doc, analysis, profile, turns)
    if analysis.expansion:
        whole = (
            rewrite.expanded
            if rewrite and rewrite.rewritten
            else " ".join((text, *analysis.expansion))
        )
        reading, former = await asyncio.to_thread(_embed, reader, whole)
    offered = _choose_layers(reader, analysis, explicit=request.explicit)
    query = Query(
        text,
        user or NOBODY,
        request.session_id,
        request.at,
        offered,
        profile.speakers,
        reading.vector,
        reading.token_states,
        rewrite,
    )
    return _with_former_reading(query, reading, former, profile.encoder, reader.encoder), profile


def _with_former_reading(
    query: Query, reading: EncodedText, former: EncodedText | None, file: str | None, own: Encoder
) -> Query:
    """The query with the former encoder's reading.

    That of an encoder which is no longer the file's is the former's itself.
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
    alike = np.array_equal(former.token_ids, reading.token_ids)
    return replace(
        query, former=former.vector, former_pieces=former.token_states if alike else None
    )


def _analyse(doc: Doc, request: RecallRequest, profile: Profile) -> Analysis:
    """The analysis, with the names that were meant beside those that were heard."""
    known = (*profile.speakers, *profile.entities)
    analysis = analyse(doc, request.at, known)
    if analysis.needs_memory and _is_only_instruction(doc, analysis):
        analysis = replace(analysis, needs_memory=False).asking(())
    names = match_similar_names(analysis.entities, known, profile.similar_names)
    terms = (*analysis.terms, *(name.casefold() for name in names))
    return (
        replace(analysis, entities=(*analysis.entities, *names), terms=terms) if names else analysis
    )


def _is_only_instruction(doc: Doc, analysis: Analysis) -> bool:
    """Whether an utterance only says how to speak to the user.

    "always call me Annie". What names something of theirs may need to be known.
    """
    own = analysis.ambiguous or any(token.lower_ in FIRST_PERSON_POSSESSIVES for token in doc)
    return not (own or analysis.question or len(list(doc.sents)) > 1) and is_instruction(doc)


async def _expand(
    reader: RetrievalContext,
    request: RecallRequest,
    doc: Doc,
    analysis: Analysis,
    profile: Profile,
    turns: Sequence[str],
) -> tuple[Rewrite | None, Analysis]:
    """The analysis with what the utterance leaves unsaid.

    By the language model if there is one and it is in time, else by rules.
    """
    rewrite = None
    if reader.rewriter is not None:
        limit_s = (
            None if request.deadline_ms is None else request.deadline_ms * REWRITE_SHARE / 1000
        )
        rewrite = await reader.rewriter.rewrite(doc.text, turns, limit_s)
        if rewrite.rewritten:
            whole = _analyse(await _parse(reader, rewrite.expanded), request, profile)
            return rewrite, replace(
                whole,
                terms=analysis.terms,
                expansion=tuple(term for term in whole.terms if term not in analysis.terms),
            )
    return rewrite, replace(
        analysis, expansion=expand(doc, analysis.ambiguous, await _parse_recent(reader, turns))
    )


async def _load_user(
    reader: RetrievalContext, request: RecallRequest, text: str
) -> tuple[UserKey | None, Profile, Sequence[str]]:
    """The user's number, their profile, and the last turns of the live session."""
    user = await reader.store.user(request.user_id)
    if user is None:
        return None, Profile(), ()
    profile = await reader.store.profile(user, word_ngrams(text))
    if reader.weights is not None:
        profile = replace(profile, weights=reader.weights, moved={})
    if request.session_id is None:
        return user, profile, ()
    turns = await reader.store.latest_turns(user, request.session_id, MAX_TURNS + 1)
    return user, profile, [turn.text for turn in turns if turn.text != request.text][-MAX_TURNS:]


async def _parse_recent(reader: RetrievalContext, turns: Sequence[str]) -> Sequence[Doc]:
    """The turns' parses; none if they are not there in time."""
    try:
        return await asyncio.wait_for(
            asyncio.to_thread(
                reader.language.parse, [truncate(turn, RECENT_CHARACTERS) for turn in turns]
            ),
            RECENT_PARSE_S,
        )
    except TimeoutError:
        return ()


def _embed(reader: RetrievalContext, text: str) -> tuple[EncodedText, EncodedText | None]:
    """By the file's encoder and, while some rows have its vectors, by the former one.

    Begun before the parse: the model runs without the interpreter's lock, which the parser hardly
    ever lets go.
    """
    former = reader.former.encoder
    return encode_tokens(reader.encoder, [text])[0], None if former is None else encode_tokens(
        former, [text]
    )[0]


async def _parse(reader: RetrievalContext, text: str) -> Doc:
    """Names are known by the tagger and by the user's own entities.

    The entity recogniser would double the time of the parse.
    """
    return reader.language.parse([text], names=False)[0]


def _choose_layers(reader: RetrievalContext, analysis: Analysis, *, explicit: bool) -> Analysis:
    """The analysis with all layers to ask, where it has no choice."""
    if not explicit and (reader.options.choose_layers or not analysis.needs_memory):
        return analysis
    return analysis.asking(tuple(search.layer for search in reader.layers))
