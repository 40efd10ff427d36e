"""Answers of the tools as a person reads them in a terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from hotmem.storage.queries.ids import short

OF_IDS: Final = ("id", "decision")
"""Fields of records that are ids."""


def id_column() -> Column:
    """A column of ids, which are of no use when they are cut."""
    return Column("id", no_wrap=True)


def shown(name: str, answer: Mapping[str, Any]) -> RenderableType:
    """A tool's answer, as `hotmem.tools.registry.Tool.call` returns it."""
    return _SHOWN.get(name, _plain)(answer)


def _stored(answer: Mapping[str, Any]) -> RenderableType:
    filing, advice = answer["analysis"], answer["recommendations"]
    table = Table.grid(padding=(0, 2))
    table.add_row("confirmed" if answer["merged"] else "stored", answer["id"])
    unsure = "" if filing["sure"] else "  (not sure)"
    filed = f"{filing['category']}, {filing['kind']}, importance {filing['importance']}"
    table.add_row("filed under", Text.assemble(filed, (unsure, "yellow")))
    table.add_row("tags", ", ".join(filing["tags"]) or "none")
    for one in advice["similar_memories"]:
        table.add_row(
            "like" if one not in advice["suggested_merges"] else "may be the same as",
            f"{one['content']} ({short(one['id'])})",
        )
    return table


def _found(answer: Mapping[str, Any]) -> RenderableType:
    if not answer["results"]:
        return (
            "nothing was found"
            if answer["progress"] is None
            else f"nothing was found: {answer['progress']['reason']}"
        )
    table = Table(
        id_column(),
        "relevance",
        "what",
        "said",
        "sort",
        title=f"{answer['total_found']} relevant",
        title_justify="left",
    )
    for one in answer["results"]:
        sort = (
            one["content_type"]
            if one["category"] is None
            else f"{one['content_type']}, {one['category']}"
        )
        table.add_row(
            short(one["id"]),
            f"{one['relevance_score']:.2f}",
            one["content"],
            one["created"][:10],
            sort,
        )
    if answer["progress"] is not None:
        table.caption = (
            f"{', '.join(answer['progress']['searched'])}: {answer['progress']['reason']}"
        )
        table.caption_justify = "left"
    return table


def _sessions(answer: Mapping[str, Any]) -> RenderableType:
    panels = []
    for session in answer["sessions"]:
        text = Text(
            "\n".join(
                f"{message['speaker']}: {message['content']}" for message in session["messages"]
            )
        )
        if session["related"]:
            text.append(f"\nrelated: {', '.join(session['related'])}", style="dim")
        panels.append(
            Panel(
                text,
                title=Text(f"{session['session_id']}, {session['last_spoken'][:10]}"),
                title_align="left",
            )
        )
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
            told = (
                f"{key}: {_parts(one) if isinstance(one, Mapping) else one}"
                for key, one in value.items()
            )
            grid.add_row(label, "\n".join(told) or "none")
        else:
            grid.add_row(
                label,
                "\n".join(map(str, value)) or "none" if isinstance(value, list) else str(value),
            )
    return Group(grid, *tables)


def _decisions(answer: Mapping[str, Any]) -> RenderableType:
    table = Table(id_column(), "what", "why", "on", Column("memories", no_wrap=True))
    for one in answer["decisions"]:
        undone = "" if one["undone_at"] is None else f"\ntaken back on {one['undone_at'][:10]}"
        into = [] if one["into"] is None else [f"→ {short(one['into'])}"]
        memories = "\n".join([*map(short, one["memory_ids"]), *into])
        table.add_row(
            short(one["id"]),
            f"{one['action']}{undone}",
            one["reason"],
            one["decided_at"][:10],
            memories,
        )
    return table if answer["decisions"] else "nothing has been decided"


def _parts(value: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} {part}" for name, part in value.items())


