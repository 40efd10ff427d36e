"""The command `python -m eval peers`."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson, Limit
from eval.datasets import LOADERS, Dataset
from eval.output import print_json, progress_bars
from eval.peers import PEERS
from eval.peers.comparison import compare
from eval.peers.process import interpreter
from eval.peers.report import show, summed_up

ENVIRONMENTS: Final = Path(__file__).parents[2] / ".peers"
"""Where `make peers` puts the peers' environments."""


def peers(
    dataset: Annotated[Dataset, typer.Argument(help="The form of the data.")],
    path: Annotated[Path, typer.Argument(help="The dataset's file or folder.", exists=True)],
    limit: Limit = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A peer's environment, to measure that alone; may be repeated."),
    ] = None,
    environments: Annotated[
        Path, typer.Option(help="Folder that `make peers` filled.")
    ] = ENVIRONMENTS,
    as_json: AsJson = False,
) -> None:
    """Measures HotMem beside other memories on the same questions, at 1000 and 500 tokens.

    `make peers` first.
    """
    unknown = set(only or ()) - {peer.environment for peer in PEERS}
    if unknown:
        raise typer.BadParameter(
            f"use {', '.join(peer.environment for peer in PEERS)}", param_hint="--only"
        )
    chosen = [peer for peer in PEERS if not only or peer.environment in only]
    for peer in chosen:
        interpreter(peer, environments)
    conversations = list(islice(LOADERS[dataset](path), limit))
    if not any(conversation.questions for conversation in conversations):
        raise typer.BadParameter("it holds no questions", param_hint="PATH")
    with progress_bars() as progress:
        measured = compare(conversations, chosen, environments, progress)
    figures = summed_up(measured)
    turns = measured[0].turns
    show(
        figures,
        f"{dataset}, {len(conversations)} conversations, {turns:,} turns, "
        f"{figures[0].scored} questions scored",
    )
    print_json(
        {
            "dataset": dataset,
            "conversations": len(conversations),
            "turns": turns,
            "systems": figures,
        },
        as_json,
    )
