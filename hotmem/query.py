"""Request → Query: the utterance analysed and embedded."""

import asyncio
from collections.abc import Sequence
from typing import Final

from spacy.tokens import Doc

from hotmem.analysis.query import analyse
from hotmem.analysis.runs import word_runs
from hotmem.models import Reading, read
from hotmem.reader import Reader, Request
from hotmem.types import Analysis, Profile, Query, UserKey

QUERY_WORDS: Final = 200
"""Words of a query that are analysed, the last ones: who talks long comes to the point at the end."""

RECENT_TURNS: Final = 4
"""Turns of the live session that a pointing word may refer to."""

NOBODY: Final = UserKey(0)
"""A user number that no row has."""


async def read_query(reader: Reader, request: Request) -> tuple[Query, Profile]:
    """What is asked, and what is known of who asks.

    An utterance that points elsewhere ("that", "she") is analysed again with the last turns of its session.
    """
    text = " ".join(request.text.split()[-QUERY_WORDS:])
    (user, profile), reading, doc = await asyncio.gather(
        _known(reader, request, text), asyncio.to_thread(_embedded, reader, text), asyncio.to_thread(_parsed, reader, text)
    )
    known = (*profile.speakers, *profile.entities)
    analysis = analyse(doc, request.at, known)
    if analysis.ambiguous and user is not None and request.session_id is not None:
        recent = await asyncio.to_thread(reader.language.parse, await _recent(reader, request, user))
        analysis = analyse(doc, request.at, known, recent)
        if analysis.expansion:
            reading = await asyncio.to_thread(_embedded, reader, " ".join((text, *analysis.expansion)))
    offered = _offered(reader, analysis)
    return Query(text, user or NOBODY, request.session_id, request.at, offered, profile.speakers, reading.row, reading.states), profile


async def _known(reader: Reader, request: Request, text: str) -> tuple[UserKey | None, Profile]:
    user = await reader.store.user(request.user_id)
    return user, Profile() if user is None else await reader.store.profile(user, word_runs(text))


def _embedded(reader: Reader, text: str) -> Reading:
    """Begun before the parse: the model runs without the interpreter's lock, which the parser hardly ever lets go."""
    return read(reader.encoder, [text])[0]


def _parsed(reader: Reader, text: str) -> Doc:
    """Names are known by the tagger and by the user's own entities; the entity recogniser would double the time of the parse."""
    return reader.language.parse([text], names=False)[0]


async def _recent(reader: Reader, request: Request, user: UserKey) -> Sequence[str]:
    turns = await reader.store.latest_turns(user, request.session_id or "", RECENT_TURNS + 1)
    return [turn.text for turn in turns if turn.text != request.text][-RECENT_TURNS:]


def _offered(reader: Reader, analysis: Analysis) -> Analysis:
    """The analysis with all layers to ask, where the options leave it no choice."""
    if reader.options.choose_layers or not analysis.needs_memory:
        return analysis
    return analysis.asking(tuple(search.layer for search in reader.layers))
