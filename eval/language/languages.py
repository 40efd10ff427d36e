"""Statements and questions in other languages than English.

Are the statements found by their words, does the memory invent English facts from them, and are
texts told from English ones? The statements and questions (`eval/data/languages`) were written
before the code; each question shares words with its answer, mostly in another form.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from eval.arguments import AsJson
from eval.datasets.selection import load_datasets
from eval.files import tsv_rows
from eval.memories import temporary_memory
from eval.output import print_figures, print_json, print_table, tracked
from hotmem import Memory, Options, Role, Turn
from hotmem.models import Encoder, Language, load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.retrieval.context import RecallRequest
from hotmem.retrieval.layers.verbatim import Verbatim
from hotmem.retrieval.query import build_query
from hotmem.storage import queries
from hotmem.text.language_detection import is_english
from hotmem.text.languages import ENGLISH
from hotmem.types import EvidenceKind

FOLDER: Final = Path(__file__).parents[1] / "data" / "languages"
SHORT: Final = FOLDER / "short.tsv"
"""Short utterances in many languages, English ones with foreign names among them."""

START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
USER: Final = "ana"
T = TypeVar("T")

FIRST: Final = 3
"""Number of results among which the answer is looked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the number of the statement that answers it, from 0."""

    text: str
    answer: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Statements of one language, and questions about them."""

    language: str
    statements: tuple[str, ...]
    questions: tuple[Question, ...]


def load_sample(file: Path) -> Sample:
    """Load the statements and questions of one language."""
    found = json.loads(file.read_text("utf-8"))
    questions = (Question(one["text"], one["answer"]) for one in found["questions"])
    return Sample(found["language"], tuple(found["statements"]), tuple(questions))


def load_short() -> list[tuple[str, str]]:
    """Load the short utterances: language and text."""
    return [(code, text) for code, text in tsv_rows(SHORT)[1:]]


def languages(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="DATASET=PATH of English turns, any number, which must be taken for English.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Questions of each language.", min=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Search statements in other languages by their words, and tell texts from English ones."""
    encoder, parser = load_encoder(ModelOptions()), load_language()
    samples = [load_sample(file) for file in sorted(FOLDER.glob("*.json"))]
    search = {
        sample.language: asyncio.run(_measure(sample, encoder, parser, limit))
        for sample in tracked(samples, "languages")
    }
    short = _told_short()
    told = {
        name: _share(
            (turn.text for one in conversations for turn in one.turns),
            lambda text: not is_english(text),
        )
        for name, conversations in load_datasets(data or [], step=1).items()
    }
    for name, found in search.items():
        print_figures(f"{name}, found by words alone", found)
    rows = [(name.replace("_", " "), *share.values()) for name, share in (short | told).items()]
    print_table("telling from English", ("", "wrong", "of"), rows)
    print_json({"search": search, "short": short, "not_english": told}, as_json)


async def _measure(
    sample: Sample, encoder: Encoder, parser: Language, limit: int | None
) -> dict[str, int]:
    """Search by the language's own rules, and by those of English.

    Returns:
        Number of questions; of those whose answer comes first, is among the first three, is so
        with words stemmed as English, and is in the block, found in any way. Memories that the
        statements left, all of them invented, and those in a memory for which English is set.
    """
    questions = sample.questions[:limit]
    ranks, blocks, memories = await _search(sample, questions, sample.language, encoder, parser)
    english, _, invented = await _search(sample, questions, ENGLISH, encoder, parser)
    return {
        "questions": len(questions),
        "first": sum(rank == 0 for rank in ranks),
        "first_three": sum(rank is not None for rank in ranks),
        "as_english": sum(rank is not None for rank in english),
        "in_block": sum(blocks),
        "memories": memories,
        "as_english_memories": invented,
    }


async def _search(
    sample: Sample,
    questions: Sequence[Question],
    language: str,
    encoder: Encoder,
    parser: Language,
) -> tuple[list[int | None], list[bool], int]:
    """Tell the statements to a new memory and ask the questions.

    Returns:
        The rank of each answer in the verbatim layer, from 0, None if it is not among the first;
        whether it is in the block; and the number of memories.
    """
    options = Options(language=language)
    async with temporary_memory(options, encoder=encoder, language=parser) as memory:
        for number, text in enumerate(sample.statements):
            at = START + timedelta(minutes=5 * number)
            await memory.remember(Turn(USER, "one", Role.USER, text, at, id=str(number)))
        await memory.settle()
        ranks = [await _rank(memory, one) for one in questions]
        blocks = []
        for one in questions:
            block = await memory.recall(one.text, user_id=USER, at=START + timedelta(days=1))
            blocks.append(any(str(one.answer) in item.turn_ids for item in block.items))
        return ranks, blocks, len(await memory.memories(USER))


async def _rank(memory: Memory, question: Question) -> int | None:
    """The rank of a question's answer among the first results of the verbatim layer."""
    runtime = memory.runtime
    at = START + timedelta(days=1)
    request = RecallRequest(question.text, USER, None, at, max_tokens=1000, explicit=True)
    query, _ = await build_query(runtime.recall, request)
    hits = await Verbatim(runtime.storage.engine).search(query, None)
    wanted = {EvidenceKind.PASSAGE: [hit.key for hit in hits[:FIRST]]}
    found = await runtime.database.read(queries.evidence.load, query.user, wanted)
    turns = {one.key: one.turn_ids for one in found}
    order = [turns.get(hit.key, ()) for hit in hits[:FIRST]]
    return next((rank for rank, ids in enumerate(order) if str(question.answer) in ids), None)


def _told_short() -> dict[str, dict[str, int]]:
    """How many of the short utterances are told wrongly."""
    english = [text for code, text in load_short() if code == ENGLISH]
    others = [(code, text) for code, text in load_short() if code != ENGLISH]
    return {
        "taken_for_english": _share(others, lambda one: is_english(one[1], one[0])),
        "taken_for_english_by_default": _share(others, lambda one: is_english(one[1])),
        "english_taken_for_another": _share(english, lambda text: not is_english(text)),
    }


def _share(texts: Iterable[T], wrong: Callable[[T], bool]) -> dict[str, int]:
    """How many of some texts are told wrongly."""
    told = [wrong(text) for text in texts]
    return {"wrong": sum(told), "of": len(told)}
