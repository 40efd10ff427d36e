"""Record answers before a code change, and compare them afterwards.

Records blocks, pipeline scenes, exports and command output.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pipecat.frames.frames import Frame, LLMContextFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from typer.testing import CliRunner

from eval.arguments import Cache, Data, working_folder
from eval.bench.bots import ask, blocks, running
from eval.datasets import LOADERS, Conversation, Dataset
from eval.datasets.selection import load_datasets
from eval.histories import SHORT_LENGTHS, Source, cut_after, histories
from eval.output import tracked
from eval.run import SESSION, Models, ingested, models
from hotmem import Memory, Options
from hotmem.cli.app import app as hotmem_app
from hotmem.core.location import ServerUrl
from hotmem.options import LearningOptions
from hotmem.pipecat import HotMemProcessor
from hotmem.types import START_WEIGHTS, ContextBlock

EVERYDAY: Final = Path(__file__).parent / "data" / "everyday"

SCENES: Final = 20
SCENE_QUESTIONS: Final = 3
DEADLINE_MS: Final = 10_000.0

COMMANDS: Final = (
    ("stats",),
    ("memories",),
    ("timeline",),
    ("search", "work"),
    ("decisions",),
    ("discover",),
    ("validate",),
    ("--help",),
)

VOLATILE: Final = re.compile(
    r"\b[0-9a-f]{8,}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?"
    r"|\d+(\.\d+)? ?(ms|s|MiB|MB|kB|KB|bytes)\b|file bytes +\d+|/\S*/"
)
"""Values that differ from run to run: random ids, timestamps, durations, sizes and folders."""

app = typer.Typer(
    help="Records what the system answers, and compares two records.", no_args_is_help=True
)


@app.command()
def record(
    data: Data,
    out: Annotated[Path, typer.Option(help="File for one JSON line per answer.")],
    questions: Annotated[
        int, typer.Option(help="Questions in all, spread evenly over all histories.", min=1)
    ] = 400,
    limit: Annotated[int, typer.Option(help="Conversations of each dataset.", min=1)] = 4,
    scenes: Annotated[int, typer.Option(help="Pipeline scenes.", min=0)] = SCENES,
    server: Annotated[
        str | None,
        typer.Option(help="URL of an empty PostgreSQL database to use instead of files."),
    ] = None,
    cache: Cache = None,
) -> None:
    """Record blocks, pipeline scenes, exports and command output.

    Records of a file and of a server, compared, show where the engines differ.
    """
    with working_folder(cache) as folder:
        loaded = models(folder)
        with out.open("w", encoding="utf-8") as file:
            for answer in _recorded(
                load_datasets(data, 1, limit), questions, scenes, loaded, server
            ):
                file.write(json.dumps(answer, ensure_ascii=False) + "\n")


@app.command()
def compare(
    after: Annotated[Path, typer.Argument(help="The record made later.", exists=True)],
    before: Annotated[
        list[Path], typer.Argument(help="Records made first: several tell what differs by chance.")
    ],
    shown: Annotated[int, typer.Option(help="Differences that are shown in full.", min=0)] = 20,
) -> None:
    """Print answers that no earlier record has, with their differences; exit with 1 if any."""
    earlier, now = [_read(path) for path in before], _read(after)
    keys = dict.fromkeys(key for record in (*earlier, now) for key in record)
    differing = [key for key in keys if all(now.get(key) != record.get(key) for record in earlier)]
    for key in differing[:shown]:
        one, other = earlier[0].get(key, {}), now.get(key, {})
        parts = [name for name in {**one, **other} if one.get(name) != other.get(name)]
        print(f"{key}: {', '.join(parts)}")
        for name in parts:
            print(f"  - {one.get(name)}\n  + {other.get(name)}")
    print(f"{len(differing)} of {len(keys)} answers differ.")
    raise typer.Exit(1 if differing else 0)


def _recorded(
    data: Mapping[str, Sequence[Conversation]],
    questions: int,
    scenes: int,
    loaded: Models,
    server: str | None,
) -> Iterator[dict[str, Any]]:
    told = [
        (name, history)
        for name, part in data.items()
        for one in part
        for history in histories(one, (0, *SHORT_LENGTHS))
    ]
    told = [
        (name, history)
        for name, history in told
        if history.source is not Source.IMPORTED and history.conversation.questions
    ]
    each = -(-questions // len(told))
    for name, history in tracked(told, "conversations"):
        label = f"{name} {history.conversation.user} {history.source} {history.sessions or 'all'}"
        yield from asyncio.run(
            _answers(label, _thinned(history.conversation, each), loaded, server)
        )
    people = list(LOADERS[Dataset.EVERYDAY](EVERYDAY))
    for scene in tracked(range(scenes), "scenes"):
        yield asyncio.run(
            _scene(scene, people[scene % len(people)], scene // len(people), loaded, server)
        )


async def _answers(
    label: str, conversation: Conversation, loaded: Models, server: str | None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with ingested(conversation, loaded, server) as memory:
        for question in conversation.questions:
            block = await memory.recall(
                question.text, user_id=conversation.user, session_id=SESSION, at=question.asked_at
            )
            found.append({"key": f"{label}: {question.id}"} | _block(block))
        found.append(
            {
                "key": f"{label}: export",
                "lines": sorted([_steady(line) async for line in memory.export(conversation.user)]),
            }
        )
        for command in COMMANDS:
            output = await asyncio.to_thread(_output, memory, conversation.user, command)
            found.append({"key": f"{label}: hotmem {' '.join(command)}"} | output)
    return found


class _Shown(FrameProcessor):
    """Keeps the context blocks given to the language model."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[list[str]] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass every frame on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            self.blocks.append(blocks(frame.context))
        await self.push_frame(frame, direction)


