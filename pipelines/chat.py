"""The bot by keyboard: `python -m pipelines.chat`.

Each line is a user turn; an empty line or end of file ends the session.
"""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pipecat.frames.frames import (
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
)
from rich.console import Console

from hotmem import HotMemError, Memory
from hotmem.pipecat import HotMemProcessor
from hotmem.settings import Settings
from pipelines import display
from pipelines.bot import BOT_NAME, Bot, build_bot, running
from pipelines.exchange import REPLY_TIMEOUT_S, ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.logs import configure_logs

app = typer.Typer(add_completion=False)


@app.command()
def main(
    database: Annotated[
        Path | None, typer.Option(help="Memory file; default HOTMEM_DATABASE, else memory.db.")
    ] = None,
    user: Annotated[str, typer.Option(help="User id.")] = "me",
    name: Annotated[str | None, typer.Option(help="Your name in the memory.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the details of each exchange.")
    ] = False,
) -> None:
    """Talk by keyboard to the bot of the voice pipelines."""
    configure_logs(verbose=False)
    screen = display.wide_console()
    try:
        asyncio.run(chat(database, user, name, screen, verbose=verbose))
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def chat(
    database: Path | None, user_id: str, name: str | None, screen: Console, *, verbose: bool
) -> None:
    """Read lines from standard input as user turns, until an empty one."""
    settings, model = Settings(), ModelSettings()
    screen.print(f"replies: {model.name}; an empty line ends the session", style="dim")
    async with Memory.open(database or settings.database, settings.options()) as memory:
        bot = build_bot(
            HotMemProcessor(
                memory,
                user_id=user_id,
                user_name=name,
                bot_name=BOT_NAME,
                deadline_ms=settings.recall_deadline_ms,
            ),
            build_llm(model),
        )
        listener = ExchangeListener(bot)
        number = 0
        async with running(bot):
            while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
                number += 1
                before = await memory.learning.weights(user_id)
                await queue_turn(line, user_id, bot)
                exchange = await listener.next(REPLY_TIMEOUT_S)
                if verbose:
                    screen.print(
                        display.exchange_panel(
                            number, exchange, before, await memory.learning.weights(user_id)
                        )
                    )
                else:
                    screen.print(display.reply_line(exchange.reply))


async def queue_turn(line: str, user_id: str, bot: Bot) -> None:
    """Queue the frames of a user turn."""
    await bot.worker.queue_frame(ProposedUserStartedSpeakingFrame())
    await bot.worker.queue_frame(
        TranscriptionFrame(line, user_id, datetime.now(UTC).isoformat(), finalized=True)
    )
    await bot.worker.queue_frame(ProposedUserStoppedSpeakingFrame())


if __name__ == "__main__":
    app()
