"""`python -m eval truth`: what is untrue in the blocks of a talk.

Six writers labelled each statement of a talk of their own: whether it is true at the end, replaced
by a later one, or never meant; and which day it speaks of. After the last session every question of
a talk is asked, and the lines of its block are compared with the labels.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final

import typer

from eval.arguments import AsJson, Cache, Limit, working_folder
from eval.datasets.base import read_json
from eval.datasets.everyday import conversation
from eval.output import print_json, print_table
from eval.run import SESSION, ingested, models
from hotmem import Item, Mark

FOLDER: Final = Path(__file__).parent / "data" / "truth"
DEV: Final = ("a", "b", "c")
HELD: Final = ("d", "e", "f")

FAULTS: Final = ("stale", "not meant", "wrong day", "wrongly ended", "speaker")
"""What can be wrong with a line: it was replaced, and neither the line says so nor is the newer one
above it; it was never meant, and is marked; its day is another one or no single day; it holds, and
is said to have ended; somebody else said it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its block.

    Attributes:
        text: The question.
        tokens: Tokens of the block.
        wanted: Number of statements that answer it.
        shown: How many of them are in the block.
        faults: The fault and the words of each faulty line, and whether the line is marked.
    """

    text: str
    tokens: int
    wanted: int
    shown: int
    faults: tuple[tuple[str, str, bool], ...]


def faults(
    items: Sequence[Item], labels: Mapping[str, Mapping[str, Any]], person: str
) -> list[tuple[str, str, bool]]:
    """The faulty lines of a block.

    Args:
        items: Its items, in the order of the text.
        labels: The label of each statement, by the id of its turn.
        person: Who said it.
    """
    found, above = [], set[str]()
    for item in items:
        of = [labels[turn] for turn in item.turn_ids if turn in labels]
        marked = item.mark is not Mark.LOW
        for label in of:
            days = [first for first, last in item.times if first == last]
            when = label["when"] and date.fromisoformat(label["when"])
            wrong = {
                "stale": label["label"] == "outdated"
                and item.valid_until is None
                and label["by"] not in above,
                "not meant": label["label"] == "never" and marked,
                "wrong day": any(day != when for day in days),
                "wrongly ended": label["label"] == "true" and item.valid_until is not None,
                "speaker": bool(item.speaker) and item.speaker != person,
            }
            found += [(name, item.text, marked) for name, is_wrong in wrong.items() if is_wrong]
        above |= {label["id"] for label in of}
    return found


async def measured(name: str, cache: Path) -> list[Asked]:
    """Ask the questions of a talk after its last session."""
    data = read_json(FOLDER / f"{name}.json")
    talk = conversation(
        name,
        {
            **data,
            "statements": [],
            "questions": [{**one, "wording": "truth"} for one in data["questions"]],
            "unanswerable": [],
            "plain": [],
        },
    )
    by_id = {one["id"]: one for one in data["statements"]}
    labels = {
        f"{session['id']}:{place}": by_id[turn["statement"]]
        for session in data["sessions"]
        for place, turn in enumerate(session["turns"])
        if turn.get("statement")
    }
    asked = []
    async with ingested(talk, models(cache)) as memory:
        for question in talk.questions:
            block = await memory.recall(
                question.text, user_id=talk.user, session_id=SESSION, at=question.asked_at
            )
            shown = {turn for item in block.items for turn in item.turn_ids}
            wrong = faults(block.items, labels, data["person"])
            wanted = set(question.evidence)
            asked.append(
                Asked(question.text, block.tokens, len(wanted), len(wanted & shown), tuple(wrong))
            )
    return asked


def figures(asked: Sequence[Asked]) -> dict[str, Any]:
    """The figures of the blocks of a talk."""
    lines = Counter((name, marked) for one in asked for name, _, marked in one.faults)
    answered = [one for one in asked if one.wanted]
    return {
        "questions": len(asked),
        "evidence": fmean(one.shown / one.wanted for one in answered),
        "tokens": round(fmean(one.tokens for one in asked)),
        "blocks": fmean(bool(one.faults) for one in asked),
        "blocks marked": fmean(any(marked for *_, marked in one.faults) for one in asked),
    } | {name: f"{lines[name, False] + lines[name, True]} ({lines[name, True]})" for name in FAULTS}


def truth(
    held: Annotated[
        bool, typer.Option("--held", help="The three talks for the final figures.")
    ] = False,
    limit: Limit = None,
    misses: Annotated[bool, typer.Option("--misses", help="Show the faulty lines.")] = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Count stale, wrongly dated, wrongly ended and wrongly attributed lines, and unmeant ones."""
    with working_folder(cache) as folder:
        asked = {
            name: asyncio.run(measured(name, folder)) for name in (HELD if held else DEV)[:limit]
        }
    found = {name: figures(part) for name, part in asked.items()}
    headings = ("talk", *next(iter(found.values())))
    rows = [(name, *row.values()) for name, row in found.items()]
    print_table("untrue lines (of them marked)", headings, rows)
    for one in (one for part in asked.values() for one in part if misses):
        for name, line, marked in one.faults:
            print(f"{name}{' (marked)' * marked} | {one.text} | {line}")
    print_json(found, as_json)
