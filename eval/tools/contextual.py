"""`python -m eval contextual`: find the sessions that searches by an independent writer are about.

One person's twelve sessions on four themes, and six stored statements that no session holds. Half
of the searches (`dev`) may be looked at. The reference takes the sessions of the turns whose
embeddings are nearest to the query.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from eval.arguments import AsJson, Misses, Most
from eval.files import json_records, tsv_records
from eval.memories import temporary_memory
from eval.output import print_json, print_table
from hotmem.operations.contextual_results import ContextualResult
from hotmem.types import Role, Turn

FOLDER: Final = Path(__file__).parents[1] / "data/trial"
USER: Final = "trial"
TURN: Final = timedelta(seconds=20)
FIRST: Final = 3


@dataclass(frozen=True, slots=True)
class Search:
    """A search and what it should find.

    Attributes:
        half: `dev` or `held`.
        query: The words searched for.
        sessions: The sessions that answer it; none if a stored statement does.
        message: A part of the best message.
        theme: The sessions on the theme.
        pattern: Whether it asks for what recurs.
        note: The stored statement that answers it.
    """

    half: str
    query: str
    sessions: frozenset[str]
    message: str
    theme: frozenset[str]
    pattern: bool
    note: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a search, and the sessions that the reference finds, best first."""

    search: Search
    found: ContextualResult
    nearest: tuple[str, ...]


def searches() -> list[Search]:
    """The searches, in the order of the file."""
    return [
        Search(
            row["half"],
            row["query"],
            frozenset(filter(None, row["sessions"].split(","))),
            row["messages"],
            frozenset(filter(None, row["related"].split(","))),
            row["pattern"] == "true",
            row["note"],
        )
        for row in tsv_records(FOLDER / "session_searches.tsv")
    ]


def turns() -> list[Turn]:
    """The turns of all sessions, 20 seconds apart."""
    found: list[Turn] = []
    for row in json_records(FOLDER / "sessions.jsonl"):
        begun = datetime.fromisoformat(row["started_at"]).replace(tzinfo=UTC)
        place = sum(turn.session_id == row["session"] for turn in found)
        role = Role.USER if row["role"] == "user" else Role.ASSISTANT
        found.append(Turn(USER, row["session"], role, row["text"], spoken_at=begun + place * TURN))
    return found


async def outcomes(asked: Sequence[Search]) -> list[Outcome]:
    """Tell all sessions to a new memory, store the statements, and search it."""
    spoken = turns()
    async with temporary_memory() as memory:
        for turn in spoken:
            await memory.remember(turn)
        for session in dict.fromkeys(turn.session_id for turn in spoken):
            await memory.end_session(user_id=USER, session_id=session)
        for note in filter(None, (search.note for search in searches())):
            await memory.store_memory(note, user_id=USER)
        await memory.settle()
        encode = memory.runtime.recall.encoder.encode
        rows = np.stack(list(encode([turn.text for turn in spoken])))
        at = spoken[-1].spoken_at + timedelta(days=1)
        found = []
        for search in asked:
            order = np.argsort(-(rows @ encode([search.query])[0]))
            nearest = tuple(dict.fromkeys(spoken[row].session_id for row in order))
            result = await memory.search_contextual(search.query, user_id=USER, at=at)
            found.append(Outcome(search, result, nearest))
        return found


def figures(done: Sequence[Outcome]) -> dict[str, float]:
    """Shares of searches, and of related sessions and repeated statements."""
    about = [one for one in done if one.search.sessions]
    related = [
        (other.session_id, one.search.theme)
        for one in about
        for session in one.found.sessions[:1]
        for other in session.related
    ]
    wanted = sum(len(one.search.theme) - 1 for one in about)
    repeated = [
        ({said.session_id for said in statement.said}, one.search.theme)
        for one in about
        for statement in one.found.repeated
    ]
    return {
        "session first": _share(_first(one, 1) for one in about),
        "session among the first three": _share(_first(one, FIRST) for one in about),
        "message shown": _share(_has_message(one) for one in about),
        "cosine of turns: first": _share(one.nearest[0] in one.search.sessions for one in about),
        "cosine of turns: among the first three": _share(
            bool(set(one.nearest[:FIRST]) & one.search.sessions) for one in about
        ),
        "related sessions found": sum(name in theme for name, theme in related) / max(wanted, 1),
        "related sessions wrong": _share(name not in theme for name, theme in related),
        "whole memory searched rightly": _share(
            one.found.fallback is not bool(one.search.sessions) for one in done
        ),
        "stored statement first": _share(
            bool(one.found.elsewhere) and one.found.elsewhere[0].content == one.search.note
            for one in done
            if one.search.note
        ),
        "recurring matters with a statement of several sessions": _share(
            bool(one.found.repeated) for one in about if one.search.pattern
        ),
        "statements of several sessions off the theme": _share(
            not said <= theme for said, theme in repeated
        ),
    }


def _first(one: Outcome, limit: int) -> bool:
    found = [session.session_id for session in one.found.sessions[:limit]]
    return not one.search.sessions.isdisjoint(found)


def _has_message(one: Outcome) -> bool:
    return any(
        one.search.message.casefold() in message.content.casefold()
        for session in one.found.sessions
        for message in session.messages
    )


def _share(judged: Iterable[bool]) -> float:
    values = list(judged)
    return sum(values) / len(values) if values else 0.0


def contextual(
    held: Annotated[bool, typer.Option(help="Measure the held-out half too.")] = False,
    misses: Misses = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Search the sessions of a person for what an independent writer asked."""
    halves = ("dev", "held") if held else ("dev",)
    done = asyncio.run(outcomes([one for one in searches() if one.half in halves][:limit]))
    result = {half: figures([one for one in done if one.search.half == half]) for half in halves}
    rows = [(name, *(result[half][name] for half in halves)) for name in result["dev"]]
    print_table("search_contextual", ("", *halves), rows)
    for one in done:
        right = one.found.fallback if one.search.note else _first(one, 1)
        if misses and one.search.half == "dev" and not right:
            found = [session.session_id for session in one.found.sessions]
            print(f"{one.search.query}: {found}")
    print_json(result, as_json)
