"""`python -m eval dialogues`: expand the questions of voice dialogues written without the code.

An expanded question is right if it holds every phrase that it must have and none that it must not.
A phrase may have alternatives, separated by "|". Half of the dialogues (`dev`) may be looked at.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from eval.arguments import AsJson, Misses, Most
from eval.files import json_records
from eval.output import print_json, print_table, tracked
from eval.statistics import bootstrap
from hotmem.models import Language, load_language
from hotmem.types.understanding import Doc
from hotmem.understanding.query.ambiguity import find_ambiguous
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import expand
from hotmem.understanding.query.cues import is_chitchat

FILE: Final = Path(__file__).parents[1] / "data/trial/dialogues.jsonl"


@dataclass(frozen=True, slots=True)
class Query:
    """A question within its dialogue.

    Attributes:
        text: As it was said.
        rewritten: As a person wrote it to stand alone; the same where nothing was unclear.
        before: The turns before it, oldest first.
        said_by_user: Whether the user said each of them.
    """

    text: str
    rewritten: str
    before: tuple[str, ...]
    said_by_user: tuple[bool, ...]

    def parsed(self, language: Language) -> tuple[Doc, list[RecentTurn]]:
        """Parse the question and the turns before it."""
        turns = zip(language.parse(self.before), self.said_by_user, strict=True)
        doc = language.parse([self.text], names=False)[0]
        return doc, [RecentTurn(turn, by_user) for turn, by_user in turns]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its judgement.

    Attributes:
        id: Its identifier.
        half: `dev` or `held`.
        ambiguous: Whether it needs the dialogue to be understood.
        query: The question.
        pointing: Its words that were found to point elsewhere.
        expansion: What was added to it.
        right: Whether the expanded question is right.
    """

    id: str
    half: str
    ambiguous: bool
    query: Query
    pointing: tuple[str, ...]
    expansion: tuple[str, ...]
    right: bool


def judged(row: dict[str, Any], language: Language) -> Judged:
    """Expand and judge a question."""
    query = Query(
        row["question"],
        row["standalone"],
        tuple(turn["text"] for turn in row["turns"]),
        tuple(turn["role"] == "user" for turn in row["turns"]),
    )
    doc, before = query.parsed(language)
    pointing = () if is_chitchat(doc) else find_ambiguous(doc)
    expansion = () if is_chitchat(doc) else expand(doc, pointing, before)
    text = " ".join((query.text, *expansion))
    right = all(_has(text, phrase) for phrase in row["must_have"]) and not any(
        _has(text, phrase) for phrase in row["must_not"]
    )
    return Judged(row["id"], row["half"], row["ambiguous"], query, pointing, expansion, right)


def _has(text: str, phrase: str) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(one)}", text, re.IGNORECASE) for one in phrase.split("|")
    )


def dialogues(
    misses: Misses = False,
    held: Annotated[bool, typer.Option(help="Measure the held-out half too.")] = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Expand ambiguous and clear questions of voice dialogues by an independent writer."""
    language = load_language()
    rows = [judged(row, language) for row in tracked(json_records(FILE)[:limit], "expanding")]
    result: dict[str, dict[str, object]] = {}
    for half in ("dev", "held") if held else ("dev",):
        own = [row for row in rows if row.half == half]
        parts = {
            "ambiguous": [row for row in own if row.ambiguous],
            "clear": [row for row in own if not row.ambiguous],
            "all": own,
        }
        for name, part in parts.items():
            if part:
                right = bootstrap([float(row.right) for row in part])
                result[f"{half}, {name}"] = {"of": len(part), "right": right}
    table = [(name, *one.values()) for name, one in result.items()]
    print_table("voice dialogues", ("questions", "of", "right"), table)
    for row in rows:
        if misses and row.half == "dev" and not row.right:
            print(
                f"{row.id} {row.query.text} {row.pointing} -> {row.expansion}, "
                f"not {row.query.rewritten}"
            )
    print_json(result, as_json)
