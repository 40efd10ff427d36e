"""The bot by microphone and loudspeaker.

`python -m pipelines.local_mic`. Control-C ends the session.

It speaks with Piper if piper-tts and a voice are installed (both are GPL-3, so they are not part of
any extra), and answers in writing otherwise.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from hotmem import HotMemError, Memory
from hotmem.pipecat import HotMemProcessor
from hotmem.settings import Settings
from pipelines import display
from pipelines.bot import BOT_NAME, build_bot, running
from pipelines.exchange import ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.logs import quiet
from pipelines.recogniser import build_recogniser
from pipelines.voice import build_voice

if TYPE_CHECKING:
    from pipecat.transports.local.audio import LocalAudioTransport

app = typer.Typer(add_completion=False)


class NoMicrophone(HotMemError):
    """Sound cannot be had from this machine."""


@app.command()
def main(
    database: Annotated[
        Path | None, typer.Option(help="Memory file; HOTMEM_DATABASE or memory.db if left out.")
    ] = None,
    user: Annotated[str, typer.Option(help="Whose memory it is.")] = "me",
    name: Annotated[str | None, typer.Option(help="Your name, as the memory writes it.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
) -> None:
    """Talks through microphone and loudspeaker; shows what was heard, recalled and learnt."""
    quiet(verbose=verbose)
    screen = display.wide_console()
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(talk(database, user, name, screen))
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def talk(database: Path | None, user_id: str, name: str | None, screen: Console) -> None:
    """Runs the bot until it is cancelled.

    Raises:
        NoMicrophone: If PyAudio or a device is missing.
    """
    voice = await asyncio.to_thread(build_voice)
    transport = open_sound(speaks=bool(voice))
    settings, model = Settings(), ModelSettings()
    screen.print(
        f"answered by {model.name}, {'spoken by Piper' if voice else 'in writing'}; Control-C ends",
        style="dim",
    )
    async with Memory.open(database or settings.database, settings.options()) as memory:
        ears = [
            transport.input(),
            await asyncio.to_thread(build_recogniser, await memory.vocabulary(user_id)),
        ]
        mouth = [*voice, transport.output()] if voice else []
        bot = build_bot(
            HotMemProcessor(
                memory,
                user_id=user_id,
                user_name=name,
                bot_name=BOT_NAME,
                deadline_ms=settings.recall_deadline_ms,
            ),
            build_llm(model),
            ears=ears,
            mouth=mouth,
        )
        listener = ExchangeListener(bot)
        number = 0
        async with running(bot):
            while True:
                before = await memory.weights(user_id)
                exchange = await listener.next(None)
                number += 1
                screen.print(
                    display.exchange_panel(number, exchange, before, await memory.weights(user_id))
                )


def open_sound(*, speaks: bool) -> "LocalAudioTransport":
    """Microphone and loudspeaker of this machine.

    Raises:
        NoMicrophone: If PyAudio, PortAudio or a device is missing.
    """
    try:
        import pyaudio
        from pipecat.transports.local.audio import LocalAudioTransport, LocalAudioTransportParams
    except ImportError as error:
        raise NoMicrophone(
            "PyAudio or the PortAudio library is missing. On Debian run: apt-get install portaudio19-dev && pip install pyaudio;"
            " on macOS: brew install portaudio && pip install pyaudio. python -m pipelines.chat needs neither."
        ) from error
    sound = pyaudio.PyAudio()
    try:
        sound.get_default_input_device_info()
        if speaks:
            sound.get_default_output_device_info()
    except OSError as error:
        raise NoMicrophone(
            "No microphone or loudspeaker was found. Plug one in and choose it as the default; python -m pipelines.chat needs neither."
        ) from error
    finally:
        sound.terminate()
    return LocalAudioTransport(
        LocalAudioTransportParams(audio_in_enabled=True, audio_out_enabled=speaks)
    )


if __name__ == "__main__":
    app()
