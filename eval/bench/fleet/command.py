"""`python -m eval bench fleet`."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eval.arguments import AsJson, working_folder
from eval.bench.fleet.measure import Plan, measure
from eval.output import print_figures, print_json


def fleet(
    url: Annotated[str, typer.Argument(help="URL of an empty PostgreSQL database.")],
    bots: Annotated[int, typer.Option(help="Bot processes.", min=1)] = 20,
    workers: Annotated[int, typer.Option(help="Worker processes.", min=1)] = 2,
    users: Annotated[int, typer.Option(help="Users, spread over the bots.", min=1)] = 1000,
    minutes: Annotated[float, typer.Option(help="Minutes of calls.", min=0.01)] = 10,
    exchanges: Annotated[int, typer.Option(help="Utterances of the user in a call.", min=1)] = 3,
    pause: Annotated[float, typer.Option(help="Seconds between utterances.", min=0)] = 3,
    kill_bots: Annotated[int, typer.Option(help="Bots killed and replaced.", min=0)] = 2,
    kill_workers: Annotated[int, typer.Option(help="Workers killed and replaced.", min=0)] = 1,
    restart: Annotated[str, typer.Option(help="Command that restarts the server, run once.")] = "",
    settle: Annotated[
        float, typer.Option(help="Minutes at most for the jobs left after the last call.", min=0)
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the times of kills and of the restart.")] = 7,
    keep: Annotated[
        Path | None, typer.Option(help="Empty folder for logs and spools; temporary by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run bots and workers on one server, kill and restart parts; verify that no turn is lost."""
    plan = Plan(
        bots, workers, users, minutes, exchanges, pause, kill_bots, kill_workers, restart,
        settle, seed,
    )  # fmt: skip
    with working_folder(keep) as folder:
        result = asyncio.run(measure(url, plan, folder))
    found = asdict(result)
    print_figures("a fleet on one server; delays in ms", found)
    for broken in result.broken:
        print(f"Broken: {broken}.")
    print_json(found | {"broken": result.broken}, as_json)
    if result.broken:
        raise typer.Exit(1)
