"""Results of the memory tools as tables for the terminal."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from hotmem.core.validation import counted
from hotmem.operations.results import ConflictAdvice
from hotmem.operations.search import RELEVANT_FROM
from hotmem.storage.queries.times import short
from hotmem.types import StoredMemory
from hotmem.types.maintenance import UserSummary


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


ID_FIELDS: Final = ("id", "decision")
"""Record fields that are IDs; their columns are never cut."""

NO_VALUE: Final = "–"

IMPORT_FIELDS: Final = {
    "form": "format",
    "turns": "turns",
    "memories": "memories",
    "known": "already stored",
    "sessions": "sessions",
}
"""Fields of an import report and their labels."""


def render(name: str, result: Mapping[str, Any]) -> RenderableType:
    """Return the result of the tool `name` as a table."""
    return _RENDERERS.get(name, _generic)(result)


def memory_table(memories: Iterable[StoredMemory]) -> Table:
    """Return a table of memories."""
    table = Table(id_column(), "memory", "kind", "said", "until")
    for one in memories:
        until = one.valid_until.date().isoformat() if one.valid_until else ""
        if one.doubted_at and not until:
            until = f"in doubt since {one.doubted_at.date().isoformat()}"
        said = one.said_at.date().isoformat()
        table.add_row(short(one.id), one.text, one.kind, said, until)
    return table


def _stored(result: Mapping[str, Any]) -> RenderableType:
    analysis, advice = result["analysis"], result["recommendations"]
    table = Table.grid(padding=(0, 2))
    table.add_row("confirmed" if result["merged"] else "stored", result["id"])
    unsure = "" if analysis["sure"] else "  (uncertain)"
    labels = f"{analysis['category']}, {analysis['kind']}, importance {analysis['importance']}"
    table.add_row("classified as", Text.assemble(labels, (unsure, "yellow")))
    table.add_row("tags", ", ".join(analysis["tags"]) or "none")
    for one in advice["conflicts"]:
        old = f"{one['old_content']} ({short(one['old_id'])})"
        if one["advice"] == ConflictAdvice.UPDATE:
            decision = short(one["calls"][0]["arguments"]["decision"])
            table.add_row("ended", f"{old}; `hotmem undo {decision}` if it still holds")
        else:
            table.add_row("possibly outdated", old)
    revised = [one["old_id"] for one in advice["conflicts"]]
    for one in (one for one in advice["similar_memories"] if one["id"] not in revised):
        table.add_row(
            "similar" if one not in advice["suggested_merges"] else "possible duplicate",
            f"{one['content']} ({short(one['id'])})",
        )
    return table


def _generic(result: Mapping[str, Any]) -> RenderableType:
    """Return names and values; a list of records becomes a table."""
    grid = Table.grid(padding=(0, 2))
    tables: list[RenderableType] = []
    for name, value in result.items():
        label = name.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables.append(_records(value))
        elif isinstance(value, Mapping):
            lines = (
                f"{key}: {_parts(one) if isinstance(one, Mapping) else _value(one)}"
                for key, one in value.items()
            )
            grid.add_row(label, "\n".join(lines) or "none")
        else:
            grid.add_row(
                label,
                "\n".join(map(str, value)) or "none" if isinstance(value, list) else _value(value),
            )
    return Group(grid, *tables)


def _value(value: object) -> str:
    return NO_VALUE if value is None else str(value)


def _decisions(result: Mapping[str, Any]) -> RenderableType:
    table = Table(id_column(), "action", "reason", "date", Column("memories", no_wrap=True))
    for one in result["decisions"]:
        undone = "" if one["undone_at"] is None else f"\nundone on {one['undone_at'][:10]}"
        into = [] if one["into"] is None else [f"→ {short(one['into'])}"]
        memories = "\n".join([*map(short, one["memory_ids"]), *into])
        table.add_row(
            short(one["id"]),
            f"{one['action']}{undone}",
            "\n".join((one["reason"], *_changes(one))),
            one["decided_at"][:10],
            memories,
        )
    return table if result["decisions"] else "no decisions"


def _changes(decision: Mapping[str, Any]) -> list[str]:
    """The changes of a decision that its reason does not name."""
    return [
        f"{one['field']}: {_value(one['before'])} → {_value(one['after'])}"
        for one in decision["changes"]
        if one["field"] in ("tags", "found_tags", "note", "valid_until", "subcategories")
    ]


def _parts(value: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} {part}" for name, part in value.items())


def _records(records: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        *(Column(name.replace("_", " "), no_wrap=name in ID_FIELDS) for name in records[0])
    )
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


def _discovered(result: Mapping[str, Any]) -> RenderableType:
    health = result["health"]
    tools = Table("tool", "description")
    for group in result["tools"].values():
        for name, description in group.items():
            tools.add_row(name, description)
        tools.add_section()
    parts = Table(
        "share",
        "measure",
        title=f"{counted(result['memories'], 'memory', 'memories')}, health {health['score']:.2f}",
        title_justify="left",
    )
    for part in health["parts"].values():
        parts.add_row(f"{part['share']:.0%}", part["meaning"])
    return Group(tools, parts, *(line for one in result["advice"] for line in _advised(one)))


def _advised(advice: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield a piece of advice, and the calls that follow it."""
    yield Text(f"{advice['about']}: {advice['text']}")
    for call in advice["calls"]:
        arguments = json.dumps(call["arguments"], ensure_ascii=False)
        yield Text(f"  {call['tool']} {arguments} ({call['effect']})", style="dim")


