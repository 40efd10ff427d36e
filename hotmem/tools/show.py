"""Answers of the tools as a person reads them in a terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table


def shown(name: str, answer: Mapping[str, Any]) -> RenderableType:
    """A tool's answer, as `hotmem.tools.catalogue.Tool.call` returns it."""
    return _SHOWN.get(name, _plain)(answer)


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
    if answer["progress"] is not None:
        table.caption = f"{', '.join(answer['progress']['searched'])}: {answer['progress']['reason']}"
        table.caption_justify = "left"
    return table


def _sessions(answer: Mapping[str, Any]) -> RenderableType:
    panels = []
    for session in answer["sessions"]:
        lines = [escape(f"{message['speaker']}: {message['content']}") for message in session["messages"]]
        if session["related"]:
            lines.append(f"[dim]related: {escape(', '.join(session['related']))}[/]")
        panels.append(Panel("\n".join(lines), title=f"{escape(session['session_id'])}, {session['last_spoken'][:10]}", title_align="left"))
    return Group(*panels) if panels else "nothing found"


def _plain(answer: Mapping[str, Any]) -> RenderableType:
    """Names and values; a list of records as a table of its own."""
    grid = Table.grid(padding=(0, 2))
    tables: list[RenderableType] = []
    for name, value in answer.items():
        label = name.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables.append(_records(value))
        elif isinstance(value, Mapping):
            told = (f"{key}: {_parts(one) if isinstance(one, Mapping) else one}" for key, one in value.items())
            grid.add_row(label, escape("\n".join(told)) or "none")
        else:
            grid.add_row(label, escape("\n".join(map(str, value)) if isinstance(value, list) else str(value)))
    return Group(grid, *tables)


def _parts(value: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} {part}" for name, part in value.items())


def _records(records: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(*(name.replace("_", " ") for name in records[0]))
    for record in records:
        table.add_row(*(_cell(value) for value in record.values()))
    return table


def _cell(value: object) -> str:
    return escape("\n".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value))


def _discovered(answer: Mapping[str, Any]) -> RenderableType:
    health = answer["health"]
    tools = Table("tool", "what it does")
    for group in answer["tools"].values():
        for name, description in group.items():
            tools.add_row(name, description)
        tools.add_section()
    parts = Table("share", "of", title=f"{answer['memories']} memories, health {health['score']:.2f}", title_justify="left")
    for part in health["parts"].values():
        parts.add_row(f"{part['share']:.0%}", part["meaning"])
    return Group(tools, parts, *health["advice"])


_SHOWN: Final[Mapping[str, Callable[[Mapping[str, Any]], RenderableType]]] = {
    "store_memory": _stored,
    "search_memory": _found,
    "search_contextual": _sessions,
    "discover_memory_tools": _discovered,
}
