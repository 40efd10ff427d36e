"""The results of a fleet as a table and as plain values."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from eval.bench.fleet.measure import Delays, Result


def show(result: Result, console: Console) -> None:
    """Print the results, and which guarantees are broken."""
    plan, turns = result.plan, result.verified
    table = Table(
        title=(
            f"{plan.bots} bots, {plan.workers} workers, {plan.users:,} users, {plan.minutes:g} min;"
            f" {plan.killed_bots} bots and {plan.killed_workers} workers killed"
        ),
        title_justify="left",
        show_header=False,
    )
    table.add_column()
    table.add_column(justify="right")
    restart = "none" if result.outage_s is None else f"{result.outage_s:.1f} s"
    takeovers = (f"{one:.1f} s" if one is not None else "–" for one in result.takeover_s)
    rows = {
        "calls": f"{turns.calls:,}",
        "turns acknowledged": f"{turns.acknowledged:,}",
        "  spooled first": f"{turns.spooled:,}",
        "turns stored": f"{turns.stored:,}",
        "  acknowledged and lost / doubled": f"{turns.lost} / {turns.doubled}",
        "  sessions out of order": f"{turns.disordered}",
        "lost, not acknowledged: told / killed / silent": (
            f"{turns.told} / {turns.killed} / {turns.silent}"
        ),
        "turns left in spools": f"{result.in_spools}",
        "jobs left / failed for good": f"{result.jobs_left} / {result.set_aside}",
        "words and turns of other users delivered": f"{turns.foreign}",
        "recalls": f"{0 if result.added is None else result.added.number:,}",
        "  late or incomplete blocks": f"{turns.late:,}",
        "added delay, ms p50 / p95 / max": _delays(result.added),
        "restart of the server": restart,
        "  recalls during it": f"{0 if result.outage is None else result.outage.number:,}",
        "  added delay, ms p50 / p95 / max": _delays(result.outage),
        "takeover after a worker's death": ", ".join(takeovers) or "none",
        "jobs done after the last call": f"{result.settled_s:.0f} s",
        "memory of all processes, MiB": f"{result.memory_mb:,.0f}",
    }
    rows |= {"errors told by workers": f"{result.worker_errors}"}
    rows |= {f"  by bots, {name}": f"{number:,}" for name, number in sorted(result.errors.items())}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table, highlight=False)
    for broken in result.broken:
        console.print(f"Broken: {broken}.", highlight=False)


def figures(result: Result) -> dict[str, Any]:
    """Return the results as plain values."""
    return asdict(result) | {"broken": result.broken}


def _delays(delays: Delays | None) -> str:
    if delays is None:
        return "–"
    return f"{delays.p50:.1f} / {delays.p95:.1f} / {delays.max:.1f}"