def _network(result: Mapping[str, Any]) -> RenderableType:
    nodes = Table("name or concept", "turns", "memories")
    for node in result["nodes"]:
        name = Text(node["name"], style="bold" if node["kind"] == "name" else "")
        nodes.add_row(name, str(node["turns"]), str(node["memories"]))
    edges = Table("pair", "mentions", "strength", "memories")
    for edge in result["edges"]:
        memories = "\n".join(one["content"] for one in edge["memories"])
        edges.add_row(
            f"{edge['one']} – {edge['other']}",
            str(edge["weight"]),
            f"{edge['strength']:.2f}",
            memories,
        )
    return (
        Group(nodes, edges) if result["nodes"] else "no name or concept is mentioned often enough"
    )


def _usage(result: Mapping[str, Any]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("recalls", f"{result['questions']}, {result['answered']} with results")
    grid.add_row(
        "items",
        f"{result['given']} in context blocks, {result['used']} used by replies,"
        f" precision {result['precision']:.2f}",
    )
    for name in ("by_hour", "by_weekday", "asked_about"):
        grid.add_row(
            name.replace("_", " "),
            ", ".join(f"{key} {count}" for key, count in result[name].items()) or "none",
        )
    for name in ("by_category", "by_kind", "by_tag", "by_entity"):
        lines = (
            f"{key}: {share['used']} of {share['given']} used"
            for key, share in result[name].items()
        )
        grid.add_row(name.replace("_", " "), "\n".join(lines) or "none")
    memories = Table("times", "memory", "last")
    for one in result["most_used"]:
        memories.add_row(str(one["accesses"]), one["content"], one["last_accessed"][:10])
    never = counted(result["never_used"], "memory", "memories")
    unused = Table("memory")
    for one in result["unused"]:
        unused.add_row(one["content"])
    change = (
        ""
        if result["trend"] is None
        else f"; mean precision {result['trend']:+.3f} from the first half to the second"
    )
    sessions = Table("session", "start", "recalls", "given", "used", "precision")
    for one in result["sessions"]:
        counts = (str(one[name]) for name in ("questions", "given", "used"))
        sessions.add_row(one["session_id"], one["began"][:10], *counts, f"{one['precision']:.2f}")
    return Group(
        grid,
        "\nmemories that searches found or replies used",
        memories,
        f"\n{never} never found or used, most important first",
        unused,
        f"\nsessions{change}",
        sessions,
    )


def _trace(result: Mapping[str, Any]) -> RenderableType:
    analysis = result["analysis"]
    steps = Table.grid(padding=(0, 2))
    steps.add_row(
        "query",
        f"{analysis['scope']}: {', '.join(analysis['concepts']) or 'no concepts'}",
    )
    for layer in result["layers"]:
        steps.add_row(
            layer["layer"],
            f"{layer['outcome']}, {counted(layer['hits'], 'hit')}, {layer['ms']:.1f} ms",
        )
    steps.add_row(
        "ranked",
        ", ".join(f"{count} {kind}" for kind, count in result["candidates"].items()) or "nothing",
    )
    for reason, count in result["dropped"].items():
        steps.add_row("dropped", f"{reason}: {count}")
    steps.add_row(
        "time", ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in result["milliseconds"].items())
    )
    results = Table("relevance", "text", "layers", "feature value (effect on the logit)")
    for one in result["results"]:
        features = "\n".join(
            f"{reason['feature']} {reason['value']:.2f} ({reason['adds']:+.2f})"
            for reason in one["why"]
        )
        found = one["result"]
        results.add_row(
            f"{found['relevance_score']:.2f}",
            found["content"],
            "\n".join(found["sources"]),
            features,
        )
    expected = Table(id_column(), "expected", "outcome", title_justify="left")
    for one in result["expected"] or ():
        outcome = Text.assemble(("found " if one["found"] else "", "green"), one["reason"])
        expected.add_row(short(one["id"]), one["content"], outcome)
    if result["expected"] is None:
        return Group(steps, results)
    return Group(
        steps,
        results,
        expected if result["expected"] else "No stored text matches what was expected.",
    )


