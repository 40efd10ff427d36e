"""The latency that memory adds to a turn: final transcript to language model, in real pipelines.

Each arrangement is asked distinct questions, by frames of a streaming and of a segmented speech
recogniser, and by the same recordings. The added latency is that of a turn less the median without
memory in the same run.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from shutil import copyfile
from statistics import median
from typing import Annotated, Any, Final

import typer
from pipecat.frames.frames import TranscriptionFrame
from pipecat.processors.frame_processor import FrameProcessor
from rich.progress import Progress

from eval.arguments import AsJson, Keep, working_folder
from eval.bench import scale
from eval.bench.bots import Arrival, ask, play, running
from eval.bench.history import SentenceCache
from eval.bench.synthetic import USER, SyntheticConversations
from eval.encoder.published import published_folder
from eval.output import print_json, print_table, progress_bars
from eval.timing import Times
from hotmem import Memory, Options
from hotmem.models import load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.pipecat import HotMemProcessor
from pipelines.recogniser import build_recogniser
from pipelines.recording import load_sessions
from pipelines.replay import DEMO

USUAL: Final = (100, 100_000)
"""Default turns of the memory files."""

WARM_UP: Final = 2
"""First questions of a session, which are not measured."""

REPLY_S: Final = 6.0
"""Seconds until a user of many speaks again: one second until the reply starts, and two short
sentences."""

QUESTION_S: Final = 3.0
"""Seconds to speak a question. Sessions start at different times within the interval between
questions, not in step."""

APART_S: Final = 0.37
"""Seconds between the starts of two sessions."""

RUNS: Final = 5
"""Maximum runs of the single session, for each file and without memory."""

CROWD_TURNS: Final = 4
"""Questions measured per session with many sessions."""


class Arrangement(StrEnum):
    """Processors in the pipeline."""

    NONE = "no memory"
    AHEAD = "HotMem, listening"
    PLACE = "HotMem, its place alone"
    MEM0 = "mem0 service"


class Speech(StrEnum):
    """How questions are spoken."""

    INTERIMS = "with interims"
    SEGMENTS = "without interims"
    RECORDED = "recorded, Whisper"


@dataclass(frozen=True, slots=True)
class Turns:
    """Results of one arrangement.

    Attributes:
        arrangement: Processors in the pipeline.
        speech: How questions were spoken.
        stored: Turns in its memory.
        sessions: Concurrent sessions.
        total: Final transcript to language model, ms.
        added: The same less the median without memory, ms.
        turns: Number of turns measured.
    """

    arrangement: Arrangement
    speech: Speech
    stored: int
    sessions: int
    total: Times
    added: Times
    turns: int


Make = Callable[[], tuple[Sequence[FrameProcessor], Sequence[FrameProcessor]]]
"""Creates one session's processors: those before the user aggregator, and those before the model.
"""


class Bench:
    """Measures arrangements and collects the results.

    No question is asked twice, so that caches do not help.

    Args:
        questions: Enough questions for all runs.
        alone: Questions measured of a single session.
        crowd: Concurrent sessions in the run of many.
        progress: The progress bar.
    """

    def __init__(
        self, questions: Iterator[str], alone: int, crowd: int, progress: Progress
    ) -> None:
        self._questions = questions
        self._each = {False: (1, WARM_UP + alone), True: (crowd, WARM_UP + CROWD_TURNS)}
        self._recordings = [
            utterance for session in load_sessions(DEMO) for utterance in session.utterances
        ]
        self._progress = progress
        self._bare: dict[tuple[Speech, bool], float] = {}
        self.found: list[Turns] = []

    async def measure(
        self,
        arrangement: Arrangement,
        stored: int,
        make: Make,
        speech: Speech,
        *,
        crowd: bool = False,
    ) -> None:
        """Measure one arrangement; the one without memory must come first."""
        sessions, each = self._each[crowd]
        scripts = [list(islice(self._questions, each)) for _ in range(sessions)]
        if speech is Speech.RECORDED:
            times = await self._recorded(make, arrangement)
        else:
            bar = self._progress.add_task(
                f"{arrangement}, {stored:,}, {speech}, {len(scripts)} at once",
                total=sum(map(len, scripts)),
            )
            tell = partial(self._progress.advance, bar)
            reply_s = REPLY_S if crowd else 0.0
            spoken = (
                _session(
                    make, script, APART_S * place % (REPLY_S + QUESTION_S), reply_s, speech, tell
                )
                for place, script in enumerate(scripts)
            )
            times = [ms for part in await asyncio.gather(*spoken) for ms in part]
        bare = self._bare.setdefault((speech, crowd), median(times))
        added = Times.of([ms - bare for ms in times])
        self.found.append(
            Turns(arrangement, speech, stored, len(scripts), Times.of(times), added, len(times))
        )

    async def _recorded(self, make: Make, arrangement: Arrangement) -> list[float]:
        ears, memory = make()
        heard, recogniser = Arrival(TranscriptionFrame), await asyncio.to_thread(build_recogniser)
        times = []
        async with running([recogniser, heard, *ears], memory, audio=True) as (worker, model):
            for utterance in self._progress.track(
                self._recordings, description=f"{arrangement}, {Speech.RECORDED}"
            ):
                times.append(await play(worker, model, heard, utterance))
        return times[WARM_UP:]


async def _session(
    make: Make,
    questions: Sequence[str],
    after_s: float,
    reply_s: float,
    speech: Speech,
    tell: Callable[[], None],
) -> list[float]:
    """Return the times of one session's turns, started after a delay."""
    await asyncio.sleep(after_s)
    times = []
    async with running(*make(), audio=False) as (worker, model):
        for question in questions:
            times.append(await ask(worker, model, question, interims=speech is Speech.INTERIMS))
            tell()
            await asyncio.sleep(reply_s)
    return times[WARM_UP:]