async def _scene(
    number: int, person: Conversation, part: int, loaded: Models, server: str | None
) -> dict[str, Any]:
    """Run a bot that knows some sessions of a person, and hears statements and questions."""
    known = cut_after(person, 2 + part)
    later = next(
        session
        for session in person.sessions
        if session.id not in {one.id for one in known.sessions}
    )
    said = [turn.text for turn in later.turns if turn.role == "user"][:2]
    asked = [question.text for question in known.questions][number::SCENES][:SCENE_QUESTIONS]
    shown = _Shown()
    async with ingested(known, loaded, server) as stored:
        options = replace(Options(), learning=LearningOptions(weights=START_WEIGHTS))
        async with Memory.open(
            stored.runtime.location, options, encoder=loaded.encoder, language=loaded.language
        ) as memory:
            at = known.questions[0].asked_at
            clock = iter(at + timedelta(seconds=passed) for passed in range(100_000))
            processor = HotMemProcessor(
                memory,
                user_id=known.user,
                session_id=SESSION,
                deadline_ms=DEADLINE_MS,
                clock=lambda: next(clock).replace(second=0),
            )
            async with running([processor.listener], [processor, shown], audio=False) as (
                worker,
                model,
            ):
                for text in (*said, *asked):
                    await ask(worker, model, text, interims=False)
                    await asyncio.sleep(0.2)
                    await memory.settle()
    return {"key": f"scene {number}", "said": said, "asked": asked, "blocks": shown.blocks}


def _output(memory: Memory, user: str, command: Sequence[str]) -> dict[str, Any]:
    location = memory.runtime.location
    named = location.url if isinstance(location, ServerUrl) else str(location)
    given = (
        [*command] if command == ("--help",) else [*command, "--database", named, "--user", user]
    )
    result = CliRunner().invoke(
        hotmem_app, given, env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    )
    return {"exit": result.exit_code, "output": _steady(result.output).splitlines()}


def _block(block: ContextBlock) -> dict[str, Any]:
    trace = block.trace
    return {
        "text": block.text,
        "tokens": block.tokens,
        "items": [
            [
                item.text,
                str(item.kind),
                str(item.layer),
                [*map(str, item.layers)],
                f"{item.relevance:.3f}",
                f"{item.confidence:.3f}",
                str(item.mark),
                item.turn_ids,
                [f"{part:.3f}" for part in item.parts],
            ]
            for item in block.items
        ],
        "reason": trace.reason,
        "candidates": trace.candidates,
        "merged": trace.merged,
        "known": trace.known,
        "layers": [
            [str(report.layer), str(report.outcome), report.hits] for report in trace.layers
        ],
    }


def _thinned(conversation: Conversation, most: int) -> Conversation:
    asked = conversation.questions
    return replace(conversation, questions=asked[:: max(-(-len(asked) // most), 1)])


def _steady(text: str) -> str:
    return VOLATILE.sub("…", text)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {line.pop("key"): line for line in lines}
