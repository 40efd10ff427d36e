"""Show exchanges on the terminal, from the objects that HotMem returned."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hotmem.cli import console
from hotmem.core.validation import counted
from hotmem.errors import HotMemError
from hotmem.types import (
    Analysis,
    ContextBlock,
    Layer,
    LayerOutcome,
    StoredMemory,
    Trace,
    Usage,
    Weights,
)
from pipelines.exchange import Exchange
from pipelines.recording import Session

WIDTH = 100
"""Maximum width in columns, which a README shows without wrapping."""


def wide_console() -> Console:
    """A console of at most `WIDTH` columns."""
    wide = console.make_console()
    return console.make_console(width=min(WIDTH, wide.width) if wide.is_terminal else WIDTH)


def failure(error: HotMemError) -> RenderableType:
    """A HotMem error: its type and message."""
    return Text.assemble((type(error).__name__, "red"), f": {error}")


def reply_line(reply: str) -> RenderableType:
    """The reply alone."""
    return Text(reply or "(no answer)", style="bold green")


def session_heading(session: Session) -> RenderableType:
    """Heading of a session."""
    speaker = f" · {session.speaker}" if session.speaker else ""
    return Text(
        f"\n{session.id} · {session.started_at:%A, %-d %B %Y, %H:%M}{speaker}",
        style="bold underline",
    )


def exchange_panel(
    number: int, exchange: Exchange, before: Weights, after: Weights
) -> RenderableType:
    """Details of an exchange: utterance, analysis, recall, block, reply, usage, weights."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", justify="right", no_wrap=True)
    rows.add_column(ratio=1)
    rows.add_row("user", Text(exchange.utterance or "nothing", style="bold cyan"))
    if exchange.block is not None:
        trace = exchange.block.trace
        rows.add_row("analysis", analysis_line(trace.analysis))
        if trace.layers:
            rows.add_row("layers", layers_line(trace))
            rows.add_row("stages", stages_line(trace))
        rows.add_row("block", block_text(exchange.block))
    else:
        rows.add_row("block", Text("none in time", style="yellow"))
    rows.add_row("reply", Text(exchange.reply or "none", style="bold green"))
    if exchange.usage is not None:
        rows.add_row("used", used_lines(exchange.usage))
    rows.add_row("weights", weights_line(before, after))
    return Panel(rows, title=Text(str(number), style="dim"), title_align="left", border_style="dim")


def analysis_line(analysis: Analysis | None) -> Text:
    """The analysis of an utterance, in one line."""
    if analysis is None:
        return Text("none", style="yellow")
    parts = [f"{analysis.intent}, {analysis.complexity}"]
    if analysis.entities:
        parts.append("names " + ", ".join(analysis.entities))
    if analysis.time is not None:
        parts.append(f"time {analysis.time.start:%-d %b %Y} to {analysis.time.end:%-d %b %Y}")
    if analysis.ambiguous:
        resolved = f" → {', '.join(analysis.expansion)}" if analysis.expansion else ""
        parts.append(f"“{', '.join(analysis.ambiguous)}”{resolved}")
    if not analysis.needs_memory:
        parts.append("needs no memory")
    return Text(" · ".join(parts))


def layers_line(trace: Trace) -> Text:
    """Hits and duration of each layer."""
    line = Text()
    for report in trace.layers:
        match report.outcome:
            case LayerOutcome.ANSWERED:
                line.append(f"{report.layer} {report.hits}").append(
                    f" in {report.ms:.1f} ms  ", style="dim"
                )
            case LayerOutcome.NOT_ASKED:
                line.append(f"{report.layer} not queried  ", style="dim")
            case _:
                line.append(f"{report.layer} {report.outcome}  ", style="yellow")
    return line


def stages_line(trace: Trace) -> Text:
    """Duration of each stage and of the whole recall."""
    stages = ", ".join(f"{stage} {ms:.1f}" for stage, ms in trace.stages.items())
    return Text(f"{stages}; total {sum(trace.stages.values()):.1f} ms", style="dim")


def block_text(block: ContextBlock) -> RenderableType:
    """The block as the LLM got it."""
    if not block.text:
        return Text(block.trace.reason, style="dim")
    return Group(
        Text(block.text, style="italic"),
        Text(f"{block.tokens} tokens, {counted(len(block.items), 'item')}", style="dim"),
    )


def used_lines(usage: Usage) -> Text:
    """The items that the reply used, and how."""
    if not usage.used:
        return Text(f"none of {counted(len(usage.uses), 'item')}", style="dim")
    lines = (
        f"{use.item.text}  [{use.kind}, {use.item.layer}, {use.item.mark}]" for use in usage.used
    )
    return Text("\n".join(lines))


def weights_line(before: Weights, after: Weights) -> Text:
    """The layer weights after the exchange, with marked changes."""
    line = Text()
    for layer in Layer:
        change = after[layer] - before[layer]
        style = "dim" if abs(change) < 5e-4 else ("green" if change > 0 else "red")
        arrow = "" if style == "dim" else (" ↑" if change > 0 else " ↓")
        line.append(f"{layer} {after[layer]:.3f}{arrow}   ", style=style)
    return line


def memories_table(memories: Sequence[StoredMemory]) -> RenderableType:
    """The stored memories, latest last."""
    table = Table(
        title="stored memories",
        title_justify="left",
        title_style="bold",
        width=WIDTH,
        border_style="dim",
    )
    table.add_column("memory", ratio=1)
    for heading in ("kind", "said", "valid"):
        table.add_column(heading, no_wrap=True)
    for memory in sorted(memories, key=lambda memory: memory.said_at):
        valid = "now" if memory.valid_until is None else f"until {memory.valid_until:%-d %b}"
        style = "none" if memory.valid_until is None else "dim strike"
        table.add_row(
            Text(memory.text, style=style), memory.kind, f"{memory.said_at:%-d %b %Y}", valid
        )
    return table
