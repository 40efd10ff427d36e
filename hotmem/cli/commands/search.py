"""Commands that query a memory."""

from typing import TYPE_CHECKING, Annotated

import typer

from hotmem.cli import console
from hotmem.cli.console import (
    After,
    Before,
    ContentType,
    Database,
    Expired,
    Json,
    Limit,
    MinRelevance,
    Query,
    Ranking,
    User,
)
from hotmem.cli.memory_file import call_tool, existing_database, with_memory
from hotmem.errors import InvalidInput

if TYPE_CHECKING:
    from hotmem import Memory


def recall(
    question: Annotated[str, typer.Argument(help="What the user says to the bot.")],
    user: User,
    database: Database = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            help="Maximum tokens of the context block. (default: HOTMEM_MAX_CONTEXT_TOKENS, 1000)",
            min=1,
        ),
    ] = None,
) -> None:
    """Print the context block that the bot would receive for an utterance."""

    async def run(memory: "Memory") -> None:
        block = await memory.recall(question, user_id=user, max_tokens=tokens)
        if block.text:
            console.print_line(block.text)
        else:
            console.print_line(block.trace.reason, style="dim")

    with_memory(existing_database(database), run, user=user)


def search(
    query: Query,
    user: User,
    database: Database = None,
    limit: Limit = 10,
    min_relevance: MinRelevance = None,
    min_importance: Annotated[int | None, typer.Option(help="Minimum importance, 1 to 5.")] = None,
    content_type: ContentType = None,
    after: After = None,
    before: Before = None,
    expired: Expired = False,
    conversation: Annotated[bool, typer.Option(help="Search turns.")] = True,
    stored: Annotated[bool, typer.Option(help="Search memories and summaries.")] = True,
    ranking: Ranking = "learned",
    weight: Annotated[
        list[str] | None,
        typer.Option(
            help="Weight of the design ranking, such as words=0.5; repeatable. Names: meaning,"
            " words, importance, recency, use. Weights that are not given keep their default.",
            metavar="NAME=NUMBER",
        ),
    ] = None,
    conversation_weight: Annotated[
        float, typer.Option(help="Weight of turns in comparison with memories, 0 to 1.")
    ] = 0.5,
    json_: Json = False,
) -> None:
    """Search memories, summaries and turns, most relevant first."""
    arguments = {
        "query": query,
        "limit": limit,
        "min_relevance": min_relevance,
        "min_importance": min_importance,
        "content_type": content_type,
        "time_range": {"start": after, "end": before},
        "include_expired": expired,
        "include_conversation": conversation,
        "include_stored": stored,
        "ranking": ranking,
        "weights": dict(map(_named_number, weight)) if weight else None,
        "conversation_weight": conversation_weight,
    }
    call_tool("search_memory", arguments, user, existing_database(database), json_=json_)


def contextual(
    query: Query,
    user: User,
    database: Database = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="Print the result as text for a prompt, with at most this many tokens."),
    ] = None,
    json_: Json = False,
) -> None:
    """Search conversations and show the best messages of each in context."""
    arguments = {"query": query, "max_tokens": max_tokens}
    call_tool("search_contextual", arguments, user, existing_database(database), json_=json_)


def trace(
    query: Query,
    user: User,
    database: Database = None,
    expected: Annotated[
        str | None,
        typer.Option(
            help="Expected result: a memory ID or its first 4 or more characters, a turn ID, or"
            " words."
        ),
    ] = None,
    limit: Limit = 10,
    min_relevance: MinRelevance = None,
    content_type: ContentType = None,
    expired: Expired = False,
    ranking: Ranking = "learned",
    json_: Json = False,
) -> None:
    """Run a search and explain each step, and why an expected result was or was not found."""
    arguments = {
        "query": query,
        "expected": expected,
        "limit": limit,
        "min_relevance": min_relevance,
        "content_type": content_type,
        "include_expired": expired,
        "ranking": ranking,
    }
    call_tool("trace_search", arguments, user, existing_database(database), json_=json_)


def _named_number(given: str) -> tuple[str, str]:
    """Split "words=0.5" into its name and its number.

    Raises:
        InvalidInput: If it has no "=".
    """
    name, separator, number = given.partition("=")
    if not separator:
        raise InvalidInput(f"--weight is {given!r}. Write NAME=NUMBER, such as words=0.5.")
    return name, number
