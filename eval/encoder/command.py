"""`python -m eval encoder`: measure and train the encoder on its own."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eval.arguments import AsJson, Cache, Data, Step
from eval.datasets.selection import load_datasets
from eval.encoder.export import exported, published_encoder, write_encoder, write_shipped
from eval.encoder.material import Reader, materials
from eval.encoder.ranking import Ranked, by_pieces, by_row, mean, ranked
from eval.output import print_json, print_table, progress_bars
from hotmem.models.encoders import OnnxEncoder, word_embeddings
from hotmem.models.files import sha256

encoder = typer.Typer(
    help="Measures and trains the encoder by itself, without the rest of the memory.",
    no_args_is_help=True,
)

Models = Annotated[
    list[Path] | None,
    typer.Option("--model", help="A trained encoder; may be given more than once.", exists=True),
]


@encoder.command("measure")
def measure(
    data: Data, model: Models = None, cache: Cache = None, step: Step = 12, as_json: AsJson = False
) -> None:
    """Rank the turns of every conversation by each encoder's own score.

    Scores are the cosine similarity of whole passages, and late interaction over one-bit codes.
    """
    found: dict[str, list[Ranked]] = {}
    for name, make in _readers(model).items():
        reader, width = make(), 0
        rows: list[Ranked] = []
        pieces: list[Ranked] = []
        for material in materials(load_datasets(data, step), reader, name, cache):
            rows += ranked([material], by_row)
            pieces += ranked([material], by_pieces)
            width = material.passages.states.shape[1]
        found |= {f"{name}, rows": rows, f"{name}, {width} bits a token": pieces}
    show(found)
    print_json({name: figures(part) for name, part in found.items()}, as_json)


@encoder.command("train")
def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="File of the trained encoder (.npz).")],
    layers: Annotated[
        int, typer.Option(help="Last layers that are changed beside the projection.", min=0, max=6)
    ] = 0,
    dimensions: Annotated[
        int, typer.Option(help="Bits of a token's code; a multiple of 8.", min=8, max=384)
    ] = 128,
    epochs: Annotated[
        float,
        typer.Option(
            help="Times that as many questions are seen as there are; 0 only takes the "
            "principal directions.",
            min=0,
        ),
    ] = 4.0,
    layer_rate: Annotated[float, typer.Option(help="Step size of the changes.")] = 1e-3,
    step: Step = 12,
) -> None:
    """Train an encoder on all given conversations."""
    from eval.encoder.training import Settings, trained  # torch takes seconds to import

    began = time.perf_counter()
    with progress_bars() as progress:
        bar = progress.add_task("reading", total=None)
        model = trained(
            load_datasets(data, step),
            Settings(layers, dimensions=dimensions, epochs=epochs, layer_rate=layer_rate),
            lambda done, steps, loss: progress.update(
                bar, completed=done, total=steps, description=f"loss {loss:.3f}"
            ),
        )
    model.save(out)
    print(f"{out} after {time.perf_counter() - began:.0f} s")


@encoder.command("export")
def export(
    trained: Annotated[
        Path, typer.Argument(help="Trained encoder (.npz).", exists=True, dir_okay=False)
    ],
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")],
) -> None:
    """Write an int8 graph of a trained encoder, which `HOTMEM_ENCODER` can name."""
    folder.mkdir(parents=True, exist_ok=True)
    _print_sizes([write_encoder(trained, folder)])


@encoder.command("ship")
def ship(
    reader: Annotated[
        Path, typer.Argument(help="Trained reader (.npz).", exists=True, dir_okay=False)
    ],
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")],
) -> None:
    """Write the graphs that HotMem ships, of its trained encoder and a reader that shares layers.

    Those that are shipped are of `eval/encoder/trained/reader-2.npz`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _print_sizes(write_shipped(reader, folder))


def _print_sizes(files: list[Path]) -> None:
    for file in files:
        print(f"{file}, {file.stat().st_size / 1e6:.1f} MB")


def _readers(models: list[Path] | None) -> dict[str, Callable[[], Reader]]:
    """Return the reader of each encoder, by its name."""
    shipped = OnnxEncoder.load()
    makers: dict[str, Callable[[], Reader]] = {
        published_encoder().name: lambda: published_encoder().encode_tokens,
        shipped.name: lambda: shipped.encode_tokens,
    }
    for path in models or ():
        name = f"{path.stem}-{sha256(path)[:8]}"
        makers[name] = partial(_trained, path, name)
    return makers


def _trained(path: Path, name: str) -> Reader:
    return OnnxEncoder(exported(path), name, word_embeddings()).encode_tokens


def figures(found: list[Ranked]) -> dict[str, dict[str, float]]:
    """Return questions, evidence in 35 turns, in 5, and first, by dataset, half and wording."""
    return {
        cell: {
            "questions": len(rows),
            "among": mean(rows, lambda one: one.among),
            "top": mean(rows, lambda one: one.top),
            "first": mean(rows, lambda one: one.first),
        }
        for cell, rows in _cells(found).items()
    }


def _cells(found: list[Ranked]) -> dict[str, list[Ranked]]:
    cells: dict[str, list[Ranked]] = {}
    for one in found:
        half = "held out" if one.held_out else "fitted"
        names = [f"{one.dataset}, {half}"]
        if one.wording in ("echo", "paraphrase", "implication"):
            names.append(f"{one.dataset} {one.wording}, {half}")
        for name in names:
            cells.setdefault(name, []).append(one)
    return dict(sorted(cells.items()))


def show(found: dict[str, list[Ranked]]) -> None:
    """Print a row for each dataset, half and wording."""
    by_name = {name: figures(rows) for name, rows in found.items()}
    rows = []
    for name, values in next(iter(by_name.values())).items():
        measures = (
            [one[name][measure] for measure in ("among", "top", "first")]
            for one in by_name.values()
        )
        shares = (" / ".join(f"{value:.3f}" for value in row) for row in measures)
        rows.append((name, int(values["questions"]), *shares))
    title = "evidence among 35 turns / any among 5 / first"
    print_table(title, ("conversations", "questions", *by_name), rows)
