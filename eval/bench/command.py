"""`python -m eval bench`: commands that measure speed, memory use and growth."""

import typer

from eval.bench.background import background
from eval.bench.crowd import crowd
from eval.bench.feedback import feedback
from eval.bench.fleet.command import fleet
from eval.bench.language import language
from eval.bench.latency import latency
from eval.bench.scale import scale
from eval.bench.soak import soak
from eval.bench.tools import tools
from eval.bench.turn import turn
from pipelines.logs import configure_logs

bench = typer.Typer(help="Measure speed, memory use and growth.", no_args_is_help=True)
for command in (
    latency,
    fleet,
    language,
    turn,
    soak,
    crowd,
    tools,
    feedback,
    background,
    scale,
):
    bench.command(command.__name__)(command)


@bench.callback()
def quiet() -> None:
    """Log warnings only."""
    configure_logs(verbose=False)
