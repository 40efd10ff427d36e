"""The commands `python -m eval run`, `train` and `train-network`."""

import sys
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from eval import answerability, relevance
from eval.arguments import AsJson, Cache, Data, Jobs, Limit, Out, Step, working_folder
from eval.arrays import save_arrays
from eval.datasets import LOADERS, Dataset
from eval.datasets.recognised import as_recognised
from eval.datasets.selection import load_datasets
from eval.output import print_figures, print_json
from eval.report import figures, show
from eval.retrieval import retrieved_histories
from eval.rows import write
from eval.run import numbered, run_task, spread
from hotmem.ranking.relevance import fitted_model


def run(
    dataset: Annotated[Dataset, typer.Argument(help="Format of the data.")],
    path: Annotated[Path, typer.Argument(help="File or folder of the dataset.", exists=True)],
    budget: Annotated[int, typer.Option(help="Maximum tokens of a block.", min=1)] = 1000,
    limit: Limit = None,
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
    started = time.perf_counter()
    with working_folder(cache) as folder:
        conversations = islice(LOADERS[dataset](path), limit)
        chosen = map(as_recognised, conversations) if recognised else conversations
        tasks = numbered(chosen, folder, (budget,))
        outcomes = list(spread(run_task, tasks, jobs, "conversations"))
    found = [row for outcome in outcomes for row in outcome.rows]
    if not found:
        raise typer.BadParameter("it holds no questions", param_hint="PATH")
    if rows:
        write(found, rows)
    show(found, f"{dataset}{' as recognised' if recognised else ''}, {budget} tokens")
    whole = {
        "dataset": dataset,
        "budget": budget,
        "recognised": recognised,
        "conversations": len(outcomes),
        "turns": sum(outcome.turns for outcome in outcomes),
        "skipped": sum(outcome.skipped for outcome in outcomes),
        "ingest_s": round(sum(outcome.ingest_s for outcome in outcomes), 1),
        "seconds": round(time.perf_counter() - started, 1),
    }
    print_figures("the run; seconds of ingestion are those of all processes", whole)
    print_json(whole | figures(found), as_json)


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
    with working_folder(cache) as folder:
        asked = retrieved_histories(load_datasets(data, step), jobs, folder)
    samples = {name: relevance.samples(part) for name, part in asked.items()}
    model = relevance.fit(samples)
    attempts = [one for part in asked.values() for one in answerability.attempts(part, model)]
    model = replace(model, answerability=answerability.fit(attempts))
    for name, seen in samples.items():
        held = relevance.quality(model, seen)
        print(
            f"{name}: {held.candidates:,} held-out candidates, AUC {held.auc:.3f}, "
            f"calibration error {held.calibration_error:.4f}",
            file=sys.stderr,
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
        asked = retrieved_histories(load_datasets(data, step), jobs, folder)
    samples = {name: relevance.samples(part) for name, part in asked.items()}
    save_arrays(out, trained(samples, fitted_model()))
