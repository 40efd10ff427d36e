"""The bot by keyboard: `python -m pipelines.chat`. Each line is a turn.

An empty line or end of file ends the session.
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
from pipelines.exchange import PATIENCE_S, ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.logs import quiet

app = typer.Typer(add_completion=False)


@app.command()
def main(
    database: Annotated[
        Path | None, typer.Option(help="Memory file; HOTMEM_DATABASE or memory.db if left out.")
    ] = None,
    user: Annotated[str, typer.Option(help="Whose memory it is.")] = "me",
    name: Annotated[str | None, typer.Option(help="Your name, as the memory writes it.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show all that happens in each exchange.")
    ] = False,
) -> None:
    """Talks by keyboard to the same bot that the voice pipelines run."""
    quiet(verbose=False)
    screen = display.wide_console()
    try:
        asyncio.run(chat(database, user, name, screen, verbose=verbose))
    except HotMemError as error:
        screen.print(display.failure(error), soft_wrap=True)
        raise typer.Exit(1) from error


async def chat(
    database: Path | None, user_id: str, name: str | None, screen: Console, *, verbose: bool
) -> None:
    """Reads lines from standard input and answers each until an empty one."""
    settings, model = Settings(), ModelSettings()
    screen.print(f"answered by {model.name}; an empty line ends the session", style="dim")
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
                before = await memory.weights(user_id)
                await type_in(line, user_id, bot)
                exchange = await listener.next(PATIENCE_S)
                if verbose:
                    screen.print(
                        display.exchange_panel(
                            number, exchange, before, await memory.weights(user_id)
                        )
                    )
                else:
                    screen.print(display.reply_line(exchange.reply))


async def type_in(line: str, user_id: str, bot: Bot) -> None:
    """Hands the bot a line as a finished turn."""
    await bot.worker.queue_frame(ProposedUserStartedSpeakingFrame())
    await bot.worker.queue_frame(
        TranscriptionFrame(line, user_id, datetime.now(UTC).isoformat(), finalized=True)
    )
    await bot.worker.queue_frame(ProposedUserStoppedSpeakingFrame())


if __name__ == "__main__":
    app()
