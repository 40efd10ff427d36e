"""Record the demo as an animated picture of a terminal."""

import io
import re
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from hotmem import Memory
from hotmem.settings import Settings
from hotmem.types import Mark
from pipelines.exchange import Exchange
from pipelines.logs import configure_logs
from pipelines.recording import load_sessions
from pipelines.replay import DEMO, replay

COLUMNS: Final = 96

PAUSE_S: Final = 0.9
"""Seconds between two exchanges of the recording; the demo itself takes a minute."""

LINE_S: Final = 0.35
"""Seconds between two lines of an exchange."""

FORMAT: Final = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>Recording of the demo</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px "DejaVu Sans Mono", Menlo, Consolas, monospace;
  line-height: {line_height}px; }}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
@media (prefers-reduced-motion: no-preference) {{
  .{unique_id}-matrix text {{ opacity: 0; animation: shown 0.25s forwards; }}
  @keyframes shown {{ to {{ opacity: 1; }} }}
}}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own format without fonts from the network, and with lines that appear one by one."""


async def record_demo() -> str:
    """Play the demo, and draw what was said, what memory gave the bot, and what it answered."""
    configure_logs(verbose=False)
    sessions = load_sessions(DEMO)
    with tempfile.TemporaryDirectory(prefix="hotmem-") as scratch:
        async with Memory.open(Path(scratch) / "memory.db", Settings().options()) as memory:
            exchanges = iter(await replay(sessions, memory, "me", Console(file=io.StringIO())))
    lines, times, now = [Text("$ make demo", style="bold")], [0.0], 0.0
    for session in sessions:
        now += PAUSE_S
        heading = Text(f"{session.started_at:%A, %-d %B %Y, %H:%M}", style="bold underline")
        lines += [Text(), heading]
        times += [now, now]
        for _ in session.utterances:
            now += PAUSE_S
            for line in exchange_lines(next(exchanges), session.speaker or "user"):
                lines.append(line)
                times.append(now)
                now += LINE_S
    return animated(lines, times)


def exchange_lines(exchange: Exchange, speaker: str) -> list[Text]:
    """The lines of an exchange: utterance, the block's most relevant line if marked, reply."""
    lines = [_line(speaker, exchange.utterance, "bold cyan")]
    items = exchange.block.items if exchange.block else ()
    best = max(items, key=lambda item: item.relevance, default=None)
    if best is not None and best.mark is not Mark.LOW:
        lines.append(_line("memory", f"{best.text}  ({best.mark})", "yellow"))
    return [*lines, _line("bot", exchange.reply, "green")]


def animated(lines: list[Text], times: list[float]) -> str:
    """The lines as SVG; each appears at its time, in seconds."""
    screen = Console(record=True, width=COLUMNS, file=io.StringIO())
    for line in lines:
        screen.print(line, no_wrap=True, overflow="ellipsis")
    drawing = screen.export_svg(title="HotMem", code_format=FORMAT, unique_id="demo")

    def delayed(text: re.Match[str]) -> str:
        return f'{text[0]} style="animation-delay: {times[int(text[1])]:.2f}s"'

    drawing = re.sub(r"<text [^>]*>\n</text>", "\n", drawing)  # the ends of lines
    return re.sub(r'clip-path="url\(#demo-line-(\d+)\)"(?=>)', delayed, drawing)


def _line(name: str, text: str, style: str) -> Text:
    return Text.assemble((f"{name:>8}  ", "dim"), (text, style))
