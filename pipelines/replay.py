"""Play recorded speech to the bot: `python -m pipelines.replay --demo`."""

import asyncio
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated, Final

import typer
from pipecat.frames.frames import InputAudioRawFrame
from rich.console import Console

from hotmem import HotMemError, Memory
from hotmem.pipecat import HotMemProcessor
from hotmem.settings import Settings
from pipelines import display
from pipelines.bot import BOT_NAME, SAMPLE_RATE, Bot, build_bot, running
from pipelines.exchange import REPLY_TIMEOUT_S, Exchange, ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.logs import configure_logs
from pipelines.recogniser import build_recogniser
from pipelines.recording import SILENCE, Session, Utterance, load_sessions, read_frames

DEMO: Final = Path(__file__).parent / "recordings"
"""The two demo sessions of the repository."""

DEADLINE_MS: Final = 1000.0
"""Recall deadline in milliseconds; a long one, so that a busy machine shows complete blocks too."""

FRAME_S: Final = 0.02
"""Duration of a frame in seconds."""

app = typer.Typer(add_completion=False)


@app.command()
def main(
    recordings: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of WAV/FLAC/OGG files, or a manifest.json of sessions.", exists=True
        ),
    ] = None,
    database: Annotated[
        Path | None, typer.Option(help="Memory file; default a temporary file.")
    ] = None,
    user: Annotated[str, typer.Option(help="User id.")] = "me",
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Play the two demo sessions with a temporary memory."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
) -> None:
    """Play recorded sessions to a bot with memory, and show each exchange.

    The audio passes voice activity detection, turn detection and speech recognition.
    """
    if recordings is None and not demo:
        raise typer.BadParameter("Name a folder or manifest of recordings, or pass --demo.")
    configure_logs(verbose=verbose)
    screen = display.wide_console()
    try:
        with tempfile.TemporaryDirectory(prefix="hotmem-") as scratch:
            path = Path(scratch) / "memory.db" if demo or database is None else database
            asyncio.run(
                _replay_into(
                    path,
                    load_sessions(DEMO if demo or recordings is None else recordings),
                    user,
                    screen,
                )
            )
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def _replay_into(
    database: Path, sessions: tuple[Session, ...], user_id: str, screen: Console
) -> None:
    async with Memory.open(database, Settings().options()) as memory:
        await replay(sessions, memory, user_id, screen)


async def replay(
    sessions: tuple[Session, ...], memory: Memory, user_id: str, screen: Console
) -> list[Exchange]:
    """Play the sessions in order, and show each exchange and then the stored memories.

    Returns:
        The exchanges, in order.
    """
    model = ModelSettings()
    screen.print(f"speech recognition: Whisper tiny.en; replies: {model.name}", style="dim")
    exchanges: list[Exchange] = []
    for session in sessions:
        screen.print(display.session_heading(session))
        processor = HotMemProcessor(
            memory,
            user_id=user_id,
            session_id=session.id,
            user_name=session.speaker,
            bot_name=BOT_NAME,
            deadline_ms=DEADLINE_MS,
            clock=session_clock(session.started_at),
        )
        bot = build_bot(
            processor,
            build_llm(model),
            inputs=[
                await asyncio.to_thread(build_recogniser, await memory.lookup.vocabulary(user_id))
            ],
        )
        listener = ExchangeListener(bot)
        async with running(bot):
            for utterance in session.utterances:
                before = await memory.learning.weights(user_id)
                exchanges.append(await speak(utterance, bot, listener))
                screen.print(
                    display.exchange_panel(
                        len(exchanges),
                        exchanges[-1],
                        before,
                        await memory.learning.weights(user_id),
                    )
                )
        await memory.settle()
    screen.print(display.memories_table(await memory.memories(user_id, past=True)))
    return exchanges


class Microphone:
    """Queues 20 ms audio frames in real time.

    Args:
        bot: The bot.
    """

    def __init__(self, bot: Bot) -> None:
        self._worker = bot.worker
        self._due = monotonic()

    async def queue(self, audio: bytes) -> None:
        """Queue a frame and wait until the next is due."""
        await self._worker.queue_frame(
            InputAudioRawFrame(audio=audio, sample_rate=SAMPLE_RATE, num_channels=1)
        )
        self._due += FRAME_S
        await asyncio.sleep(max(0.0, self._due - monotonic()))


async def speak(utterance: Utterance, bot: Bot, listener: ExchangeListener) -> Exchange:
    """Play an utterance, then silence until the exchange is complete."""
    frames = await asyncio.to_thread(lambda: list(read_frames(utterance)))
    microphone = Microphone(bot)
    for frame in frames:
        await microphone.queue(frame)
    exchange = asyncio.create_task(listener.next(REPLY_TIMEOUT_S), name="exchange")
    while not exchange.done():
        await microphone.queue(SILENCE)
    return exchange.result()


def session_clock(started_at: datetime) -> Callable[[], datetime]:
    """A clock that starts now at the start of the recorded session."""
    start = monotonic()
    return lambda: started_at + timedelta(seconds=monotonic() - start)


if __name__ == "__main__":
    app()
