"""The command line of the evaluation: `python -m eval --help`."""

import asyncio
import json
import tempfile
import time
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval import knowing, train
from eval.bench import beside, crowd, feedback, language, latency, reembed, scale, soak, turn
from eval.bench import tools as tool_times
from eval.datasets import LOADERS, Dataset
from eval.datasets.recognised import as_recognised
from eval.datasets.selection import selected
from eval.encoder.command import encoder
from eval.language.corrections import corrections
from eval.language.facts import facts
from eval.language.identity import identity
from eval.language.need import need
from eval.language.rewriting import rewriting
from eval.language.sayings import read_sayings
from eval.language.time import time as times
from eval.learning.command import learn, usage
from eval.peers.command import peers
from eval.regimes.command import regimes
from eval.report import figures, show
from eval.retrieval import retrieved_histories
from eval.rows import write
from eval.run import models, run
from eval.snapshot import app as snapshot
from eval.studies.command import COMMANDS
from eval.tools.command import roundtrip, tools
from hotmem.errors import HotMemError
from pipelines.logs import configure_logs

app = typer.Typer(
    help="Measures HotMem beside simple references.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
bench = typer.Typer(help="Measures speed.", no_args_is_help=True)
app.add_typer(bench, name="bench")
app.add_typer(encoder, name="encoder")
app.add_typer(snapshot, name="snapshot")
app.command("regimes")(regimes)
app.command("peers")(peers)
app.command("corrections")(corrections)
app.command("facts")(facts)
app.command("identity")(identity)
app.command("need")(need)
app.command("rewriting")(rewriting)
app.command("sayings")(read_sayings)
app.command("time")(times)
app.command("tools")(tools)
app.command("roundtrip")(roundtrip)
app.command("usage")(usage)
app.command("learn")(learn)
for name, study in COMMANDS.items():
    app.command(name)(study)


@app.command("run")
def evaluate(
    dataset: Annotated[Dataset, typer.Argument(help="The form of the data.")],
    path: Annotated[Path, typer.Argument(help="The dataset's file or folder.", exists=True)],
    budget: Annotated[int, typer.Option(help="Tokens of a block at most.", min=1)] = 1000,
    limit: Annotated[
        int | None,
        typer.Option(help="Conversations at most; a LongMemEval question is one.", min=1),
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="File for one JSON line per question and system.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Processes the conversations are spread over.", min=1)
    ] = 2,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps embeddings and parses for later runs; a run alone otherwise."
        ),
    ] = None,
    recognised: Annotated[
        bool,
        typer.Option(
            "--recognised", help="Turns and questions in lower case, without punctuation."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Ingests a dataset through the public API, asks its questions, and counts the evidence that the blocks deliver."""
    console = Console()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        folder = cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        conversations = islice(LOADERS[dataset](path), limit)
        outcomes = run(
            map(as_recognised, conversations) if recognised else conversations,
            budget,
            jobs,
            folder,
            Console(stderr=True),
        )
    seconds = time.perf_counter() - started
    found = [row for outcome in outcomes for row in outcome.rows]
    if not found:
        raise typer.BadParameter("it holds no questions", param_hint="PATH")
    if rows:
        write(found, rows)
    skipped, turns = (
        sum(outcome.skipped for outcome in outcomes),
        sum(outcome.turns for outcome in outcomes),
    )
    ingest_s = sum(outcome.ingest_s for outcome in outcomes)
    show(found, f"{dataset}{' as recognised' if recognised else ''}, {budget} tokens", console)
    console.print(
        f"{len(outcomes)} conversations, {turns:,} turns ingested at {1000 * ingest_s / turns:.1f} ms a turn in each process, "
        f"{skipped} pieces of evidence point nowhere, {seconds:.0f} s"
    )
    if as_json:
        totals = {
            "conversations": len(outcomes),
            "turns": turns,
            "skipped": skipped,
            "ingest_s": round(ingest_s, 1),
            "seconds": round(seconds, 1),
        }
        print(
            json.dumps(
                {"dataset": dataset, "budget": budget, "recognised": recognised}
                | totals
                | figures(found)
            )
        )


@app.command("train")
def fit(
    data: Annotated[list[str], typer.Argument(help="DATASET=PATH, one or more.")],
    out: Annotated[
        Path | None, typer.Option(help="File for the coefficients; shown otherwise.")
    ] = None,
    step: Annotated[
        int,
        typer.Option(
            help="Take every n-th conversation of LongMemEval, which has one a question.", min=1
        ),
    ] = 6,
    jobs: Annotated[
        int, typer.Option(help="Processes the conversations are spread over.", min=1)
    ] = 2,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps embeddings and parses for later runs; a run alone otherwise."
        ),
    ] = None,
) -> None:
    """Fits the relevance model on every second conversation, whole and young, told and stored, and says how it does on the others."""
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        folder = cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        asked = retrieved_histories(selected(data, step), jobs, folder, console)
    samples = {name: train.samples(part) for name, part in asked.items()}
    model = train.fitted(samples)
    model = replace(
        model,
        answerability=knowing.fitted(
            [one for part in asked.values() for one in knowing.attempts(part, model)]
        ),
    )
    for name, seen in samples.items():
        held = train.quality(model, seen)
        console.print(
            f"{name}: {held.candidates:,} held-out candidates, AUC {held.auc:.3f}, calibration error {held.calibration_error:.4f}"
        )
    text = train.written(model, list(samples))
    if out:
        out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


@bench.command("latency")
def bench_latency(
    turns: Annotated[
        int, typer.Option(help="Turns of the one user in the store.", min=100)
    ] = 10_000,
    questions: Annotated[
        int,
        typer.Option(
            help="Distinct questions asked, and turns remembered one at a time.", min=10, max=900
        ),
    ] = 300,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures recall() with its stages, remember(), and the encoder beside sentence-transformers."""
    result = latency.measure(turns, questions, Console(stderr=True))
    latency.show(result, Console())
    if as_json:
        print(json.dumps(latency.figures(result)))


@bench.command("language")
def bench_language(
    utterances: Annotated[int, typer.Option(help="Utterances read.", min=20, max=2000)] = 300,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures the parse, the analysis and the facts of utterances of some 25 words."""
    reading = language.measure(utterances, Console(stderr=True))
    language.show(reading, Console())
    if as_json:
        print(json.dumps(asdict(reading)))


@bench.command("turn")
def bench_turn(
    turns: Annotated[
        list[int] | None,
        typer.Option(
            help="Turns of a store, once for each; 100 and 100,000 if nothing is said.", min=100
        ),
    ] = None,
    questions: Annotated[
        int, typer.Option(help="Questions of the session that speaks alone.", min=10, max=500)
    ] = 60,
    crowd: Annotated[
        int, typer.Option(help="Sessions at once in the run of many.", min=2, max=200)
    ] = 50,
    mem0: Annotated[
        int,
        typer.Option(
            help="Turns of the mem0 service's store, 30 ms each to build; 0 leaves it out.", min=0
        ),
    ] = 2_000,
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the stores, to measure them again; removed otherwise."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures what memory adds between the final transcript and the language model, in real pipelines, beside pipecat's mem0 service."""
    configure_logs(verbose=False)
    console = Console(stderr=True)
    if mem0 and (missing := turn.mem0_missing()):
        console.print(missing)
        mem0 = 0
    with tempfile.TemporaryDirectory(prefix="hotmem-turn-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = asyncio.run(
            turn.measure(turns or turn.USUAL, crowd, questions, mem0, folder, console)
        )
    turn.show(results, Console())
    if as_json:
        print(json.dumps(turn.figures(results)))


@bench.command("spoken")
def bench_spoken(
    data: Annotated[list[str], typer.Argument(help="DATASET=PATH, one or more.")],
    questions: Annotated[
        int, typer.Option(help="Questions of each dataset; a second for each and voice.", min=1)
    ] = 100,
    step: Annotated[
        int,
        typer.Option(
            help="Take every n-th conversation of LongMemEval, which has one a question.", min=1
        ),
    ] = 12,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps embeddings and parses for later runs; a run alone otherwise."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Asks questions by voice, clear and in noise, through the real recogniser, and compares the evidence with that of typed ones."""
    from eval.bench import spoken

    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        folder = cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        loaded = models(folder / "shelf.db")
        found = {
            name: spoken.measure(part, questions, loaded, Console(stderr=True))
            for name, part in selected(data, step).items()
        }
    for name, part in found.items():
        spoken.show(name, part, Console())
    if as_json:
        print(json.dumps({name: spoken.figures(part) for name, part in found.items()}))


@bench.command("soak")
def bench_soak(
    minutes: Annotated[
        float, typer.Option(help="Minutes of talk; they pass some thirty times as fast.", min=1)
    ] = 30,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Holds one long conversation in a real pipeline and notes whether latency, memory, tasks or threads grow."""
    configure_logs(verbose=False)
    parts = asyncio.run(soak.measure(minutes, Console(stderr=True)))
    soak.show(parts, Console())
    if as_json:
        print(json.dumps([asdict(part) for part in parts]))


@bench.command("crowd")
def bench_crowd(
    users: Annotated[int, typer.Option(help="Users that talk at once.", min=1)] = 50,
    minutes: Annotated[float, typer.Option(help="Minutes they talk, in real time.", min=0.5)] = 30,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Lets many users of one process talk at once and notes what is late, what blocks the event loop and whether memory grows."""
    configure_logs(verbose=False)
    parts, settled_s = asyncio.run(crowd.measure(users, minutes, Console(stderr=True)))
    crowd.show(parts, settled_s, Console())
    if as_json:
        print(json.dumps(crowd.figures(parts)))


@bench.command("reembed")
def bench_reembed(
    turns: Annotated[int, typer.Option(help="Turns of the store.", min=100)] = 100_000,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the store for later runs; a run alone otherwise."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Gives a store another encoder while its user talks.

    What is late, what fails, and whether the end is as if it had always had it.
    """
    configure_logs(verbose=False)
    with tempfile.TemporaryDirectory(prefix="hotmem-bench-") as temporary:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        change = asyncio.run(reembed.measure(turns, place, Console(stderr=True)))
    reembed.show(change, Console())
    if as_json:
        print(json.dumps(reembed.figures(change)))


@bench.command("tools")
def bench_tools(
    memories: Annotated[
        int,
        typer.Option(help="Memories stored; a hundred thousand take some three minutes.", min=10),
    ] = 10_000,
    questions: Annotated[
        int, typer.Option(help="Searches counted, and statements stored.", min=10, max=2000)
    ] = 200,
    keep: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the store, to measure it again; removed otherwise."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures search_memory() and store_memory() with many memories of one user."""
    with tempfile.TemporaryDirectory(prefix="hotmem-tools-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = asyncio.run(tool_times.measure(memories, questions, folder, Console(stderr=True)))
    tool_times.show(result, Console())
    if as_json:
        print(json.dumps(tool_times.figures(result)))


@bench.command("feedback")
def bench_feedback(
    replies: Annotated[int, typer.Option(help="Replies counted.", min=20, max=800)] = 300,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures feedback(): how a reply used its block, found, noted and learnt from."""
    result = feedback.measure(replies, Console(stderr=True))
    feedback.show(result, Console())
    if as_json:
        print(json.dumps(feedback.figures(result)))


@bench.command("beside")
def bench_beside(
    memories: Annotated[
        int,
        typer.Option(
            help="Memories stored, a seventh in each category; from 14,000 on each clusters as many as it may.",
            min=500,
        ),
    ] = 14_000,
    recalls: Annotated[int, typer.Option(help="Recalls counted in each arm.", min=20)] = 400,
    keep: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the store, to measure it again; removed otherwise."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures recall() in a conversation while categories evolve and tags are consolidated beside it, and while they do not."""
    with tempfile.TemporaryDirectory(prefix="hotmem-beside-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = asyncio.run(beside.measure(memories, recalls, folder, Console(stderr=True)))
    beside.show(result, Console())
    if as_json:
        print(json.dumps(beside.figures(result)))


@bench.command("scale")
def bench_scale(
    turns: Annotated[
        list[int] | None,
        typer.Option(
            help="Turns of each user, once for each store; a store of a million takes 20 minutes.",
            min=100,
        ),
    ] = None,
    users: Annotated[int, typer.Option(help="Users of each store.", min=1)] = 1,
    questions: Annotated[
        int, typer.Option(help="Distinct questions counted at each size.", min=10, max=2000)
    ] = scale.QUESTIONS,
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the stores, to measure them again; removed otherwise."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures recall(), ingestion, file and memory as a store grows, beside the floor.

    1,000, 10,000 and 100,000 turns if nothing is said.
    """
    sizes = [scale.Size(users, each) for each in turns or scale.USUAL]
    with tempfile.TemporaryDirectory(prefix="hotmem-scale-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = scale.measure(sizes, questions, folder, Console(stderr=True))
    scale.show(results, Console())
    if as_json:
        print(json.dumps(scale.figures(results)))


def main() -> None:
    """Runs the command line; HotMem's own errors become one line and exit code 1."""
    try:
        app()
    except HotMemError as error:
        Console(stderr=True).print(f"[red]{type(error).__name__}[/]: {error}")
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
