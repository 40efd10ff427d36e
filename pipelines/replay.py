"""Plays recorded speech to the bot and shows what it heard, recalled, answered and learnt.

`python -m pipelines.replay --demo`.
"""

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
from pipelines.exchange import PATIENCE_S, Exchange, ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.logs import quiet
from pipelines.recogniser import build_recogniser
from pipelines.recording import SILENCE, Session, Utterance, frames_of, load_sessions

DEMO: Final = Path(__file__).parent / "recordings"
"""The two sessions shipped with the repository."""

DEADLINE_MS: Final = 1000.0
"""Milliseconds a block may take. A replay shows what is remembered, so a busy machine gets its
blocks too; the times shown are the real ones."""

TICK_S: Final = 0.02
"""Seconds of a frame."""

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
        Path | None, typer.Option(help="Memory file; a temporary one if left out.")
    ] = None,
    user: Annotated[str, typer.Option(help="Whose memory it is.")] = "me",
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="Play the two sessions shipped with HotMem into a temporary memory."
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
) -> None:
    """Plays recorded sessions through voice activity detection, turn detection and speech recognition into a bot with memory."""
    if recordings is None and not demo:
        raise typer.BadParameter("Name a folder or manifest of recordings, or pass --demo.")
    quiet(verbose=verbose)
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
    """Plays the sessions in order, shows every exchange, and at the end the memories held.

    Returns:
        The exchanges, in order.
    """
    model = ModelSettings()
    screen.print(f"heard by Whisper tiny.en, answered by {model.name}", style="dim")
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
            ears=[await asyncio.to_thread(build_recogniser, await memory.vocabulary(user_id))],
        )
        listener = ExchangeListener(bot)
        async with running(bot):
            for utterance in session.utterances:
                before = await memory.weights(user_id)
                exchanges.append(await speak(utterance, bot, listener))
                screen.print(
                    display.exchange_panel(
                        len(exchanges), exchanges[-1], before, await memory.weights(user_id)
                    )
                )
        await memory.settle()
    screen.print(display.memories_table(await memory.memories(user_id, past=True)))
    return exchanges


class Microphone:
    """Gives a bot 20 ms frames at the speed they were spoken.

    Args:
        bot: The bot that listens.
    """

    def __init__(self, bot: Bot) -> None:
        """Starts the pace."""
        self._worker = bot.worker
        self._due = monotonic()

    async def hear(self, audio: bytes) -> None:
        """Passes on one frame and waits until the next is due."""
        await self._worker.queue_frame(
            InputAudioRawFrame(audio=audio, sample_rate=SAMPLE_RATE, num_channels=1)
        )
        self._due += TICK_S
        await asyncio.sleep(max(0.0, self._due - monotonic()))


async def speak(utterance: Utterance, bot: Bot, listener: ExchangeListener) -> Exchange:
    """Plays an utterance to its end, then silence until it is answered."""
    frames = await asyncio.to_thread(lambda: list(frames_of(utterance)))
    microphone = Microphone(bot)
    for frame in frames:
        await microphone.hear(frame)
    answered = asyncio.create_task(listener.next(PATIENCE_S), name="exchange")
    while not answered.done():
        await microphone.hear(SILENCE)
    return answered.result()


def session_clock(started_at: datetime) -> Callable[[], datetime]:
    """A clock that ran when the session was recorded.

    It stands at its start now and goes on from there.
    """
    began = monotonic()
    return lambda: started_at + timedelta(seconds=monotonic() - began)


if __name__ == "__main__":
    app()
