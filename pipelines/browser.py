"""The bot in a browser: `python -m pipelines.browser`, then open the address it prints.

Requires `pip install "pipecat-hotmem[browser,whisper]"`. The page sends audio over WebRTC
and shows each turn with its context block. It loads nothing from other hosts, unlike pipecat's
prebuilt page. The bot speaks with Piper if it is installed, and replies in text otherwise.
"""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pipecat.frames.frames import OutputTransportMessageUrgentFrame
from rich.console import Console

from hotmem import HotMemError, Memory
from hotmem.core.logs import log
from hotmem.pipecat import HotMemProcessor
from hotmem.settings import Settings
from pipelines import display
from pipelines.bot import BOT_NAME, Bot, build_bot, running
from pipelines.exchange import Exchange, ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.logs import configure_logs
from pipelines.recogniser import build_recogniser, whisper_folder
from pipelines.voice import build_voice, voice_folder

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pipecat.transports.smallwebrtc.connection import SmallWebRTCConnection

PAGE: Final = Path(__file__).parent / "page"
"""Folder of the page, which loads nothing from other hosts."""

REQUIRED: Final = ("aiortc", "fastapi", "uvicorn")

CONNECTION_POLL_S: Final = 2.0
"""Seconds between checks of the connection: a browser that disconnects while the models load
causes no event."""

app = typer.Typer(add_completion=False)


class NoBrowser(HotMemError):
    """The page cannot be served."""


@app.command()
def main(
    database: Annotated[
        Path | None, typer.Option(help="Memory file; default HOTMEM_DATABASE, else memory.db.")
    ] = None,
    user: Annotated[str, typer.Option(help="User id.")] = "me",
    name: Annotated[str | None, typer.Option(help="Your name in the memory.")] = None,
    port: Annotated[
        int,
        typer.Option(
            help="Local port.",
            min=1,
            max=65535,
        ),
    ] = 7860,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
) -> None:
    """Serve a page that talks to the bot, on this machine only."""
    configure_logs(verbose=verbose)
    screen = display.wide_console()
    try:
        asyncio.run(serve(database, user, name, port, screen))
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def serve(
    database: Path | None, user_id: str, name: str | None, port: int, screen: Console
) -> None:
    """Serve until interrupted.

    Raises:
        NoBrowser: If a package is missing or the port is in use.
    """
    missing = [package for package in REQUIRED if find_spec(package) is None]
    if missing:
        raise NoBrowser(
            f"{', '.join(missing)} cannot be imported. "
            'Run: pip install "pipecat-hotmem[browser,whisper]"'
        )
    import uvicorn

    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise NoBrowser(f"Port {port} is in use. Choose another with --port.") from error
    await asyncio.to_thread(whisper_folder)
    settings = Settings()
    async with Memory.open(database or settings.database, settings.options()) as memory:
        output = "speech by Piper" if voice_folder() else "text only"
        screen.print(f"replies: {ModelSettings().name}, {output}; Control-C quits", style="dim")
        screen.print(f"Open http://localhost:{port}")
        conversations = Conversations(memory, user_id, name, settings)
        server = uvicorn.Server(uvicorn.Config(build_site(conversations), log_level="warning"))
        # Control-C then cancels this task, which closes conversations and memory.
        object.__setattr__(server, "capture_signals", nullcontext)
        try:
            await server.serve([listening])
        finally:
            await conversations.close()


class Conversations:
    """Conversations with the connected browsers.

    Args:
        memory: The memory, open.
        user_id: The user.
        name: The user's name.
        settings: The recall deadline.
    """

    def __init__(self, memory: Memory, user_id: str, name: str | None, settings: Settings) -> None:
        self._memory = memory
        self._user_id = user_id
        self._name = name
        self._settings = settings
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, connection: "SmallWebRTCConnection") -> None:
        """Start a conversation with a browser."""
        processor = HotMemProcessor(
            self._memory,
            user_id=self._user_id,
            user_name=self._name,
            bot_name=BOT_NAME,
            deadline_ms=self._settings.recall_deadline_ms,
        )
        names = await self._memory.lookup.vocabulary(self._user_id)
        task = asyncio.create_task(converse(connection, processor, names), name="conversation")
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    async def close(self) -> None:
        """End all conversations and their sessions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("conversation failed", error=type(error).__name__)


def build_site(conversations: Conversations) -> "FastAPI":
    """The page and its WebRTC signalling endpoint; rejects requests for other host names."""
    from fastapi import FastAPI
    from fastapi.staticfiles import StaticFiles
    from pipecat.transports.smallwebrtc.request_handler import (
        SmallWebRTCRequest,
        SmallWebRTCRequestHandler,
    )
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    site = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    site.add_middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1"])
    handler = SmallWebRTCRequestHandler()

    async def offer(request: dict[str, Any]) -> dict[str, str] | None:
        return await handler.handle_web_request(
            SmallWebRTCRequest.from_dict(request), conversations.start
        )

    site.post("/offer")(offer)
    site.mount("/", StaticFiles(directory=PAGE, html=True))
    return site


async def converse(
    connection: "SmallWebRTCConnection", processor: HotMemProcessor, names: Sequence[str]
) -> None:
    """Run a bot for one browser until it disconnects.

    Args:
        connection: The connection.
        processor: The memory.
        names: Names for speech recognition to expect.
    """
    from pipecat.transports.base_transport import TransportParams
    from pipecat.transports.smallwebrtc.transport import SmallWebRTCTransport

    voice = await asyncio.to_thread(build_voice)
    transport = SmallWebRTCTransport(
        connection, TransportParams(audio_in_enabled=True, audio_out_enabled=bool(voice))
    )
    inputs = [transport.input(), await asyncio.to_thread(build_recogniser, names)]
    bot = build_bot(
        processor, build_llm(ModelSettings()), inputs=inputs, outputs=[*voice, transport.output()]
    )
    disconnected = asyncio.Event()

    async def on_disconnected(*_: object) -> None:
        disconnected.set()

    transport.add_event_handler("on_client_disconnected", on_disconnected)
    listener = ExchangeListener(bot)
    async with running(bot):
        sender = asyncio.create_task(_send_exchanges(bot, listener), name="exchanges")
        try:
            while connection.pc.connectionState != "closed" and not disconnected.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(disconnected.wait(), CONNECTION_POLL_S)
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)


async def _send_exchanges(bot: Bot, listener: ExchangeListener) -> None:
    """Send each completed exchange to the page."""
    while True:
        exchange = await listener.next(None)
        await bot.worker.queue_frame(OutputTransportMessageUrgentFrame(message(exchange)))


def message(exchange: Exchange) -> dict[str, str | float]:
    """An exchange as JSON for the page."""
    block = exchange.block
    duration_ms = 0.0 if block is None else sum(block.trace.stages.values())
    return {
        "type": "exchange",
        "utterance": exchange.utterance,
        "block": "" if block is None else block.text,
        "reply": exchange.reply,
        "ms": round(duration_ms, 1),
    }


if __name__ == "__main__":
    app()