def _import_report(result: Mapping[str, Any]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for field, label in IMPORT_FIELDS.items():
        table.add_row(label, str(result[field]))
    for reason, count in result["left_out"].items():
        table.add_row("skipped", f"{reason}: {count}")
    categories = Table("original category", "category", "uncertain")
    for name, mapped in result["categories"].items():
        counts = ", ".join(f"{category} {count}" for category, count in mapped["filed"].items())
        categories.add_row(name or Text("none", style="dim"), counts, str(mapped["unsure"]))
    warnings = [*result["unsure"]]
    if result["unsure_ids"]:
        ids = ", ".join(map(short, result["unsure_ids"]))
        warnings.append(f"Uncertain category: {ids}")
    return Group(table, *([categories] if result["categories"] else []), *warnings)


def _quality(result: Mapping[str, Any]) -> RenderableType:
    table = Table(
        "",
        "turns",
        "items",
        "used",
        "tokens",
        "unused",
        "helpful",
        "unanswered",
        "ms",
        "p95",
        box=SIMPLE_HEAD,
        collapse_padding=True,
    )
    table.add_row("total", *_figures(result["total"]))
    for part in ("by_layer", "by_intent", "by_day"):
        table.add_section()
        for name, figures in result[part].items():
            table.add_row(name, *_figures(figures))
    return (
        table
        if result["total"]["turns"]
        else f"no reply to a context block is recorded since {result['since']}"
    )


def _figures(of: Mapping[str, Any]) -> list[str]:
    wasted = of["wasted"] / of["tokens"] if of["tokens"] else None
    return [
        str(of["turns"]),
        str(of["given"]),
        _percent(of["precision"]),
        str(of["tokens"]),
        _percent(wasted),
        _percent(of["coverage"]),
        _percent(of["nothing_known"]),
        *(NO_VALUE if ms is None else f"{ms:.0f}" for ms in (of["p50_ms"], of["p95_ms"])),
    ]


def _percent(share: float | None) -> str:
    return NO_VALUE if share is None else f"{share:.0%}"


_RENDERERS: Final[Mapping[str, Callable[[Mapping[str, Any]], RenderableType]]] = {
    "store_memory": _stored,
    "search_memory": search_results,
    "search_contextual": conversations,
    "memory_decisions": _decisions,
    "discover_memory_tools": _discovered,
    "concept_network": _network,
    "usage_patterns": _usage,
    "trace_search": _trace,
    "import_memories": _import_report,
    "memory_quality": _quality,
}


def user_table(users: Iterable[UserSummary]) -> Table:
    """Return a table of users; their IDs are not shortened."""
    table = Table(Column("user", overflow="fold"), "turns", "memories", "last turn")
    for one in users:
        last = NO_VALUE if one.last_said is None else one.last_said.date().isoformat()
        table.add_row(one.user_id, f"{one.turns:,}", f"{one.memories:,}", last)
    return table
