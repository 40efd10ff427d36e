"""Results of the searches as tables for the terminal."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from hotmem.operations.search import RELEVANT_FROM
from hotmem.storage.queries.ids import short


def id_column() -> Column:
    """Return the column of IDs, which are never cut."""
    return Column("id", no_wrap=True)


def search_results(result: Mapping[str, Any]) -> RenderableType:
    """Return the result of `search_memory` as a table."""
    if not result["results"]:
        return "no results"
    table = _items(result["results"])
    table.title = f"{result['total_found']} with a relevance of at least {RELEVANT_FROM:g}"
    if (requested := result["query_analysis"]["requested"]) is not None:
        table.caption = _understood(requested)
        table.caption_justify = "left"
    table.title_justify = "left"
    return table


def conversations(result: Mapping[str, Any]) -> RenderableType:
    """Return the result of `search_contextual`, or its lines for a prompt if there are any."""
    if result["lines"]:
        return Text("\n".join(result["lines"]))
    parts: list[RenderableType] = [_conversation(session) for session in result["sessions"]]
    if result["repeated"]:
        text = Text("\n".join(map(_repeated, result["repeated"])))
        parts.append(Panel(text, title="Said in several conversations", title_align="left"))
    if result["elsewhere"]:
        parts.append("No conversation is about this. From the whole memory:")
        parts.append(_items(result["elsewhere"]))
    return Group(*parts) if parts else "no results"


def _items(found: Iterable[Mapping[str, Any]]) -> Table:
    table = Table(id_column(), "relevance", "text", "said", "type")
    for one in found:
        category = "" if one["category"] is None else f", {one['category']}"
        table.add_row(
            short(one["id"]),
            f"{one['relevance_score']:.2f}",
            one["content"],
            one["created"][:10],
            f"{one['content_type']}{category}",
        )
    return table


def _conversation(session: Mapping[str, Any]) -> Panel:
    text = Text(
        "\n".join(f"{message['speaker']}: {message['content']}" for message in session["messages"])
    )
    for related in session["related"]:
        name = related["title"] or related["session_id"]
        text.append(f"\nrelated: {related['last_spoken'][:10]} {name}", style="dim")
    title = f"{session['session_id']}, {session['last_spoken'][:10]} {session['title']}".rstrip()
    return Panel(text, title=Text(title), title_align="left")


def _repeated(statement: Mapping[str, Any]) -> str:
    days = ", ".join(occurrence["at"][:10] for occurrence in statement["said"])
    return f"{statement['content']} ({days})"


def _understood(requested: Mapping[str, Any]) -> str:
    """What a query asks for, in a line: "decisions about website, 2026-04-01 to 2026-05-01"."""
    about = f" about {requested['topic']}" if requested["topic"] else ""
    tag = f", tag {requested['tag']}" if requested["tag"] else ""
    period = requested["time"] and f", {requested['time'][0][:10]} to {requested['time'][1][:10]}"
    return f"understood as: {requested['kind']}{about}{tag}{period or ''}"
