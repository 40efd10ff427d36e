"""`python -m eval chat`: small talk gets no statements, and requests get those that they need.

Eight statements are told to each user in one conversation; then something is said in a later one.
Half of what is said is greetings, comments, orders and general questions, which need nothing of
the memory. Half of the memories (`dev`) may be looked at.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import track

from eval.arguments import AsJson, print_json
from eval.baselines import Baseline, Index, rank
from eval.evidence import is_delivered
from eval.report import table
from hotmem import ContextBlock, Memory, Role, Turn
from hotmem.models import Encoder, load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.ranking.answerability import Answerability

FILE: Final = Path(__file__).parents[1] / "data/trial/small_talk.jsonl"
START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED_AT: Final = START + timedelta(days=3)
NEAREST: Final = 3
"""Number of statements that the plain search gives."""


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance, and what was recalled for it.

    Attributes:
        text: The utterance.
        statements: What was told before.
        needed: Places of the statements that the reply needs.
        shown: Places of those in the block.
        nearest: Places of the `NEAREST` statements by the cosine of their embeddings.
        block: The block.
    """

    text: str
    statements: Sequence[str]
    needed: frozenset[int]
    shown: frozenset[int]
    nearest: frozenset[int]
    block: ContextBlock

    @property
    def ambiguous(self) -> bool:
        """Whether a word of it is taken to refer to something said before."""
        analysis = self.block.trace.analysis
        return analysis is not None and bool(analysis.ambiguous)

    @property
    def unknown(self) -> bool:
        """Whether memory was not asked, or said to know nothing."""
        return self.block.trace.known in (None, Answerability.NOTHING)


def chat(
    held: Annotated[bool, typer.Option(help="Measure the held-out half instead.")] = False,
    misses: Annotated[
        bool, typer.Option(help="Print the utterances of the development half that fail.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of utterances.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recall for small talk, and for requests that need one or two of a few statements."""
    console = Console()
    half = "held" if held else "dev"
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    said = asyncio.run(_say([row for row in rows if row["half"] == half][:limit]))
    requests = [one for one in said if one.needed]
    talk = [one for one in said if not one.needed]
    counts = {
        "small talk without statements": (sum(not o.block.items for o in talk), len(talk)),
        "requests with all that they need": (
            sum(one.needed <= one.shown for one in requests),
            len(requests),
        ),
        f"the same, nearest {NEAREST} by cosine": (
            sum(one.needed <= one.nearest for one in requests),
            len(requests),
        ),
        "requests taken for ambiguous": (sum(one.ambiguous for one in requests), len(requests)),
        "requests said to be unknown": (sum(one.unknown for one in requests), len(requests)),
    }
    lines = {
        "small talk": median(len(one.block.items) for one in talk) if talk else 0,
        "requests": median(len(one.block.items) for one in requests) if requests else 0,
    }
    shown = table(f"small talk and requests, {half}", "", ("count", "of"))
    for name, (count, of) in counts.items():
        shown.add_row(name, str(count), str(of))
    console.print(shown, f"Median of lines in a block: {lines}")
    for one in said:
        fails = not one.needed <= one.shown or one.ambiguous if one.needed else one.block.items
        if misses and not held and fails:
            trace = one.block.trace
            needed = "; ".join(one.statements[place] for place in sorted(one.needed)) or "-"
            words = trace.analysis.ambiguous if trace.analysis else ()
            line = f"{one.text} ({trace.known}, {len(one.block.items)} lines, {words}) {needed}"
            console.print(line, markup=False)
    result = {name: {"count": count, "of": of} for name, (count, of) in counts.items()}
    print_json({"half": half, "lines": lines, **result}, as_json)


async def _say(rows: Sequence[dict[str, Any]]) -> list[Said]:
    """Tell the statements of each memory to a user, then recall what the user says later."""
    encoder = load_encoder(ModelOptions())
    with TemporaryDirectory(prefix="hotmem-eval-") as folder:
        async with Memory.open(
            Path(folder) / "memory.db", encoder=encoder, language=load_language()
        ) as memory:
            told: dict[tuple[str, ...], Sequence[Turn]] = {}
            for row in rows:
                texts = tuple(row["memory"])
                if texts not in told:
                    told[texts] = _turns(f"{len(told)}", texts)
                    for turn in told[texts]:
                        await memory.remember(turn)
            await memory.settle()
            return [
                await _recall(memory, row, told[tuple(row["memory"])], encoder)
                for row in track(rows, "utterances", console=Console(stderr=True))
            ]


def _turns(user: str, texts: Sequence[str]) -> list[Turn]:
    return [
        Turn(user, "first", Role.USER, text, START + timedelta(minutes=place))
        for place, text in enumerate(texts)
    ]


async def _recall(
    memory: Memory, row: dict[str, Any], told: Sequence[Turn], encoder: Encoder
) -> Said:
    block = await memory.recall(
        row["says"], user_id=told[0].user_id, session_id="second", at=ASKED_AT, deadline_ms=10_000
    )
    index = Index(told, encoder)
    nearest = rank(index.scores(Baseline.MINILM, row["says"]))[:NEAREST]
    index.close()
    return Said(
        row["says"],
        row["memory"],
        frozenset(row["needs"]),
        frozenset(
            place
            for place, turn in enumerate(told)
            if is_delivered(turn.id, turn.text, block.items)
        ),
        frozenset(nearest),
        block,
    )
