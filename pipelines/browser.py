"""The bot in a browser: `python -m pipelines.browser`, then open the address it prints.

Needs `pip install "pipecat-hotmem[browser,whisper,offline]"`. The page sends the microphone by
WebRTC and shows each turn with what was recalled for it. It is our own: pipecat's prebuilt page
loads code from one foreign host and reports errors to another. The bot speaks with Piper if it is
installed, and answers in writing otherwise.
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
from pipelines.logs import quiet
from pipelines.recogniser import build_recogniser, whisper_folder
from pipelines.voice import build_voice, voice_folder

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pipecat.transports.smallwebrtc.connection import SmallWebRTCConnection

PAGE: Final = Path(__file__).parent / "page"
"""HTML, script and style; nothing in them is loaded from elsewhere."""

NEEDED: Final = ("aiortc", "fastapi", "uvicorn")

LOOK_S: Final = 2.0
"""Seconds between two looks at whether a browser is still there: one that leaves while the
models load tells nobody."""

app = typer.Typer(add_completion=False)


class NoBrowser(HotMemError):
    """The page cannot be served."""


@app.command()
def main(
    database: Annotated[
        Path | None, typer.Option(help="Memory file; HOTMEM_DATABASE or memory.db if left out.")
    ] = None,
    user: Annotated[str, typer.Option(help="Whose memory it is.")] = "me",
    name: Annotated[str | None, typer.Option(help="Your name, as the memory writes it.")] = None,
    port: Annotated[
        int,
        typer.Option(
            help="Port on this machine; browsers give the microphone to localhost only.",
            min=1,
            max=65535,
        ),
    ] = 7860,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log.")] = False,
) -> None:
    """Serves a page that talks to the bot, on this machine alone."""
    quiet(verbose=verbose)
    screen = display.wide_console()
    try:
        asyncio.run(serve(database, user, name, port, screen))
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def serve(
    database: Path | None, user_id: str, name: str | None, port: int, screen: Console
) -> None:
    """Serves until it is interrupted.

    Raises:
        NoBrowser: If a package is missing or the port is taken.
    """
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        raise NoBrowser(
            f'{", ".join(missing)} cannot be imported. Run: pip install "pipecat-hotmem[browser,whisper,offline]"'
        )
    import uvicorn

    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise NoBrowser(f"Port {port} is taken. Choose another with --port.") from error
    await asyncio.to_thread(whisper_folder)
    settings = Settings()
    async with Memory.open(database or settings.database, settings.options()) as memory:
        spoken = "spoken by Piper" if voice_folder() else "in writing"
        screen.print(f"answered by {ModelSettings().name}, {spoken}; Control-C ends", style="dim")
        screen.print(f"Open http://localhost:{port}")
        talks = Talks(memory, user_id, name, settings)
        server = uvicorn.Server(uvicorn.Config(build_page(talks), log_level="warning"))
        object.__setattr__(
            server, "capture_signals", nullcontext
        )  # Control-C cancels this task, and what is open is closed
        try:
            await server.serve([listening])
        finally:
            await talks.close()


class Talks:
    """The conversations with the browsers that are connected.

    Args:
        memory: The memory, open.
        user_id: Whose it is.
        name: The user's name, if known.
        settings: The deadline.
    """

    def __init__(self, memory: Memory, user_id: str, name: str | None, settings: Settings) -> None:
        self._memory = memory
        self._user_id = user_id
        self._name = name
        self._settings = settings
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, connection: "SmallWebRTCConnection") -> None:
        """Begins a conversation of its own with a browser."""
        processor = HotMemProcessor(
            self._memory,
            user_id=self._user_id,
            user_name=self._name,
            bot_name=BOT_NAME,
            deadline_ms=self._settings.recall_deadline_ms,
        )
        names = await self._memory.vocabulary(self._user_id)
        talk = asyncio.create_task(converse(connection, processor, names), name="talk")
        self._tasks.add(talk)
        talk.add_done_callback(self._ended)

    async def close(self) -> None:
        """Ends all conversations; their sessions are summarised."""
        for talk in self._tasks:
            talk.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, talk: asyncio.Task[None]) -> None:
        self._tasks.discard(talk)
        if not talk.cancelled() and (error := talk.exception()) is not None:
            log.error("conversation failed", error=type(error).__name__)


def build_page(talks: Talks) -> "FastAPI":
    """The page, and the one place it sends an offer to. Pages of other hosts are not answered."""
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
        return await handler.handle_web_request(SmallWebRTCRequest.from_dict(request), talks.begin)

    site.post("/offer")(offer)
    site.mount("/", StaticFiles(directory=PAGE, html=True))
    return site


async def converse(
    connection: "SmallWebRTCConnection", processor: HotMemProcessor, names: Sequence[str]
) -> None:
    """Talks to one browser until it leaves; listens for the names."""
    from pipecat.transports.base_transport import TransportParams
    from pipecat.transports.smallwebrtc.transport import SmallWebRTCTransport

    voice = await asyncio.to_thread(build_voice)
    transport = SmallWebRTCTransport(
        connection, TransportParams(audio_in_enabled=True, audio_out_enabled=bool(voice))
    )
    ears = [transport.input(), await asyncio.to_thread(build_recogniser, names)]
    bot = build_bot(
        processor, build_llm(ModelSettings()), ears=ears, mouth=[*voice, transport.output()]
    )
    left = asyncio.Event()

    async def leave(*_: object) -> None:
        left.set()

    transport.add_event_handler("on_client_disconnected", leave)
    listener = ExchangeListener(bot)
    async with running(bot):
        telling = asyncio.create_task(_tell(bot, listener), name="telling")
        try:
            while connection.pc.connectionState != "closed" and not left.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(left.wait(), LOOK_S)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)


async def _tell(bot: Bot, listener: ExchangeListener) -> None:
    """Sends the page each exchange once it is complete."""
    while True:
        exchange = await listener.next(None)
        await bot.worker.queue_frame(OutputTransportMessageUrgentFrame(message(exchange)))


def message(exchange: Exchange) -> dict[str, str | float]:
    """What the page shows of an exchange."""
    block = exchange.block
    given = "" if block is None else block.text
    took = 0.0 if block is None else sum(block.trace.stages.values())
    return {
        "type": "exchange",
        "heard": exchange.heard,
        "block": given,
        "reply": exchange.reply,
        "ms": round(took, 1),
    }


if __name__ == "__main__":
    app()