def turn(
    turns: Annotated[
        list[int] | None,
        typer.Option(
            help="Turns of a memory file; may be repeated. 100 and 100,000 by default.", min=1
        ),
    ] = None,
    questions: Annotated[
        int, typer.Option(help="Queries of the single session.", min=1, max=500)
    ] = 60,
    crowd: Annotated[
        int, typer.Option(help="Concurrent sessions of the second run; 0 skips it.", min=0, max=200)
    ] = 50,
    mem0: Annotated[
        int, typer.Option(help="Turns of the mem0 service's store; 0 skips mem0.", min=0)
    ] = 2_000,
    recordings: Annotated[bool, typer.Option(help="Play recordings, in real time.")] = True,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure what memory adds from final transcript to LLM, in real pipelines, against mem0."""
    if mem0 and not find_spec("mem0"):
        print('mem0 is left out. To measure it too: pip install "pipecat-hotmem[bench]"')
        mem0 = 0
    with working_folder(keep) as folder:
        found = asyncio.run(
            _measure(turns or USUAL, crowd, questions, mem0, folder, recordings=recordings)
        )
    print_table(
        "added from the final transcript to the model, milliseconds p50 / p95",
        ("", "spoken", "stored", "at once", "added", "turns"),
        [
            (one.arrangement, one.speech, one.stored, one.sessions, one.added, one.turns)
            for one in found
        ],
    )
    print_json(found, as_json)


async def _measure(
    sizes: Sequence[int],
    crowd: int,
    questions: int,
    mem0_turns: int,
    folder: Path,
    *,
    recordings: bool,
) -> list[Turns]:
    """Measure all arrangements in sequence.

    Args:
        sizes: Turns of the memory files; missing files are built.
        crowd: Concurrent sessions in the run of many, on the largest file; 0 leaves it out.
        questions: Turns measured in the run of one.
        mem0_turns: Turns of mem0's store, which is built for each run; 0 leaves mem0 out.
        folder: Folder of the memory files.
        recordings: Whether to play the recordings, in real time.
    """
    speeches = [one for one in Speech if recordings or one is not Speech.RECORDED]
    reading = await asyncio.to_thread(lambda: SentenceCache(OnnxEncoder.load(), load_language()))
    script = SyntheticConversations().questions(
        RUNS * (WARM_UP + questions) * (1 + len(sizes)) + 2 * crowd * (WARM_UP + CROWD_TURNS)
    )
    with progress_bars() as progress:
        bench = Bench(iter(script), questions, crowd, progress)
        usual = SyntheticConversations().questions(scale.WARM_UP + scale.QUESTIONS)
        paths = [
            await asyncio.to_thread(
                scale.stored, scale.Size(1, size), folder, reading, usual, progress
            )
            for size in sizes
        ]
        for speech in speeches:
            await bench.measure(Arrangement.NONE, 0, _nothing, speech)
        if crowd:
            await bench.measure(Arrangement.NONE, 0, _nothing, Speech.INTERIMS, crowd=True)
        for size, path in zip(sizes, paths, strict=True):
            async with _opened(path) as memory:
                ahead = partial(_hotmem, memory, listening=True)
                place = partial(_hotmem, memory, listening=False)
                for speech in speeches:
                    await bench.measure(Arrangement.AHEAD, size, ahead, speech)
                await bench.measure(Arrangement.PLACE, size, place, Speech.INTERIMS)
                if crowd and size == max(sizes):
                    await bench.measure(Arrangement.AHEAD, size, ahead, Speech.INTERIMS, crowd=True)
        if mem0_turns:
            with tempfile.TemporaryDirectory(prefix="hotmem-mem0-") as store:
                make = await asyncio.to_thread(_mem0, Path(store), mem0_turns, progress)
                await bench.measure(Arrangement.MEM0, mem0_turns, make, Speech.INTERIMS)
    return bench.found


@asynccontextmanager
async def _opened(path: Path) -> AsyncIterator[Memory]:
    """Open a copy of the memory file."""
    with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
        copy = Path(temporary) / path.name
        await asyncio.to_thread(copyfile, path, copy)
        async with Memory.open(copy, Options()) as memory:
            yield memory


def _nothing() -> tuple[Sequence[FrameProcessor], Sequence[FrameProcessor]]:
    return (), ()


def _hotmem(
    memory: Memory, *, listening: bool
) -> tuple[Sequence[FrameProcessor], Sequence[FrameProcessor]]:
    processor = HotMemProcessor(memory, user_id=USER)
    return ([processor.listener] if listening else []), [processor]


def _mem0(place: Path, turns: int, progress: Progress) -> Make:
    """Create pipecat's mem0 service over a store with the same embedding weights.

    It stores turns unchanged.
    """
    os.environ["MEM0_TELEMETRY"] = "False"
    from pipecat.services.mem0.memory import Mem0MemoryService

    config: dict[str, Any] = {
        "embedder": {
            "provider": "huggingface",
            "config": {"model": str(published_folder()), "embedding_dims": 384},
        },
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": f"{place}/qdrant", "embedding_model_dims": 384, "on_disk": True},
        },
        "llm": {"provider": "openai", "config": {"api_key": "never used"}},
        "history_db_path": f"{place}/history.db",
    }
    service = Mem0MemoryService(local_config=config, user_id=USER)
    add = partial(service.memory_client.add, user_id=USER, infer=False)
    for turn in progress.track(
        list(SyntheticConversations().turns(turns)), description="mem0: building"
    ):
        add([{"role": str(turn.role), "content": turn.text}])
    # The service has no parameter for infer=False.
    service.memory_client.add = lambda **given: add(given["messages"])
    return lambda: ((), (service,))
