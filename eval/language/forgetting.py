"""`python -m eval forgetting`: requests to forget something, and utterances that only sound so.

Six statements are told and remembered in one conversation, then something is said. If the bot is
told to ask for confirmation, the answer is yes, and what is missing from the memory afterwards is
compared with what was meant. Half of the requests (`dev`) may be looked at.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from eval.arguments import AsJson, Misses, Most
from eval.files import json_records
from eval.memories import temporary_memory
from eval.output import print_json, print_table, tracked
from hotmem import Memory, Role, Turn
from hotmem.models import load_encoder
from hotmem.options import ModelOptions
from hotmem.pipecat.voice_commands import CommandRequest, VoiceCommands
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.turn_retention import TurnRetention

FILE: Final = Path(__file__).parents[1] / "data/trial/forgetting.jsonl"
SESSION: Final = "conversation"
START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
MAX_TOKENS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance, and what was forgotten after it.

    Attributes:
        half: `dev` or `held`.
        text: The utterance.
        statements: What was told before.
        meant: Places of the statements to forget; none if it is no request to forget.
        asked: Whether the bot asked for confirmation.
        forgotten: Places of the statements that are missing after the confirmation.
    """

    half: str
    text: str
    statements: Sequence[str]
    meant: frozenset[int]
    asked: bool
    forgotten: frozenset[int]


def forgetting(
    held: Annotated[bool, typer.Option(help="Measure the held-out half instead.")] = False,
    misses: Misses = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Ask to forget statements by voice, confirm, and see what is missing afterwards."""
    half = "held" if held else "dev"
    rows = [row for row in json_records(FILE) if row["half"] == half]
    said = asyncio.run(_say(rows[:limit]))
    requests = [one for one in said if one.meant]
    others = [one for one in said if not one.meant]
    asked = [one for one in requests if one.asked]
    parts = {
        "requests that are asked back": (requests, asked),
        "other utterances that are asked back": (others, [one for one in others if one.asked]),
        "exactly what was meant is forgotten": (
            requests,
            [one for one in requests if one.forgotten == one.meant],
        ),
        "something else is forgotten": (asked, [one for one in asked if one.forgotten - one.meant]),
    }
    counts = {
        name: {"count": len(found), "of": len(every)} for name, (every, found) in parts.items()
    }
    table = [(name, *one.values()) for name, one in counts.items()]
    print_table(f"requests to forget, {half}", ("", "count", "of"), table)
    for one in said:
        if misses and not held and (one.forgotten != one.meant or one.asked != bool(one.meant)):
            meant, forgotten = (
                "; ".join(one.statements[place] for place in sorted(places)) or "-"
                for places in (one.meant, one.forgotten)
            )
            asks = "asked" if one.asked else "not asked"
            print(f"{one.text} ({asks}) {forgotten}, not {meant}")
    print_json({"half": half, **counts}, as_json)


async def _say(rows: Sequence[dict[str, Any]]) -> list[Said]:
    """Tell the statements of each row to a user of its own, then say its utterance."""
    encoder = load_encoder(ModelOptions())
    find = CommandFinder(lambda: encoder)
    async with temporary_memory(encoder=encoder) as memory:
        retained = []
        for user, row in enumerate(rows):
            retention = TurnRetention(find)
            for place, text in enumerate(row["memory"]):
                at = START + timedelta(minutes=place)
                turn = Turn(f"{user}", SESSION, Role.USER, text, at)
                await memory.remember(turn)
                retention.end_turn(place, text)
                retention.add_stored(turn.id)
            retained.append(retention)
        await memory.settle()
        return [
            await _ask(memory, f"{user}", row, retained[user])
            for user, row in enumerate(tracked(rows, "utterances"))
        ]


async def _ask(memory: Memory, user: str, row: dict[str, Any], retention: TurnRetention) -> Said:
    commands = VoiceCommands(user, SESSION, retention)
    told = len(row["memory"])
    asked = False
    for number, text in enumerate((row["command"], "Yes, delete it."), told):
        retention.end_turn(number, text)
        request = CommandRequest(memory, text, START + timedelta(hours=number), (), MAX_TOKENS)
        block = await commands.execute(request)
        if number == told and block is not None:
            commands.add_delivered(block)
            commands.add_reply("Shall I delete that?")
            asked = commands.awaits_confirmation
    exported = [json.loads(line) async for line in memory.export(user)]
    kept = {record["text"] for record in exported if record["type"] == "turn"}
    return Said(
        row["half"],
        row["command"],
        row["memory"],
        frozenset(row["forgets"]),
        asked,
        frozenset(place for place, text in enumerate(row["memory"]) if text not in kept),
    )
