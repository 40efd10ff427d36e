"""The commands `python -m eval run`, `train` and `train-network`."""

import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval import answerability, relevance
from eval.arguments import AsJson, Cache, Data, Jobs, Out, Step, print_json, working_folder
from eval.arrays import save_arrays
from eval.datasets import LOADERS, Dataset
from eval.datasets.recognised import as_recognised
from eval.datasets.selection import load_datasets
from eval.report import figures, show
from eval.retrieval import retrieved_histories
from eval.rows import write
from eval.run import run_conversations
from hotmem.ranking.relevance import fitted_model


def run(
    dataset: Annotated[Dataset, typer.Argument(help="Format of the data.")],
    path: Annotated[Path, typer.Argument(help="File or folder of the dataset.", exists=True)],
    budget: Annotated[int, typer.Option(help="Maximum tokens of a block.", min=1)] = 1000,
    limit: Annotated[
        int | None,
        typer.Option(help="Maximum conversations; a LongMemEval question is one.", min=1),
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="File for one JSON line per question and system.")
    ] = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    recognised: Annotated[
        bool,
        typer.Option(
            "--recognised", help="Turns and questions in lower case, without punctuation."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a dataset through HotMem and the baselines, and score the evidence in their blocks."""
    console = Console()
    started = time.perf_counter()
    with working_folder(cache) as folder:
        conversations = islice(LOADERS[dataset](path), limit)
        outcomes = run_conversations(
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
    skipped = sum(outcome.skipped for outcome in outcomes)
    turns = sum(outcome.turns for outcome in outcomes)
    ingest_s = sum(outcome.ingest_s for outcome in outcomes)
    show(found, f"{dataset}{' as recognised' if recognised else ''}, {budget} tokens", console)
    console.print(
        f"{len(outcomes)} conversations; {turns:,} turns ingested, "
        f"{1000 * ingest_s / turns:.1f} ms each per process; "
        f"{skipped} evidence references skipped; {seconds:.0f} s"
    )
    print_json(
        {
            "dataset": dataset,
            "budget": budget,
            "recognised": recognised,
            "conversations": len(outcomes),
            "turns": turns,
            "skipped": skipped,
            "ingest_s": round(ingest_s, 1),
            "seconds": round(seconds, 1),
        }
        | figures(found),
        as_json,
    )


def train(
    data: Data,
    out: Annotated[
        Path | None, typer.Option(help="File for the coefficients; printed by default.")
    ] = None,
    step: Step = 6,
    jobs: Jobs = 2,
    cache: Cache = None,
) -> None:
    """Fit the relevance and answerability models on every second conversation; test on the others.

    The conversations are taken whole and cut short, spoken and stored.
    """
    console = Console(stderr=True)
    with working_folder(cache) as folder:
        asked = retrieved_histories(load_datasets(data, step), jobs, folder, console)
    samples = {name: relevance.samples(part) for name, part in asked.items()}
    model = relevance.fit(samples)
    attempts = [one for part in asked.values() for one in answerability.attempts(part, model)]
    model = replace(model, answerability=answerability.fit(attempts))
    for name, seen in samples.items():
        held = relevance.quality(model, seen)
        console.print(
            f"{name}: {held.candidates:,} held-out candidates, AUC {held.auc:.3f}, "
            f"calibration error {held.calibration_error:.4f}"
        )
    text = relevance.to_json(model, list(samples))
    if out:
        out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


def train_network(
    data: Data, out: Out, step: Step = 6, jobs: Jobs = 2, cache: Cache = None
) -> None:
    """Train the network that rescores what was said, on every second conversation."""
    from eval.network import trained  # torch takes seconds to import

    with working_folder(cache) as folder:
        asked = retrieved_histories(load_datasets(data, step), jobs, folder, Console(stderr=True))
    samples = {name: relevance.samples(part) for name, part in asked.items()}
    save_arrays(out, trained(samples, fitted_model()))
