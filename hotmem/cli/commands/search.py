"""Commands that query a memory."""

from typing import TYPE_CHECKING, Annotated

import typer

from hotmem.cli import console
from hotmem.cli.console import (
    ContentType,
    Database,
    Time,
    User,
)
from hotmem.cli.memory_file import existing_database, tool_command, with_memory

if TYPE_CHECKING:
    from hotmem import Memory


def recall(
    question: str,
    user: User,
    database: Database = None,
    tokens: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Print the context block that the bot would receive for an utterance.

    Options:
        question: What the user says to the bot.
        tokens: Maximum tokens of the context block. (default: HOTMEM_MAX_CONTEXT_TOKENS, 1000)
    """

    async def run(memory: "Memory") -> None:
        block = await memory.recall(question, user_id=user, max_tokens=tokens)
        if block.text:
            console.print_line(block.text)
        else:
            console.print_line(block.trace.reason, style="dim")

    with_memory(existing_database(database), run, user=user)


@tool_command("search_memory")
def search(
    query: str,
    limit: int = 10,
    min_relevance: float | None = None,
    min_importance: int | None = None,
    content_type: ContentType = None,
    after: Time = None,
    before: Time = None,
    expired: bool = False,
    conversation: bool = True,
    stored: bool = True,
    ranking: str = "learned",
    weight: Annotated[list[str] | None, typer.Option(metavar="NAME=NUMBER")] = None,
    conversation_weight: float = 0.5,
) -> None:
    """Search memories, summaries and turns, most relevant first.

    Options:
        query: Search query or question.
        limit: Maximum results, 1 to 100.
        min_relevance: Minimum relevance, 0 to 1.
        min_importance: Minimum importance, 1 to 5.
        after: From this date or time, such as 2026-03-01 or 2026-03-01T18:30.
        before: Before this date or time.
        expired: Include memories that are no longer valid.
        conversation: Search turns.
        stored: Search memories and summaries.
        ranking: learned: calibrated relevance model; design: weighted sum of meaning, words,
            importance, recency and use.
        weight: Weight of the design ranking, such as words=0.5; repeatable. Names: meaning, words,
            importance, recency, use. Weights that are not given keep their default.
        conversation_weight: Weight of turns in comparison with memories, 0 to 1.
    """


@tool_command("search_contextual")
def contextual(query: str, max_tokens: int | None = None) -> None:
    """Search conversations and show the best messages of each in context.

    Options:
        query: Search query or question.
        max_tokens: Print the result as text for a prompt, with at most this many tokens.
    """


@tool_command("trace_search")
def trace(
    query: str,
    expected: str | None = None,
    limit: int = 10,
    min_relevance: float | None = None,
    content_type: ContentType = None,
    expired: bool = False,
    ranking: str = "learned",
) -> None:
    """Run a search and explain each step, and why an expected result was or was not found.

    Options:
        query: Search query or question.
        expected: Expected result: a memory ID or its first 4 or more characters, a turn ID, or
            words.
        limit: Maximum results, 1 to 100.
        min_relevance: Minimum relevance, 0 to 1.
        expired: Include memories that are no longer valid.
        ranking: learned: calibrated relevance model; design: weighted sum of meaning, words,
            importance, recency and use.
    """
