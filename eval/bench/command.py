"""`python -m eval bench`: commands that measure speed, memory use and growth."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval.arguments import AsJson, Keep, print_json, working_folder
from eval.bench import (
    background,
    copying,
    crowd,
    engines,
    feedback,
    ingestion,
    language,
    latency,
    reembed,
    scale,
    soak,
    tools,
    turn,
)
from eval.bench.fleet import measure as fleet
from eval.bench.fleet import report as fleet_report
from pipelines.logs import configure_logs

bench = typer.Typer(help="Measure speed, memory use and growth.", no_args_is_help=True)


@bench.command("latency")
def bench_latency(
    turns: Annotated[int, typer.Option(help="Turns in the memory of one user.", min=1)] = 10_000,
    questions: Annotated[
        int,
        typer.Option(help="Distinct queries measured, and turns remembered.", min=1, max=900),
    ] = 300,
    as_json: AsJson = False,
) -> None:
    """Measure recall() by stage, remember(), and the encoder against sentence-transformers."""
    result = latency.measure(turns, questions, Console(stderr=True))
    latency.show(result, Console())
    print_json(latency.figures(result), as_json)


@bench.command("engines")
def bench_engines(
    url: Annotated[str, typer.Argument(help="URL of an empty PostgreSQL database.")],
    turns: Annotated[
        list[int] | None,
        typer.Option(help="Turns of a measured user; repeatable. 1,000 by default.", min=1),
    ] = None,
    questions: Annotated[
        int,
        typer.Option(help="Queries measured for each, and turns remembered.", min=1, max=500),
    ] = 100,
    delay_ms: Annotated[
        list[float] | None,
        typer.Option(help="Milliseconds added to a round trip; repeatable. 0 and 2 by default."),
    ] = None,
    others: Annotated[
        int, typer.Option(help="Other users in both databases, with 100 turns each.", min=0)
    ] = 0,
    writers: Annotated[
        list[int] | None,
        typer.Option(help="Writers of the ingestion; repeatable. 1, 4 and 8 by default.", min=1),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Seconds of each measurement of the ingestion.", min=0.1)
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Measure SQLite beside PostgreSQL: recalls, cold starts, remember() and ingestion."""
    plan = engines.Plan(
        turns or [1000], questions, delay_ms or [0.0, 2.0], others, writers or ingestion.WRITERS,
        seconds,
    )  # fmt: skip
    result = engines.measure(url, plan, Console(stderr=True))
    engines.show(result, Console())
    print_json(asdict(result), as_json)


