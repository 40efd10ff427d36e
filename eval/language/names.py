"""Misheard names and look-alikes: which known name is found in what people ask and tell.

`names.tsv` has one utterance a line. The user's known names are stored first; then the utterance is
asked, and told. The rules were written with the lines of odd number in view; those of even number
are unseen. A second table is about false alarms, see `eval.language.false_alarms`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson, Most
from eval.files import some, tsv_rows
from eval.language import false_alarms
from eval.memories import temporary_memory
from eval.output import print_json, print_table, style, tracked
from eval.statistics import bootstrap
from hotmem import Role, Turn
from hotmem.models import Encoder, Language, load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.text.names import name_finder
from hotmem.types import UserKey

CASES: Final = Path(__file__).parents[1] / "data" / "understanding" / "unseen" / "names.tsv"

NOW: Final = datetime(2026, 11, 24, 10, tzinfo=UTC)
DEADLINE_MS: Final = 3000.0
USER: Final = "ana"


@dataclass(frozen=True, slots=True)
class NameCase:
    """An utterance with a misheard name, or one that only sounds so.

    Attributes:
        number: The line, from 0.
        clean: Whether it is as written, not as a recogniser gives it.
        known: The user's known names.
        text: The utterance.
        meant: The known name that is meant; "" if none is.
    """

    number: int
    clean: bool
    known: tuple[str, ...]
    text: str
    meant: str

    @property
    def seen(self) -> bool:
        """Whether the rules were written with it in view."""
        return self.number % 2 == 0


@dataclass(frozen=True, slots=True)
class Resolved:
    """The known names found in an utterance.

    Attributes:
        case: The case.
        asked: Those that the analysis of it as a query names.
        told: Those that it is stored with as a turn.
    """

    case: NameCase
    asked: tuple[str, ...]
    told: tuple[str, ...]

    def is_right(self, found: Sequence[str]) -> bool:
        """Whether the name meant is found, and no other unless the utterance has it literally."""
        others = {name for name in found if not name_finder(name)(self.case.text)}
        if not self.case.meant:
            return not found
        return self.case.meant in found and others <= {self.case.meant}


def cases() -> list[NameCase]:
    """Return all cases; a name that is not known counts as none."""
    return [
        NameCase(
            number,
            style == "clean",
            known := tuple(names.split(", ")),
            text,
            meant if meant in known else "",
        )
        for number, (style, _, names, _, text, meant) in enumerate(tsv_rows(CASES))
    ]


async def resolve(case: NameCase, encoder: Encoder, language: Language) -> Resolved:
    """Ask and tell an utterance to a memory that knows the names."""
    async with temporary_memory(encoder=encoder, language=language) as memory:
        database = memory.runtime.database
        user = await database.write_all(_know, case.known)
        block = await memory.recall(
            case.text, user_id=USER, session_id="asked", at=NOW, deadline_ms=DEADLINE_MS
        )
        await memory.remember(Turn(USER, "told", Role.USER, case.text, NOW - timedelta(hours=1)))
        await memory.settle()
        told = await database.read(_mentioned, user)
    analysis = block.trace.analysis
    asked = () if analysis is None else analysis.entities
    folded = {name.casefold() for name in asked}
    return Resolved(
        case,
        tuple(name for name in case.known if name.casefold() in folded),
        tuple(name for name in case.known if name in told),
    )


def _know(conn: Connection, names: Sequence[str]) -> UserKey:
    user = queries.users.ensure(conn, USER)
    queries.users.ensure_entities(conn, user, names)
    return user


def _mentioned(conn: Connection, user: UserKey) -> set[str]:
    rows = conn.execute(
        """SELECT e.name FROM entities e JOIN turn_entities x ON x.entity = e.id
            WHERE e.user_key = ?""",
        (user,),
    )
    return {name for (name,) in rows}


def names(
    turns: Annotated[
        int, typer.Option(min=0, help="Number of turns in which false alarms are counted.")
    ] = 2000,
    others: Annotated[
        int, typer.Option(min=0, help="Number of further names that the user of a case knows.")
    ] = 0,
    failures: Annotated[
        bool, typer.Option(help="Print the unseen cases that fail, and the false alarms.")
    ] = False,
    seen: Annotated[bool, typer.Option(help="Print the seen cases that fail.")] = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Ask and tell utterances with misheard names: which known names are found."""
    outcomes = asyncio.run(_measured(limit, others))
    rows = []
    for meant in (True, False):
        for clean in (True, False):
            own = [o for o in outcomes if (bool(o.case.meant), o.case.clean) == (meant, clean)]
            for told in (False, True):
                before, unseen = (
                    [
                        one.is_right(one.told if told else one.asked)
                        for one in own
                        if one.case.seen is half
                    ]
                    for half in (True, False)
                )
                kind = "a name known" if meant else "look-alikes"
                read = "a turn" if told else "a query"
                share = bootstrap(unseen) if unseen else None
                right = f"{sum(before)} of {len(before)}"
                rows.append((kind, style(clean=clean), read, right, share))
    print_table("names", ("utterances", "style", "as", "right, seen", "right, unseen"), rows)
    for one in outcomes:
        wrong = not (one.is_right(one.asked) and one.is_right(one.told))
        if wrong and (seen if one.case.seen else failures):
            found = f"asked {', '.join(one.asked)}; told {', '.join(one.told)}"
            print(f"{one.case.text} -> {found}; not {one.case.meant}")
    texts = false_alarms.training_turns(turns if limit is None else min(turns, limit))
    alarms = false_alarms.false_alarms(texts, load_language())
    false_alarms.show(texts, alarms)
    for alarm in alarms if failures else ():
        print(alarm)
    print_json([*outcomes, *alarms], as_json)


async def _measured(limit: int | None, others: int) -> list[Resolved]:
    further = [one.name for one in false_alarms.known_names()][:: 450 // max(1, others)]
    chosen = [
        replace(case, known=tuple(dict.fromkeys((*case.known, *further[:others]))))
        for case in some(cases(), limit)
    ]
    encoder, language = OnnxEncoder.load(), load_language()
    return [await resolve(case, encoder, language) for case in tracked(chosen, "names")]
