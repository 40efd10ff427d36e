"""`python -m eval summaries`: sentences of summaries, and the check of those that a model writes.

The summaries of the conversations of one half are printed, for a person to judge whether each
sentence can be understood alone. With a model they are written by it; the conversations are then
sent to its endpoint.

The check is measured without a model: the points that a person wanted in the summaries stand for
sentences of a model. Each names the four turns that share most words with it. They should be kept;
altered ones, and ones that name other turns, should be dropped. Half of the data (`dev`) may be
looked at.
"""

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson, Keep, working_folder
from eval.files import json_records, tsv_records
from eval.output import print_figures, print_json, print_table
from hotmem import Memory, Options
from hotmem.consolidation.summary_grounding import check_sentence
from hotmem.models import Language, load_language
from hotmem.options import ExtractionOptions
from hotmem.storage import queries
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import ExtractionCosts, Role, SessionSummary, Turn
from hotmem.understanding.turn_reader import parsed_text

FOLDER: Final = Path(__file__).parents[1] / "data/trial"
KEY: Final = "OPENAI_API_KEY"
CITED: Final = 4
"""Turns that a point names."""

UNCHANGED: Final = "as it was written"

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NEXT_DAY: Final = dict(zip(WEEKDAYS, (*WEEKDAYS[1:], WEEKDAYS[0]), strict=True))
_WEEKDAY: Final = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})\b")
_NAME: Final = re.compile(r"(?<!^)\b[A-Z][a-z]{3,}\b")
_DENIAL: Final = re.compile(r"\b(?:not|no|never) ")
_AUXILIARY: Final = re.compile(r"\b(is|are|was|were|will|has|can|may|must)\b")
_MONTHS: Final = frozenset(f"{datetime(2026, month, 1, tzinfo=UTC):%B}" for month in range(1, 13))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, and what a person wanted in its summary.

    Attributes:
        half: `dev` or `held`.
        turns: Its turns, 20 seconds apart.
        points: The wanted points, as sentences.
    """

    half: str
    turns: tuple[Turn, ...]
    points: tuple[str, ...]

    @property
    def session(self) -> str:
        """Its id, and that of its user."""
        return self.turns[0].session_id


def conversations(half: str) -> list[Conversation]:
    """The conversations of a half, in the order of the file."""
    spoken: dict[str, list[Turn]] = {}
    for row in json_records(FOLDER / "summaries.jsonl"):
        turns = spoken.setdefault(row["session"], [])
        begun = datetime.fromisoformat(row["started_at"]).replace(tzinfo=UTC)
        at = begun + len(turns) * timedelta(seconds=20)
        role = Role(row["role"])
        speaker = row["user"] if role is Role.USER else "Bot"
        turns.append(Turn(row["session"], row["session"], role, row["text"], at, speaker))
    return [
        Conversation(
            half,
            tuple(spoken[row["session"]]),
            tuple(map(_as_sentence, row["points"].split("|"))),
        )
        for row in tsv_records(FOLDER / "summaries_wanted.tsv")
        if row["half"] == half
    ]


def _as_sentence(point: str) -> str:
    text = point.removeprefix("open:").strip()
    return f"{text[:1].upper()}{text[1:]}."


def check(
    language: Language, given: Sequence[Conversation]
) -> Iterator[tuple[str, str, str, str | None]]:
    """Check the points as they are, and those of them that are kept in altered form.

    Yields:
        What was done to the point, its conversation, the sentence, and why it is dropped.
    """
    for place, one in enumerate(given):
        said = dict(enumerate(language.parse([parsed_text(turn) for turn in one.turns])))
        other = given[(place + 1) % len(given)]
        for point in one.points:
            near = _nearest(point, one.turns)
            cited = sorted(near[:CITED])
            kept = check_sentence(language.parse([point])[0], cited, one.turns, said)
            yield UNCHANGED, one.session, point, kept
            if kept is not None:
                continue
            for change, text, turns in (
                *((change, text, cited) for change, text in _altered(point, one, other)),
                ("names two other turns", point, near[-2:]),
            ):
                found = check_sentence(language.parse([text])[0], turns, one.turns, said)
                yield change, one.session, text, found
        for point in other.points:
            cited = sorted(_nearest(point, one.turns)[:CITED])
            found = check_sentence(language.parse([point])[0], cited, one.turns, said)
            yield "of another conversation", one.session, point, found


def _nearest(point: str, turns: Sequence[Turn]) -> list[int]:
    """Numbers of the turns, from 1, by the words that they share with a point."""
    words = stems(point) - STOP_STEMS
    places = sorted(range(len(turns)), key=lambda place: -len(words & stems(turns[place].text)))
    return [place + 1 for place in places]


def _altered(point: str, one: Conversation, other: Conversation) -> Iterator[tuple[str, str]]:
    """A point with one thing changed at a time."""
    if found := re.search(r"\d+", point):
        yield "another number", _replaced(point, found, str(int(found[0]) + 1))
    if found := _WEEKDAY.search(point):
        yield "another weekday", _replaced(point, found, NEXT_DAY[found[0]])
    own = _names(one)
    names = [found for found in _NAME.finditer(point) if found[0] in own]
    foreign = sorted(_names(other) - own)
    if names and foreign:
        yield "another name", _replaced(point, names[0], foreign[0])
    if found := _DENIAL.search(point):
        yield "without its not", _replaced(point, found, "")
    elif found := _AUXILIARY.search(point):
        yield "with a not", _replaced(point, found, f"{found[0]} not")


def _replaced(text: str, found: re.Match[str], by: str) -> str:
    return f"{text[: found.start()]}{by}{text[found.end() :]}"


def _names(one: Conversation) -> set[str]:
    names = {found[0] for point in one.points for found in _NAME.finditer(point)}
    return {name for name in names if not _WEEKDAY.fullmatch(name)} - _MONTHS


async def summarise(
    file: Path, given: Sequence[Conversation], extraction: ExtractionOptions
) -> tuple[list[tuple[str, SessionSummary]], list[ExtractionCosts]]:
    """Summarise conversations, each with a user of its own; what the calls about each cost."""
    async with Memory.open(file, Options(extraction=extraction)) as memory:
        database = memory.runtime.database
        for one in given:
            for turn in one.turns:
                await memory.remember(turn)
            await memory.end_session(user_id=one.session, session_id=one.session)
        await memory.settle()
        found, costs = [], []
        for one in given:
            summary = await memory.lookup.summary(user_id=one.session, session_id=one.session)
            found.append((one.session, summary or SessionSummary()))
            user = await database.read_all(queries.users.find, one.session)
            if user is not None:
                costs.append(await database.read(queries.model_calls.costs, user))
        return found, costs


def summaries(
    half: Annotated[str, typer.Option(help="dev or held.")] = "held",
    model: Annotated[str, typer.Option(help="Model that writes the summaries; none: rules.")] = "",
    url: Annotated[
        str | None,
        typer.Option(help=f"OpenAI-compatible endpoint; OpenAI's by default. Key: {KEY}."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds until a call has failed.", min=0.1)] = 120,
    limit: Annotated[int | None, typer.Option(help="Maximum conversations.", min=1)] = None,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Print the summaries of conversations, and measure the check of a model's sentences."""
    given = conversations(half)[:limit]
    key = os.environ.get(KEY, "") if model else ""
    extraction = ExtractionOptions(model, url, key, timeout_s=timeout, summaries=True)
    with working_folder(keep) as folder:
        written, costs = asyncio.run(summarise(folder / "summaries.db", given, extraction))
    for session, summary in written:
        for part, sentences in summary.parts.items():
            for one in sentences:
                print(f"{session}  {part}: {one.text}")
    total = {
        "conversations": len(given),
        "sentences": sum(len(part) for _, one in written for part in one.parts.values()),
        "by the model": sum(one.summaries for one in costs),
        "dropped": sum(one.dropped for one in costs),
        "tokens": sum(one.tokens for one in costs),
    }
    print_figures("written", total)
    checked: dict[str, list[bool]] = {}
    for change, session, text, reason in check(load_language(), given):
        checked.setdefault(change, []).append(reason is None)
        if half == "dev" and (reason is None) is not (change == UNCHANGED):
            print(f"{session}  {change}, {reason or 'kept'}: {text}")
    rows = [(change, sum(kept), len(kept)) for change, kept in checked.items()]
    print_table(f"points, {half}", ("", "kept", "of"), rows)
    print_json(
        {"half": half, "written": total, "kept": {name: sum(v) for name, v in checked.items()}},
        as_json,
    )
