"""`hotmem prepare`: download and prepare all models."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem.models.prepare import PreparedModel


def prepare_models(
    cache_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of prepared models. (default: HOTMEM_CACHE_DIR, the user's cache folder)"
        ),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Encoder to prepare. (default: HOTMEM_ENCODER)")
    ] = None,
) -> None:
    """Download and prepare all models, for example in a container image.

    Programs started later with this folder need no network and write no files.
    """
    from hotmem.models.prepare import PreparedModel, prepare

    options = Settings().options().models
    options = replace(
        options, cache_dir=cache_dir or options.cache_dir, encoder=encoder or options.encoder
    )
    started, complete = perf_counter(), True
    for outcome in prepare(options):
        if isinstance(outcome, PreparedModel):
            typer.echo(_describe(outcome))
        else:
            complete = False
            typer.echo(f"{type(outcome).__name__}: {outcome}", err=True)
    if not complete:
        raise typer.Exit(1)
    typer.echo(f"Ready in {perf_counter() - started:.1f} s.")


def _describe(model: "PreparedModel") -> str:
    state = "prepared" if model.new else "ready"
    size = "" if model.size is None else f", {model.size / 1e6:.1f} MB"
    place = "cache of the model hub" if model.path is None else str(model.path)
    unchecked = "" if model.checked else " (no published checksum to verify its files)"
    return f"{model.role} {model.name}: {state}{size}, {place}{unchecked}"
