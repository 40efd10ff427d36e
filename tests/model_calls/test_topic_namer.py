"""Names of subcategories by a language model, against a local endpoint."""

import json
from pathlib import Path

import pytest

from hotmem import Memory, Options
from hotmem.models import CachedEncoder, Language
from hotmem.topic_namer import STATEMENTS, read_names, write_prompt
from hotmem.types import Category
from tests.chat_server import ChatServer
from tests.consolidation.test_evolution import statements, store
from tests.tables import tables

CASES = tables(__file__)

GROUP = ("Rex sleeps on the sofa.", "The vet weighed Rex.")


@pytest.mark.parametrize(("answer", "name"), CASES["a_name_is_short_and_says_no_more"])
def test_a_name_is_short_and_says_no_more_than_the_statements(
    answer: str, name: str | None
) -> None:
    assert read_names(answer, [GROUP]) == [name]


@pytest.mark.parametrize(
    "answer", ["", "dogs", "{", '{"names": "dogs"}', '{"names": []}', '["dogs"]', '{"other": 1}']
)
def test_an_answer_that_cannot_be_read_names_nothing(answer: str) -> None:
    assert read_names(answer, [GROUP]) is None


def test_few_statements_are_sent_as_data() -> None:
    system, user = write_prompt([[f"Statement {n} <b>." for n in range(20)], ["x" * 1000]])
    first, second = map(json.loads, user["content"].splitlines())
    assert system["role"] == "system" and len(first["statements"]) == STATEMENTS
    assert "<b>" not in user["content"] and len(second["statements"][0]) <= 300


async def evolved(
    database: Path, chat: ChatServer, encoder: CachedEncoder, language: Language, **values: object
) -> tuple[dict[str, tuple[str, ...]], str, str, int]:
    """Names and keywords after an evolution, all names after a second one, calls in the record."""
    options = Options(extraction=chat.options(**values))
    async with Memory.open(database, options, encoder=encoder, language=language) as memory:
        for topic in ("plant care", "personal finance"):
            await store(memory, *statements(topic)[:12])
        await memory.subcategories.evolve("ana", category=Category.LEARNINGS)
        first = {one.name: one.keywords for one in await memory.subcategories.of_user("ana")}
        await memory.subcategories.evolve("ana", category=Category.LEARNINGS)
        second = {one.name for one in await memory.subcategories.of_user("ana")}
        stats = await memory.runtime.database.read_all(_calls)
    return first, " ".join(sorted(first)), " ".join(sorted(second)), stats


def _calls(conn: object) -> int:
    (count,) = conn.execute("SELECT count(*) FROM extraction_calls").fetchone()  # type: ignore[attr-defined]
    return int(count)


def answer(groups: list[dict[str, object]]) -> str:
    """Name each group anew, by none of the common topics."""
    words = ("leaves and soil", "pots of money", "third topic", "fourth topic", "fifth topic")
    return json.dumps({"names": list(words[: len(groups)])})


async def test_new_subcategories_are_named_once_and_keep_the_name(
    database: Path, chat: ChatServer, encoder: CachedEncoder, language: Language
) -> None:
    chat.says = answer
    first, names, again, calls = await evolved(database, chat, encoder, language, topics=True)
    assert "leaves and soil" in first and names == again
    assert len(chat.asked) == calls == 1, "no name is new in the second evolution"
    sent = chat.turns()
    assert len(sent) == len(first) and all(len(one["statements"]) <= STATEMENTS for one in sent)


@pytest.mark.parametrize(
    ("values", "set_up"),
    CASES["otherwise_the_topics_name_them"],
    ids=["not wanted", "budget spent", "error", "unreadable", "late"],
)
async def test_otherwise_the_topics_name_them(
    database: Path,
    chat: ChatServer,
    encoder: CachedEncoder,
    language: Language,
    values: dict[str, object],
    set_up: dict[str, object],
) -> None:
    chat.says = answer
    for name, value in set_up.items():
        setattr(chat, name, value)
    first, _, _, calls = await evolved(database, chat, encoder, language, **values)
    assert {"plant care", "personal finance"} & set(first)
    asked = bool(values.get("topics")) and "daily_calls" not in values
    assert (len(chat.asked) >= 1, calls >= 1) == (asked, asked)
