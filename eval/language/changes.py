"""What a later turn does to earlier ones, on the whole system: changes, and two of a kind.

Each case has a memory of its own: earlier turns, some weeks later another turn, then a question.
After a change the block must contain the new value and an earlier fact must have ended; after a
turn about another thing of the same kind, both must be known and nothing may have ended.
"""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson, Most
from eval.files import some, tsv_rows
from eval.memories import temporary_memory
from eval.output import print_json, print_table, style, tracked
from eval.statistics import bootstrap
from hotmem import Role, Turn
from hotmem.models import Encoder, Language, load_language
from hotmem.models.encoders import OnnxEncoder

FOLDER: Final = Path(__file__).parents[1] / "data" / "understanding" / "unseen"
GROUPS: Final = {"changes": "something changes", "kinds": "two of a kind"}
"""Files of cases, and what happens in them."""

MARKED: Final = re.compile(r"\((?:[^()]*, )?until\b")
"""The mark of a line that may no longer hold."""

NOW: Final = datetime(2026, 11, 24, 10, tzinfo=UTC)
EARLIER_DAYS: Final = 40
BETWEEN_DAYS: Final = 10
DEADLINE_MS: Final = 3000.0


@dataclass(frozen=True, slots=True)
class Case:
    """A case.

    Attributes:
        group: One of `GROUPS`.
        clean: Whether it is as written, not as a recogniser gives it.
        earlier: The first turns, `BETWEEN_DAYS` days apart.
        new: The later turn.
        question: Asked afterwards.
        answer: What the block must contain.
        former: What it must not state as current; none for two of a kind.
    """

    group: str
    clean: bool
    earlier: tuple[str, ...]
    new: str
    question: str
    answer: tuple[str, ...]
    former: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        case: The case.
        known: Number of facts read from the earlier turns.
        ended: Those that have ended.
        doubted: Those that are possibly outdated.
        answered: Whether the block contains the answer.
        stale: Whether it states a former value without a mark.
    """

    case: Case
    known: int
    ended: tuple[str, ...]
    doubted: tuple[str, ...]
    answered: bool
    stale: bool


def cases(folder: Path = FOLDER) -> list[Case]:
    """Return all cases."""
    return [
        Case(
            group,
            any(character.isupper() for character in new),
            tuple(earlier.split(" | ")),
            new,
            question,
            tuple(answer.split("; ")),
            () if former == "-" else tuple(former.split("; ")),
        )
        for group in GROUPS
        for earlier, new, question, answer, former in tsv_rows(folder / f"{group}.tsv")
    ]


async def run(case: Case, encoder: Encoder, language: Language) -> Outcome:
    """Say a case to an empty memory, each turn in a session of its own."""

    def said(session: int, text: str, days: int) -> Turn:
        return Turn("ana", f"session {session}", Role.USER, text, NOW - timedelta(days=days))

    async with temporary_memory(encoder=encoder, language=language) as memory:
        for number, text in enumerate(case.earlier):
            await memory.remember(said(number, text, EARLIER_DAYS - BETWEEN_DAYS * number))
        await memory.settle()
        before = await memory.memories("ana")
        await memory.remember(said(len(case.earlier), case.new, 1))
        await memory.settle()
        current = {one.id: one for one in await memory.memories("ana")}
        block = await memory.recall(
            case.question, user_id="ana", session_id="asked", at=NOW, deadline_ms=DEADLINE_MS
        )
    return Outcome(
        case,
        len(before),
        tuple(one.text for one in before if one.id not in current),
        tuple(one.text for one in before if one.id in current and current[one.id].doubted_at),
        all(_contains(block.text, words) for words in case.answer),
        any(
            _contains(line, words) and not MARKED.search(line)
            for line in block.text.splitlines()
            for words in case.former
        ),
    )


def _contains(text: str, words: str) -> bool:
    return _words(words) in _words(text)


def _words(text: str) -> str:
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


def changes(
    folder: Annotated[
        Path, typer.Option(help="Folder of the cases.", exists=True, file_okay=False)
    ] = FOLDER,
    failures: Annotated[bool, typer.Option(help="Print the cases that fail.")] = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Say changes and two of a kind to the memory: what ends, and what a block then contains."""
    outcomes = asyncio.run(_measured(folder, limit))
    rows = []
    for group, name in GROUPS.items():
        for clean in (True, False):
            chosen = [o for o in outcomes if (o.case.group, o.case.clean) == (group, clean)]
            if chosen:
                shares = (
                    [one.known > 0 for one in chosen],
                    [one.answered for one in chosen],
                    [bool(one.ended) for one in chosen],
                    [bool(one.ended or one.doubted) for one in chosen],
                    [one.answered and not one.stale for one in chosen],
                )
                rows.append((name, style(clean=clean), *map(bootstrap, shares)))
    headings = (
        "cases",
        "style",
        "earlier facts known",
        "answer in the block",
        "a fact ended",
        "ended or possibly outdated",
        "answer, and nothing former as current",
    )
    print_table("what a later turn does to earlier ones", headings, rows)
    for one in outcomes:
        wrong = bool(one.ended) != (one.case.group == "changes") or not one.answered
        if failures and wrong:
            print(f"{' | '.join(one.case.earlier)} || {one.case.new}")
            print(
                f"    {one.case.question} {'answered' if one.answered else 'not answered'};"
                f" ended: {', '.join(one.ended) or 'nothing'};"
                f" possibly outdated: {', '.join(one.doubted) or 'nothing'}"
            )
    print_json(outcomes, as_json)


async def _measured(folder: Path, limit: int | None) -> list[Outcome]:
    encoder, language = await asyncio.to_thread(lambda: (OnnxEncoder.load(), load_language()))
    chosen = some(cases(folder), limit)
    return [await run(case, encoder, language) for case in tracked(chosen, "running")]
