"""`hotmem prepare`: everything that a process loads later, ready in one folder."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from hotmem.models.prepare import PreparedModel, prepare
from hotmem.settings import Settings


def prepare_models(
    cache_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of prepared models. (default: HOTMEM_CACHE_DIR, the user's cache folder)"
        ),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Another encoder than HOTMEM_ENCODER names.")
    ] = None,
) -> None:
    """Prepares all models, for container images.

    Later processes need no network and write nothing.
    """
    options = Settings().options().models
    options = replace(
        options, cache_dir=cache_dir or options.cache_dir, encoder=encoder or options.encoder
    )
    started, complete = perf_counter(), True
    for outcome in prepare(options):
        if isinstance(outcome, PreparedModel):
            typer.echo(_line(outcome))
        else:
            complete = False
            typer.echo(f"{type(outcome).__name__}: {outcome}", err=True)
    if not complete:
        raise typer.Exit(1)
    typer.echo(f"Ready in {perf_counter() - started:.1f} s.")


def _line(model: PreparedModel) -> str:
    done = "prepared" if model.new else "there"
    size = "" if model.size is None else f", {model.size / 1e6:.1f} MB"
    place = "the model hub's cache" if model.path is None else str(model.path)
    return f"{model.role} {model.name}: {done}{size}, {place}{'' if model.checked else ' (its files are not checked: no published ones are known)'}"
