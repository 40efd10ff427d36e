"""The bot by microphone and loudspeaker: `python -m pipelines.local_mic`.

Control-C ends the session. The bot speaks with Piper if piper-tts and a voice are installed (both
are GPL-3 and so in no extra), and replies in text otherwise.
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
from pipelines.logs import configure_logs
from pipelines.recogniser import build_recogniser
from pipelines.voice import build_voice

if TYPE_CHECKING:
    from pipecat.transports.local.audio import LocalAudioTransport

app = typer.Typer(add_completion=False)


class NoAudioDevice(HotMemError):
    """This machine has no audio input or output."""


@app.command()
def main(
    database: Annotated[
        Path | None, typer.Option(help="Memory file; default HOTMEM_DATABASE, else memory.db.")
    ] = None,
    user: Annotated[str, typer.Option(help="User id.")] = "me",
    name: Annotated[str | None, typer.Option(help="Your name in the memory.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
) -> None:
    """Talk by microphone and loudspeaker; shows each exchange."""
    configure_logs(verbose=verbose)
    screen = display.wide_console()
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(converse(database, user, name, screen))
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def converse(database: Path | None, user_id: str, name: str | None, screen: Console) -> None:
    """Run the bot until cancelled.

    Raises:
        NoAudioDevice: If PyAudio or a device is missing.
    """
    voice = await asyncio.to_thread(build_voice)
    transport = open_audio(with_output=bool(voice))
    settings, model = Settings(), ModelSettings()
    output = "speech by Piper" if voice else "text only"
    screen.print(f"replies: {model.name}, {output}; Control-C quits", style="dim")
    async with Memory.open(database or settings.database, settings.options()) as memory:
        inputs = [
            transport.input(),
            await asyncio.to_thread(build_recogniser, await memory.lookup.vocabulary(user_id)),
        ]
        outputs = [*voice, transport.output()] if voice else []
        bot = build_bot(
            HotMemProcessor(
                memory,
                user_id=user_id,
                user_name=name,
                bot_name=BOT_NAME,
                deadline_ms=settings.recall_deadline_ms,
            ),
            build_llm(model),
            inputs=inputs,
            outputs=outputs,
        )
        listener = ExchangeListener(bot)
        number = 0
        async with running(bot):
            while True:
                before = await memory.learning.weights(user_id)
                exchange = await listener.next(None)
                number += 1
                screen.print(
                    display.exchange_panel(
                        number, exchange, before, await memory.learning.weights(user_id)
                    )
                )


def open_audio(*, with_output: bool) -> "LocalAudioTransport":
    """Open the default microphone and loudspeaker.

    Raises:
        NoAudioDevice: If PyAudio, PortAudio or a device is missing.
    """
    try:
        import pyaudio
        from pipecat.transports.local.audio import LocalAudioTransport, LocalAudioTransportParams
    except ImportError as error:
        raise NoAudioDevice(
            "PyAudio or the PortAudio library is missing."
            " On Debian run: apt-get install portaudio19-dev && pip install pyaudio;"
            " on macOS: brew install portaudio && pip install pyaudio."
            " python -m pipelines.chat needs neither."
        ) from error
    audio = pyaudio.PyAudio()
    try:
        audio.get_default_input_device_info()
        if with_output:
            audio.get_default_output_device_info()
    except OSError as error:
        raise NoAudioDevice(
            "No microphone or loudspeaker was found. Plug one in and choose it as the default;"
            " python -m pipelines.chat needs neither."
        ) from error
    finally:
        audio.terminate()
    return LocalAudioTransport(
        LocalAudioTransportParams(audio_in_enabled=True, audio_out_enabled=with_output)
    )


if __name__ == "__main__":
    app()
