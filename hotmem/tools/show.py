"""Answers of the tools as a person reads them in a terminal."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table


def shown(name: str, answer: Mapping[str, Any]) -> RenderableType:
    """A tool's answer, as `hotmem.tools.catalogue.Tool.call` returns it."""
    return _SHOWN[name](answer)


def _stored(answer: Mapping[str, Any]) -> RenderableType:
    filing, advice = answer["analysis"], answer["recommendations"]
    table = Table.grid(padding=(0, 2))
    table.add_row("confirmed" if answer["merged"] else "stored", answer["id"])
    unsure = "" if filing["sure"] else "  [yellow](not sure)[/]"
    table.add_row("filed under", f"{filing['category']}, {filing['kind']}, importance {filing['importance']}{unsure}")
    table.add_row("tags", escape(", ".join(filing["tags"])) or "none")
    for one in advice["similar_memories"]:
        table.add_row("like" if one not in advice["suggested_merges"] else "may be the same as", escape(f"{one['content']} ({one['id']})"))
    return table


def _found(answer: Mapping[str, Any]) -> RenderableType:
    table = Table("relevance", "what", "said", "sort", title=f"{answer['total_found']} found", title_justify="left")
    for one in answer["results"]:
        sort = one["content_type"] if one["category"] is None else f"{one['content_type']}, {one['category']}"
        table.add_row(f"{one['relevance_score']:.2f}", escape(one["content"]), one["created"][:10], sort)
    return table


def _sessions(answer: Mapping[str, Any]) -> RenderableType:
    panels = []
    for session in answer["sessions"]:
        lines = [escape(f"{message['speaker']}: {message['content']}") for message in session["messages"]]
        if session["related"]:
            lines.append(f"[dim]related: {escape(', '.join(session['related']))}[/]")
        panels.append(Panel("\n".join(lines), title=f"{escape(session['session_id'])}, {session['last_spoken'][:10]}", title_align="left"))
    return Group(*panels) if panels else "nothing found"


_SHOWN: Final[Mapping[str, Callable[[Mapping[str, Any]], RenderableType]]] = {
    "store_memory": _stored,
    "search_memory": _found,
    "search_contextual": _sessions,
}
