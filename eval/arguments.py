"""Arguments and options that several evaluation commands share."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Data: TypeAlias = Annotated[
    list[str], typer.Argument(help="One or more DATASET=PATH.", show_default=False)
]
Step: TypeAlias = Annotated[
    int, typer.Option(help="Use every n-th conversation of LongMemEval.", min=1)
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option(help="Maximum conversations of each dataset.", min=1)
]
Most: TypeAlias = Annotated[
    int | None, typer.Option(help="Number of cases, of each file or writer; all by default.", min=1)
]
Misses: TypeAlias = Annotated[
    bool, typer.Option("--misses", help="Print the cases that fail, but none of a held-out half.")
]
Held: TypeAlias = Annotated[
    bool, typer.Option("--held", help="Measure on the half on which nothing is tuned.")
]
Out: TypeAlias = Annotated[Path, typer.Option(help="File of the trained model.", dir_okay=False)]
Jobs: TypeAlias = Annotated[int, typer.Option(help="Number of processes.", min=1)]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder that keeps embeddings and parses for later runs; temporary by default."
    ),
]
Keep: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps the memory files for later runs; temporary by default."),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the figures as one JSON object on the last line.")
]


@contextmanager
def working_folder(folder: Path | None) -> Iterator[Path]:
    """Yield the folder, created if needed, or a temporary one that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        chosen = folder or Path(temporary)
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen
