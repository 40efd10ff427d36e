"""One bot process of the fleet: `python -m eval.bench.fleet.bot TASK`.

It plays calls one after another, each with a pipeline and a `HotMemProcessor` of its own, as a
container would that answers one call. The settings of the memory come from the environment.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import Final

from pipecat.frames.frames import Frame, LLMContextFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from eval.bench.bots import PATIENCE_S, Arrival, message_texts, running, say
from eval.bench.fleet.log import Entry, Log
from eval.bench.scale import memory_mb
from eval.bench.synthetic import SyntheticConversations
from hotmem import Memory
from hotmem.errors import StoreError
from hotmem.pipecat import HotMemProcessor
from hotmem.types import ContextBlock, Role, Turn
from pipelines.logs import configure_logs

AGAIN: Final = 4
"""Every n-th call is with a user who called before."""

DRAIN_S: Final = 60.0
"""Seconds at most in which the spool is emptied when all calls are over."""

CHECK_S: Final = 0.1

_SECRET: Final = re.compile(r"\bvault[a-z]{4}\b")


@dataclass(frozen=True, slots=True)
class Task:
    """What a bot process does.

    Attributes:
        number: The bot.
        url: The database.
        log: The log file.
        users: Numbers of the users who call it.
        first: Calls that an earlier process of this bot began.
        exchanges: Questions and statements of a call.
        pause_s: Seconds from one of them to the next.
        delay_s: Seconds until the first call, so that bots do not speak in step.
    """

    number: int
    url: str
    log: str
    users: Sequence[int]
    first: int
    exchanges: int
    pause_s: float
    delay_s: float

    def to_json(self) -> str:
        """Return the argument of the process."""
        return json.dumps(asdict(self))


def user_name(number: int) -> str:
    """Return the id of a user."""
    return f"user-{number}"


def secret(number: int) -> str:
    """Return the word that only this user says."""
    letters = (chr(ord("a") + number // 26**place % 26) for place in range(4))
    return "vault" + "".join(letters)


def foreign_words(texts: Sequence[str], user: int) -> int:
    """Return how many words in the texts only another user says."""
    return sum(word != secret(user) for text in texts for word in _SECRET.findall(text.lower()))


class Exit(FrameProcessor):
    """Logs how long the memory kept a context, and what it added of other users."""

    def __init__(self, log: Log, user: int, entrance: Arrival) -> None:
        super().__init__()
        self._log = log
        self._user = user
        self._entrance = entrance

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass every frame on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            self._log.write(
                Entry.RECALL,
                ms=(perf_counter() - self._entrance.at) * 1000,
                foreign=foreign_words(message_texts(frame.context), self._user),
            )
        await self.push_frame(frame, direction)


def main() -> None:
    """Play calls from the time to the time that come on standard input, in seconds since 1970."""
    task = Task(**json.loads(sys.argv[1]))
    configure_logs(verbose=False)
    asyncio.run(_run(task))


async def _run(task: Task) -> None:
    log = Log(Path(task.log))
    await _settled(task)  # loads the models, which takes seconds
    log.write(Entry.READY)
    until = float(await asyncio.to_thread(sys.stdin.readline))
    await asyncio.sleep(task.delay_s)
    script = _script(task)
    for number, user in islice(enumerate(callers(task.users)), task.first, None):
        if time.time() >= until:
            break
        await _call(task, log, user, f"bot-{task.number} call-{number}", script, until)
    log.write(Entry.DONE, spooled=await _settled(task), memory_mb=memory_mb())


def callers(users: Sequence[int]) -> Iterator[int]:
    """Yield who calls, without end."""
    called: list[int] = []
    for user in cycle(users):
        yield user
        called.append(user)
        if len(called) % (AGAIN - 1) == 0:
            yield called[-2]


def _script(task: Task) -> Iterator[str]:
    """Yield statements and questions in turn, without end."""
    talk = SyntheticConversations(user=f"bot-{task.number}")
    questions = cycle(talk.questions(500))
    while True:
        for turn in talk.turns(10_000):
            if turn.role is Role.USER:
                yield turn.text
                yield next(questions)


async def _call(
    task: Task, log: Log, user: int, session: str, script: Iterator[str], until: float
) -> None:
    """Play one call."""
    processor = HotMemProcessor(task.url, user_id=user_name(user), session_id=session)
    log.write(Entry.CALL, session=session, user=user_name(user))
    _watch(processor, log)
    entrance = Arrival(LLMContextFrame)
    memory = [entrance, processor, Exit(log, user, entrance)]
    async with running([processor.listener], memory, audio=False) as (worker, model):
        for number in range(task.exchanges):
            due = perf_counter() + task.pause_s
            text = f"{next(script)} That is thing {number + 1} about {secret(user)}."
            log.write(Entry.SAID, session=session, text=text)
            await say(worker, text)
            try:
                await asyncio.wait_for(model.shown.get(), PATIENCE_S)
            except TimeoutError:
                log.write(Entry.UNANSWERED, session=session)
            await asyncio.sleep(max(due - perf_counter(), 0.0))
            if time.time() >= until:
                break
    log.write(Entry.ENDED, session=session, late=processor.late)


def _watch(processor: HotMemProcessor, log: Log) -> None:
    """Log the events of a call."""
    session = processor.session_id

    def acknowledged(turn: Turn, *, spooled: bool) -> None:
        log.write(Entry.ACKNOWLEDGED, session=session, id=turn.id, text=turn.text, spooled=spooled)

    def delivered(_: HotMemProcessor, block: ContextBlock, *__: object) -> None:
        turns = [one for item in block.items for one in item.turn_ids]
        log.write(Entry.DELIVERED, session=session, turns=turns)

    def failed(_: HotMemProcessor, stage: str, error: Exception) -> None:
        log.write(Entry.ERROR, session=session, name=f"{stage}: {type(error).__name__}")

    for event, handler in (
        ("on_memory_stored", lambda _, turn: acknowledged(turn, spooled=False)),
        ("on_memory_spooled", lambda _, turn: acknowledged(turn, spooled=True)),
        ("on_memory_opened", delivered),
        ("on_memory_recalled", delivered),
        ("on_memory_error", failed),
    ):
        processor.add_event_handler(event, handler)


async def _settled(task: Task) -> int:
    """Open the memory until its spool is empty; return how many turns it still holds."""
    deadline = time.monotonic() + DRAIN_S
    left = 1
    while left and time.monotonic() < deadline:
        with suppress(StoreError):  # the server is being restarted
            async with Memory.open(task.url) as memory:
                left = memory.runtime.spooled
                with suppress(StoreError):
                    await memory.runtime.replay_spool()
                left = memory.runtime.spooled
        if left:
            await asyncio.sleep(CHECK_S)
    return left


if __name__ == "__main__":
    main()
