"""The studies on the command line."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from eval.datasets import Conversation
from eval.datasets.selection import selected
from eval.retrieval import SHIPPED, Asked, Choice, retrieved
from eval.studies import ablation, abstention, calibration, policy, progressive, transfer, updates

Data = Annotated[list[str], typer.Argument(help="DATASET=PATH, one or more.", show_default=False)]
Step = Annotated[
    int,
    typer.Option(
        help="Take every n-th conversation of LongMemEval, which has one a question; as in the fit.",
        min=1,
    ),
]
Limit = Annotated[int | None, typer.Option(help="Conversations of each dataset at most.", min=1)]
Jobs = Annotated[int, typer.Option(help="Processes the conversations are spread over.", min=1)]
Cache = Annotated[
    Path | None,
    typer.Option(
        help="Folder that keeps embeddings and parses for later runs; a run alone otherwise."
    ),
]
Png = Annotated[Path | None, typer.Option(help="File for the plot.", dir_okay=False)]
Json = Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")]

NONE_HELD_OUT: Final = "it has no second conversation with questions; every second one is held out"


def ablated(
    data: Data,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Turns each layer, each group of features and each step of packing off, and counts the evidence that held-out blocks lose."""
    asked = _asked(selected(data, step, limit), ablation.CHOICES, jobs, cache, fitted_too=True)
    effects = ablation.measure(asked, Console(stderr=True))
    ablation.show(effects, Console())
    _printed(ablation.figures(effects), as_json)


def transferred(
    data: Data,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Fits the model on the other half of the conversations, and on the other datasets alone, and counts the evidence delivered."""
    if len(data) < 2:
        raise typer.BadParameter("name two datasets or more", param_hint="DATA")
    asked = _asked(selected(data, step, limit), [SHIPPED], jobs, cache, fitted_too=True)
    found = transfer.measure(asked, Console(stderr=True))
    transfer.show(found, Console())
    _printed(transfer.figures(found), as_json)


def calibrated(
    data: Data,
    png: Png = None,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Compares the relevance that items of held-out blocks say with whether they help."""
    found = calibration.measure(
        _asked(selected(data, step, limit), [SHIPPED], jobs, cache, fitted_too=False)
    )
    if not found:
        raise typer.BadParameter(NONE_HELD_OUT, param_hint="DATA")
    calibration.show(found, Console())
    if png:
        calibration.plot(found, png)
    _printed(calibration.figures(found), as_json)


def abstained(
    data: Data,
    png: Png = None,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Counts how often "nothing known" is said of held-out questions without an answer, and wrongly of the others."""
    found = abstention.measure(
        _asked(selected(data, step, limit), [SHIPPED], jobs, cache, fitted_too=False)
    )
    if not found:
        raise typer.BadParameter("no held-out question is without an answer", param_hint="DATA")
    abstention.show(found, Console())
    if png:
        abstention.plot(found, png)
    _printed(abstention.figures(found), as_json)


def chosen(
    data: Data,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 1,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Asks held-out questions with the layers that the analysis chooses and with all four.

    Evidence and milliseconds.
    """
    with _folder(cache) as folder:
        found = policy.measure(selected(data, step, limit), jobs, folder, Console(stderr=True))
    if not found:
        raise typer.BadParameter(NONE_HELD_OUT, param_hint="DATA")
    policy.show(found, Console())
    _printed(policy.figures(found), as_json)


def searched(
    data: Data,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Asks search_memory held-out questions, stopping when enough is found and searching everything: evidence, tiers and time."""
    with _folder(cache) as folder:
        best, found = progressive.measure(
            selected(data, step, limit), jobs, folder, Console(stderr=True)
        )
    if not found:
        raise typer.BadParameter(NONE_HELD_OUT, param_hint="DATA")
    progressive.show(best, found, Console())
    _printed(progressive.figures(best, found), as_json)


def updated(
    data: Data,
    step: Step = 1,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Looks whether the latest word stands above the stale one in questions on what has changed."""
    chosen = {
        name: [one for one in part if _changed(one)]
        for name, part in selected(data, step, limit).items()
    }
    found = updates.measure(_asked(chosen, [SHIPPED], jobs, cache, fitted_too=True))
    if not found:
        raise typer.BadParameter("no question is on what has changed", param_hint="DATA")
    updates.show(found, Console())
    _printed(updates.figures(found), as_json)


def _changed(conversation: Conversation) -> bool:
    return any(question.category in updates.CATEGORIES for question in conversation.questions)


COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "ablation": ablated,
    "transfer": transferred,
    "calibration": calibrated,
    "abstention": abstained,
    "policy": chosen,
    "progressive": searched,
    "updates": updated,
}
"""The studies by name."""


def _asked(
    datasets: Mapping[str, Sequence[Conversation]],
    choices: Sequence[Choice],
    jobs: int,
    cache: Path | None,
    *,
    fitted_too: bool,
) -> dict[str, list[Asked]]:
    """What is retrieved for the questions of each dataset."""
    console = Console(stderr=True)
    with _folder(cache) as folder:
        return {
            name: retrieved(part, choices, jobs, folder, console, name, fitted_too=fitted_too)
            for name, part in datasets.items()
        }


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    """Where a run's cache lies: in the folder named, or in one that goes with the run."""
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        folder = cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


def _printed(figures: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(figures))
