"""The command line of the evaluation: `python -m eval --help`."""

import typer
from rich.console import Console

from eval.answers.command import answers
from eval.bench.command import bench
from eval.calibration import calibration
from eval.command import run, train, train_network
from eval.encoder.command import encoder
from eval.frontier import frontier
from eval.language.antecedents import train_antecedents
from eval.language.changes import changes
from eval.language.command_training import train_commands
from eval.language.commands import commands
from eval.language.corrections import corrections
from eval.language.dates_and_tasks import dates, tasks
from eval.language.dialogues import dialogues
from eval.language.forgetting import forgetting
from eval.language.names import names
from eval.language.need import need, train_needs
from eval.language.plans import plans
from eval.language.relation_training import train_relations
from eval.language.secret_training import train_secrets
from eval.language.statement_training import train_meant, train_wishes
from eval.language.time import time
from eval.learning.command import learn, usage
from eval.peers.command import peers
from eval.snapshot import app as snapshot
from eval.tools.command import tags, tools
from eval.tools.contextual import contextual
from eval.tools.searches import searches
from eval.tools.summaries import summaries
from eval.truth import truth
from eval.understanding.command import reader
from hotmem.errors import HotMemError

app = typer.Typer(
    help="Measure HotMem's quality and speed, and compare it with baselines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.add_typer(bench, name="bench")
app.add_typer(encoder, name="encoder")
app.add_typer(reader, name="reader")
app.add_typer(snapshot, name="snapshot")
for command in (
    run,
    train,
    answers,
    frontier,
    peers,
    changes,
    commands,
    corrections,
    truth,
    forgetting,
    names,
    need,
    plans,
    dates,
    tasks,
    dialogues,
    time,
    tools,
    tags,
    contextual,
    searches,
    summaries,
    usage,
    learn,
    calibration,
    train_commands,
    train_antecedents,
    train_secrets,
    train_needs,
    train_wishes,
    train_meant,
    train_relations,
    train_network,
):
    app.command(command.__name__.replace("_", "-"))(command)


def main() -> None:
    """Run the command line; HotMem's own errors become one line and exit code 1."""
    try:
        app()
    except HotMemError as error:
        Console(stderr=True).print(f"[red]{type(error).__name__}[/]: {error}")
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
