"""The studies on the command line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from eval.arguments import AsJson, Cache, Data, Jobs, Limit, print_json, working_folder
from eval.datasets import Conversation
from eval.datasets.selection import load_datasets
from eval.retrieval import DEFAULT_LAYERS, LayerChoice, RetrievedQuestion, retrieved
from eval.studies import ablation, calibration, updates

Step = Annotated[
    int,
    typer.Option(
        help="Take every n-th conversation of LongMemEval, which has one a question; as "
        "in the fit.",
        min=1,
    ),
]
Png = Annotated[Path | None, typer.Option(help="File for the plot.", dir_okay=False)]

NONE_HELD_OUT: Final = "it has no second conversation with questions; every second one is held out"


def ablated(
    data: Data,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure the evidence lost without each layer, group of features and step of packing."""
    asked = _asked(load_datasets(data, step, limit), ablation.CHOICES, jobs, cache, fitted_too=True)
    effects = ablation.measure(asked, Console(stderr=True))
    ablation.show(effects, Console())
    _printed(ablation.figures(effects), as_json)


def calibrated(
    data: Data,
    png: Png = None,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Compare the relevance of items of held-out blocks with whether they are evidence."""
    found = calibration.measure(
        _asked(load_datasets(data, step, limit), [DEFAULT_LAYERS], jobs, cache, fitted_too=False)
    )
    if not found:
        raise typer.BadParameter(NONE_HELD_OUT, param_hint="DATA")
    calibration.show(found, Console())
    if png:
        calibration.plot(found, png)
    _printed(calibration.figures(found), as_json)


def updated(
    data: Data,
    step: Step = 1,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure whether the latest statement ranks above outdated ones in update questions."""
    chosen = {
        name: [one for one in part if _changed(one)]
        for name, part in load_datasets(data, step, limit).items()
    }
    found = updates.measure(_asked(chosen, [DEFAULT_LAYERS], jobs, cache, fitted_too=True))
    if not found:
        raise typer.BadParameter("no question is on what has changed", param_hint="DATA")
    updates.show(found, Console())
    _printed(updates.figures(found), as_json)


def _changed(conversation: Conversation) -> bool:
    return any(question.category in updates.CATEGORIES for question in conversation.questions)


COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "ablation": ablated,
    "calibration": calibrated,
    "updates": updated,
}
"""The studies by name."""


def _asked(
    datasets: Mapping[str, Sequence[Conversation]],
    choices: Sequence[LayerChoice],
    jobs: int,
    cache: Path | None,
    *,
    fitted_too: bool,
) -> dict[str, list[RetrievedQuestion]]:
    """Retrieve candidates for the questions of each dataset."""
    console = Console(stderr=True)
    with _folder(cache) as folder:
        return {
            name: retrieved(part, choices, jobs, folder, console, name, fitted_too=fitted_too)
            for name, part in datasets.items()
        }


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    """Where a run's cache lies: in the folder named, or in one that goes with the run."""
    with working_folder(cache) as folder:
        yield folder


def _printed(figures: Mapping[str, Any], as_json: bool) -> None:
    print_json(figures, as_json)
