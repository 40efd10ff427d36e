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
from hotmem.cli.memory_file import existing_database, tool_command, with_memory

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


@tool_command("search_memory")
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


@tool_command("search_contextual")
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


@tool_command("trace_search")
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
