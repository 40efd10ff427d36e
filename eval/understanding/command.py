"""`python -m eval reader`: train the reader, and measure it on batches held out."""

import time
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from eval.arguments import AsJson, Most
from eval.arrays import load_arrays, save_arrays
from eval.encoder.export import exported_reader
from eval.files import some
from eval.output import cell, print_json, print_table, progress_bars
from eval.understanding import data
from eval.understanding.calibration import fitted
from eval.understanding.measure import (
    Figure,
    compare_all,
    pair_figures,
    read_all,
    turn_figures,
)
from hotmem.models import load_language
from hotmem.models.encoders import OnnxEncoder, text_layers
from hotmem.models.reader import SETTINGS, Reader, ReaderLimits

SHIPPED: Final = Path(__file__).parents[1] / "encoder" / "trained" / "reader-2.npz"
"""The training's result that the shipped reader was exported from."""

reader = typer.Typer(
    help="Trains and measures the model of what is worth remembering and what changes what.",
    no_args_is_help=True,
)


@reader.command("measure")
def measure(
    model: Annotated[
        Path | None, typer.Option(help="A trained file; the shipped one by default.", exists=True)
    ] = None,
    batch: Annotated[
        list[str] | None, typer.Option(help="Batches; those held out by default.")
    ] = None,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Measure the reader on the batches that it was not trained on."""
    batches = batch or list(data.HELD_OUT)
    loaded = _loaded(model) if model else Reader.load()
    turns, pairs = some(data.turns(batches), limit), some(data.pairs(batches), limit)
    talks = some(data.natural_pairs("held_out"), limit)
    language, encoder, limits = load_language(), OnnxEncoder.load(), loaded.settings
    figures = [
        *turn_figures(turns, read_all(loaded, turns)),
        *pair_figures(
            pairs, compare_all(loaded, pairs, language, encoder), limits.outdated, limits.doubted
        ),
    ]
    natural = pair_figures(
        talks, compare_all(loaded, talks, language, encoder), limits.outdated, limits.doubted
    )
    show(figures, f"batches {', '.join(batches)}")
    show([one for one in natural if "still" in one.name], "natural talks held out")
    print_json([*figures, *natural], as_json)


@reader.command("train")
def train(
    out: Annotated[Path, typer.Option(help="File of the trained reader (.npz).")],
    epochs: Annotated[float, typer.Option(help="Passes over the data.", min=0)] = 6.0,
    rank: Annotated[int, typer.Option(help="Rank of the changes.", min=1, max=384)] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate of the changes.")] = 1.5e-3,
    limit: Most = None,
    seed: Annotated[int, typer.Option(help="Of the start and the order.")] = 7,
) -> None:
    """Train a reader, and fit its settings on a batch that it was not trained on.

    Takes three quarters of an hour on two cores. A run that was stopped goes on after its last
    finished stage.
    """
    from eval.understanding.training import Settings as Training  # torch takes seconds to import
    from eval.understanding.training import trained

    began, unfinished = time.perf_counter(), out.with_suffix(".unfinished.npz")
    with progress_bars() as progress:
        bar = progress.add_task("training", total=None)
        net = trained(
            some(data.turns(data.TRAINING), limit),
            some(data.pairs(data.TRAINING_PAIRS), limit),
            some(data.natural_pairs("training"), limit),
            OnnxEncoder.load(),
            Training(rank=rank, epochs=epochs, rate=rate, seed=seed),
            lambda done, steps, loss: progress.update(
                bar, completed=done, total=steps, description=f"loss {loss:.3f}"
            ),
            unfinished,
        )
    tensors = net.tensors()
    settings = _fit_limits(tensors, out, limit)
    unfinished.unlink(missing_ok=True)
    print(f"{out} after {time.perf_counter() - began:.0f} s: {settings}")


@reader.command("fit-limits")
def fit_limits(
    out: Annotated[Path, typer.Option(help="File of the reader with new limits (.npz).")],
    model: Annotated[
        Path, typer.Option(help="A trained file; that of the shipped one by default.", exists=True)
    ] = SHIPPED,
    limit: Most = None,
) -> None:
    """Fit the settings of a trained reader anew, on a batch that it was not trained on."""
    tensors = {
        name: values for name, values in load_arrays(model).items() if not name.startswith(SETTINGS)
    }
    print(f"{out}: {_fit_limits(tensors, out, limit)}")


def _fit_limits(tensors: dict[str, np.ndarray], out: Path, limit: int | None) -> ReaderLimits:
    """Write a reader with settings fitted on the batch for it, and return them."""
    _save(tensors, ReaderLimits(1.0, 0.0, 0.0, 0.0, 1.0), out)
    settings = fitted(
        _loaded(out),
        some(data.turns(data.CALIBRATION), limit),
        some(data.pairs(data.CALIBRATION), limit),
        some(data.natural_pairs("calibration"), limit),
        load_language(),
        OnnxEncoder.load(),
    )
    _save(tensors, settings, out)
    return settings


def _save(tensors: dict[str, np.ndarray], settings: ReaderLimits, out: Path) -> None:
    values = {
        f"{SETTINGS}{name}": np.array([value], dtype=np.float32)
        for name, value in settings._asdict().items()
    }
    save_arrays(out, tensors | values)


def _loaded(trained: Path) -> Reader:
    return Reader(exported_reader(trained), load_arrays(trained), text_layers())


def show(figures: list[Figure], title: str) -> None:
    """Print a row for each figure, with a column for each style."""
    styles = ("clean", "recognised")
    found = {(one.name, one.style): f"{cell(one.share)} of {one.count}" for one in figures}
    names = dict.fromkeys(one.name for one in figures)
    rows = [(name, *(found.get((name, style)) for style in styles)) for name in names]
    print_table(title, ("share", *styles), rows)