@bench.command("copy")
def bench_copy(
    url: Annotated[str, typer.Argument(help="URL of an empty PostgreSQL database.")],
    turns: Annotated[int, typer.Option(help="Turns of the one user.", min=1)] = 100_000,
    questions: Annotated[
        int, typer.Option(help="Queries asked of the memory and its copies.", min=1, max=500)
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Measure `hotmem copy` from a file to a server and back, and compare the three memories."""
    result = copying.measure(url, turns, questions, Console(stderr=True))
    copying.show(result, Console())
    print_json(asdict(result), as_json)


@bench.command("fleet")
def bench_fleet(
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
    plan = fleet.Plan(
        bots, workers, users, minutes, exchanges, pause, kill_bots, kill_workers, restart,
        settle, seed,
    )  # fmt: skip
    configure_logs(verbose=False)
    with working_folder(keep) as folder:
        result = asyncio.run(fleet.measure(url, plan, folder, Console(stderr=True)))
    fleet_report.show(result, Console())
    print_json(fleet_report.figures(result), as_json)
    if result.broken:
        raise typer.Exit(1)


@bench.command("language")
def bench_language(
    utterances: Annotated[int, typer.Option(help="Utterances analysed.", min=1, max=2000)] = 300,
    as_json: AsJson = False,
) -> None:
    """Measure parsing, query analysis and fact extraction on utterances of about 25 words."""
    result = language.measure(utterances, Console(stderr=True))
    language.show(result, Console())
    print_json(asdict(result), as_json)


@bench.command("turn")
def bench_turn(
    turns: Annotated[
        list[int] | None,
        typer.Option(
            help="Turns of a memory file; may be repeated. 100 and 100,000 by default.", min=1
        ),
    ] = None,
    questions: Annotated[
        int, typer.Option(help="Queries of the single session.", min=1, max=500)
    ] = 60,
    crowd: Annotated[
        int, typer.Option(help="Concurrent sessions of the second run; 0 skips it.", min=0, max=200)
    ] = 50,
    mem0: Annotated[
        int, typer.Option(help="Turns of the mem0 service's store; 0 skips mem0.", min=0)
    ] = 2_000,
    recordings: Annotated[bool, typer.Option(help="Play recordings, in real time.")] = True,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure what memory adds from final transcript to LLM, in real pipelines, against mem0."""
    configure_logs(verbose=False)
    console = Console(stderr=True)
    if mem0 and (missing := turn.mem0_missing()):
        console.print(missing)
        mem0 = 0
    with working_folder(keep) as folder:
        results = asyncio.run(
            turn.measure(
                turns or turn.USUAL,
                crowd,
                questions,
                mem0,
                folder,
                console,
                recordings=recordings,
            )
        )
    turn.show(results, Console())
    print_json(turn.figures(results), as_json)


@bench.command("soak")
def bench_soak(
    minutes: Annotated[
        float,
        typer.Option(help="Minutes of conversation, about thirty times real time.", min=1),
    ] = 30,
    as_json: AsJson = False,
) -> None:
    """Run one long conversation and watch latency, memory, tasks and threads for growth."""
    configure_logs(verbose=False)
    parts = asyncio.run(soak.measure(minutes, Console(stderr=True)))
    soak.show(parts, Console())
    print_json([asdict(part) for part in parts], as_json)


@bench.command("crowd")
def bench_crowd(
    users: Annotated[int, typer.Option(help="Concurrent users.", min=1)] = 50,
    minutes: Annotated[float, typer.Option(help="Duration in minutes.", min=0.01)] = 30,
    as_json: AsJson = False,
) -> None:
    """Run many users in one process; count late recalls, event loop delays and memory growth."""
    configure_logs(verbose=False)
    parts, settled_s = asyncio.run(crowd.measure(users, minutes, Console(stderr=True)))
    crowd.show(parts, settled_s, Console())
    print_json(crowd.figures(parts), as_json)


@bench.command("reembed")
def bench_reembed(
    turns: Annotated[int, typer.Option(help="Turns of the memory file.", min=1)] = 100_000,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the memory file; temporary by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change the encoder of a memory in use; count late and failed recalls; verify the result."""
    configure_logs(verbose=False)
    with working_folder(folder) as place:
        change = asyncio.run(reembed.measure(turns, place, Console(stderr=True)))
    reembed.show(change, Console())
    print_json(reembed.figures(change), as_json)


@bench.command("tools")
def bench_tools(
    memories: Annotated[int, typer.Option(help="Memories of one user.", min=1)] = 10_000,
    questions: Annotated[
        int, typer.Option(help="Searches measured, and statements stored.", min=1, max=2000)
    ] = 200,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure search_memory() and store_memory() with many memories of one user."""
    with working_folder(keep) as folder:
        result = asyncio.run(tools.measure(memories, questions, folder, Console(stderr=True)))
    tools.show(result, Console())
    print_json(tools.figures(result), as_json)


@bench.command("feedback")
def bench_feedback(
    replies: Annotated[int, typer.Option(help="Replies measured.", min=1, max=800)] = 300,
    memories: Annotated[int, typer.Option(help="Memories of one user.", min=1)] = feedback.MEMORIES,
    as_json: AsJson = False,
) -> None:
    """Measure feedback(): usage detection, storage and learning."""
    result = feedback.measure(replies, memories, Console(stderr=True))
    feedback.show(result, Console())
    print_json(feedback.figures(result), as_json)


@bench.command("background")
def bench_background(
    memories: Annotated[
        int,
        typer.Option(help="Memories stored, evenly over the seven categories.", min=1),
    ] = 14_000,
    recalls: Annotated[int, typer.Option(help="Recalls measured in each arm.", min=1)] = 400,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall() with and without category evolution and tag consolidation running."""
    with working_folder(keep) as folder:
        result = asyncio.run(background.measure(memories, recalls, folder, Console(stderr=True)))
    background.show(result, Console())
    print_json(background.figures(result), as_json)


@bench.command("scale")
def bench_scale(
    turns: Annotated[
        list[int] | None,
        typer.Option(
            help="Turns per user; may be repeated. 1,000, 10,000 and 100,000 by default.", min=1
        ),
    ] = None,
    users: Annotated[int, typer.Option(help="Users of each memory file.", min=1)] = 1,
    questions: Annotated[
        int, typer.Option(help="Distinct queries measured at each size.", min=1, max=2000)
    ] = scale.QUESTIONS,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall(), ingestion, file size and memory as a memory file grows."""
    sizes = [scale.Size(users, each) for each in turns or scale.USUAL]
    with working_folder(keep) as folder:
        results = scale.measure(sizes, questions, folder, Console(stderr=True))
    scale.show(results, Console())
    print_json(scale.figures(results), as_json)