def _records(records: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(*(Column(name.replace("_", " "), no_wrap=name in OF_IDS) for name in records[0]))
    for record in records:
        table.add_row(*(_cell(value) for value in record.values()))
    return table


def _cell(value: object) -> str:
    return (
        "\n".join(short(str(one)) for one in value)
        if isinstance(value, list)
        else ""
        if value is None
        else short(str(value))
    )


def _discovered(answer: Mapping[str, Any]) -> RenderableType:
    health = answer["health"]
    tools = Table("tool", "what it does")
    for group in answer["tools"].values():
        for name, description in group.items():
            tools.add_row(name, description)
        tools.add_section()
    parts = Table(
        "share",
        "of",
        title=f"{answer['memories']} memories, health {health['score']:.2f}",
        title_justify="left",
    )
    for part in health["parts"].values():
        parts.add_row(f"{part['share']:.0%}", part["meaning"])
    return Group(tools, parts, *health["advice"])


def _network(answer: Mapping[str, Any]) -> RenderableType:
    nodes = Table("name or concept", "turns", "memories")
    for node in answer["nodes"]:
        name = Text(node["name"], style="bold" if node["kind"] == "name" else "")
        nodes.add_row(name, str(node["turns"]), str(node["memories"]))
    edges = Table("together", "weight", "strength", "in memories")
    for edge in answer["edges"]:
        behind = "\n".join(one["content"] for one in edge["memories"])
        edges.add_row(
            f"{edge['one']} – {edge['other']}",
            str(edge["weight"]),
            f"{edge['strength']:.2f}",
            behind,
        )
    return Group(nodes, edges) if answer["nodes"] else "nothing is spoken of often enough"


def _patterns(answer: Mapping[str, Any]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("questions", f"{answer['questions']}, {answer['answered']} of them given anything")
    grid.add_row(
        "items",
        f"{answer['given']} given, {answer['used']} used, precision {answer['precision']:.2f}",
    )
    for name in ("by_hour", "by_weekday", "asked_about"):
        grid.add_row(
            name.replace("_", " "),
            ", ".join(f"{key} {count}" for key, count in answer[name].items()) or "none",
        )
    for name in ("by_category", "by_kind", "by_tag", "by_entity"):
        told = (
            f"{key}: {share['used']} of {share['given']} used"
            for key, share in answer[name].items()
        )
        grid.add_row(name.replace("_", " "), "\n".join(told) or "none")
    memories = Table("used", "memory", "last")
    for one in answer["most_used"]:
        memories.add_row(str(one["accesses"]), one["content"], one["last_accessed"][:10])
    unused = Table(
        "never used",
        title=f"{answer['never_used']} memories were never used; the most important",
        title_justify="left",
    )
    for one in answer["unused"]:
        unused.add_row(one["content"])
    change = "" if answer["trend"] is None else f", {answer['trend']:+.3f} in the later half"
    sessions = Table(
        "session",
        "began",
        "questions",
        "given",
        "used",
        "precision",
        title=f"sessions{change}",
        title_justify="left",
    )
    for one in answer["sessions"]:
        counts = (str(one[name]) for name in ("questions", "given", "used"))
        sessions.add_row(one["session_id"], one["began"][:10], *counts, f"{one['precision']:.2f}")
    return Group(grid, memories, unused, sessions)


def _trace(answer: Mapping[str, Any]) -> RenderableType:
    analysis = answer["analysis"]
    steps = Table.grid(padding=(0, 2))
    steps.add_row(
        "asks for",
        f"{analysis['scope']}: {', '.join(analysis['concepts']) or 'nothing in particular'}",
    )
    for layer in answer["layers"]:
        steps.add_row(
            layer["layer"], f"{layer['outcome']}, {layer['hits']} hits, {layer['ms']:.1f} ms"
        )
    steps.add_row(
        "weighed",
        ", ".join(f"{count} {kind}" for kind, count in answer["candidates"].items()) or "nothing",
    )
    for reason, count in answer["dropped"].items():
        steps.add_row("dropped", f"{count} {reason}")
    steps.add_row(
        "took", ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in answer["milliseconds"].items())
    )
    results = Table("relevance", "what", "by", "why (adds to the logit)")
    for one in answer["results"]:
        why = "\n".join(
            f"{reason['feature']} {reason['value']:.2f} ({reason['adds']:+.2f})"
            for reason in one["why"]
        )
        found = one["result"]
        results.add_row(
            f"{found['relevance_score']:.2f}", found["content"], "\n".join(found["sources"]), why
        )
    expected = Table(id_column(), "expected", "outcome", title_justify="left")
    for one in answer["expected"] or ():
        outcome = Text.assemble(("found " if one["found"] else "", "green"), one["reason"])
        expected.add_row(short(one["id"]), one["content"], outcome)
    told: list[RenderableType] = (
        []
        if answer["expected"] is None
        else [expected if answer["expected"] else "Nothing that is stored holds what was expected."]
    )
    return Group(steps, results, *told)


def _taken_in(answer: Mapping[str, Any]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for name in ("form", "turns", "memories", "known", "sessions"):
        table.add_row(name, str(answer[name]))
    for reason, count in answer["left_out"].items():
        table.add_row("left out", f"{count} {reason}")
    categories = Table("their category", "filed under", "unsure")
    for name, taken in answer["categories"].items():
        filed = ", ".join(f"{category} {count}" for category, count in taken["filed"].items())
        categories.add_row(name or Text("none", style="dim"), filed, str(taken["unsure"]))
    unsure = [*answer["unsure"]]
    if answer["unsure_ids"]:
        unsure.append(f"Unsure where to file: {', '.join(map(short, answer['unsure_ids']))}")
    return Group(table, *([categories] if answer["categories"] else []), *unsure)


def _quality(answer: Mapping[str, Any]) -> RenderableType:
    table = Table(
        "",
        "turns",
        "items",
        "used",
        "tokens",
        "wasted",
        "helped",
        "nothing known",
        "ms",
        "p95",
        box=SIMPLE_HEAD,
        collapse_padding=True,
    )
    table.add_row("everything", *_figures(answer["total"]))
    for part in ("by_layer", "by_intent", "by_day"):
        table.add_section()
        for name, figures in answer[part].items():
            table.add_row(name, *_figures(figures))
    return (
        table
        if answer["total"]["turns"]
        else f"no reply to a block is recorded since {answer['since']}"
    )


def _figures(of: Mapping[str, Any]) -> list[str]:
    shares = map(
        _share,
        (
            of["precision"],
            of["wasted"] / of["tokens"] if of["tokens"] else None,
            of["coverage"],
            of["nothing_known"],
        ),
    )
    used, wasted, helped, unknown = shares
    times = ("–" if ms is None else f"{ms:.0f}" for ms in (of["p50_ms"], of["p95_ms"]))
    return [
        str(of["turns"]),
        str(of["given"]),
        used,
        str(of["tokens"]),
        wasted,
        helped,
        unknown,
        *times,
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


_SHOWN: Final[Mapping[str, Callable[[Mapping[str, Any]], RenderableType]]] = {
    "store_memory": _stored,
    "search_memory": _found,
    "search_contextual": _sessions,
    "memory_decisions": _decisions,
    "discover_memory_tools": _discovered,
    "concept_network": _network,
    "usage_patterns": _patterns,
    "trace_search": _trace,
    "import_memories": _taken_in,
    "memory_quality": _quality,
}
