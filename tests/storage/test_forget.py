"""What is forgotten is gone.

From every answer, and from every byte of the file and its journal, once `forget` returns.
"""

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import Memory, Options
from hotmem.models import Language
from hotmem.options import BackgroundOptions
from hotmem.readings import store_understanding
from hotmem.storage import open_storage, queries, steps
from hotmem.storage.queries.index_entries import to_bits
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search.vectors import to_bytes
from hotmem.tools.editing import EditArguments, edit_memory
from hotmem.types import DecisionAction, ForgetResult, Role, SessionSummary, SummarySentence
from hotmem.types.maintenance import ForgetEntity, ForgetEverything, ForgetSession
from hotmem.understanding.facts import extract_from_parse
from tests.conversation import (
    START,
    decisions,
    remember,
    said,
    store_turns,
    turns_told,
    undo,
    user_of,
)
from tests.letters import DIMENSION, NO_SIGNS, LetterEncoder
from tests.storage.test_erasure import whole
from tests.tables import tables
from tests.thoroughness import examples

CASES = tables(__file__)

SERVED = UserRotation()
ENCODER = queries.reembedding.identified(LetterEncoder.name, LetterEncoder.dimension)

SECRET = "Xylomander"
STEM = b"xyloman"
"""What a stemmed index would keep of it."""

TELLING = CASES["telling"]
HARMLESS = CASES["harmless"]

DAY = 24 * 60


async def by_entity(memory: Memory) -> None:
    await memory.forget(user_id="ana", entity=SECRET.swapcase())


async def by_session(memory: Memory) -> None:
    await memory.forget(user_id="ana", session_id="secret")


async def by_time(memory: Memory) -> None:
    await memory.forget(
        user_id="ana", after=START + timedelta(days=100), before=START + timedelta(days=200)
    )


async def by_turns(memory: Memory) -> None:
    records = [json.loads(line) async for line in memory.export("ana")]
    going = [
        one["id"]
        for one in records
        if one["type"] == "turn" and SECRET.casefold() in one["text"].casefold()
    ]
    await memory.forget(user_id="ana", turn_ids=going)


async def by_user(memory: Memory) -> None:
    await memory.forget(user_id="ana", everything=True)


async def by_memory(memory: Memory) -> None:
    while told := [
        known
        for known in await memory.memories("ana", past=True)
        if SECRET.casefold() in known.text.casefold()
    ]:
        removed = await memory.forget(user_id="ana", memory_id=told[0].id)
        assert removed.memories >= 1


Sentence = tuple[int, bool, str]

sentences = st.lists(
    st.tuples(
        st.integers(0, 4), st.booleans(), st.sampled_from([SECRET, SECRET.upper(), SECRET.lower()])
    ),
    min_size=1,
    max_size=8,
)


async def told(memory: Memory, lines: list[Sentence], telling: tuple[str, ...]) -> None:
    """Ana tells secrets and harmless things, asks and is answered; Ben tells harmless things."""
    for number, (which, secret, word) in enumerate([*lines, (0, True, SECRET)]):
        text = (
            telling[which % len(telling)].replace("{}", word)
            if secret
            else HARMLESS[which % len(HARMLESS)]
        )
        session, minutes = ("secret", 150 * DAY) if secret else (f"harmless {which}", which * DAY)
        await memory.remember(
            said(text, session=session, minutes=minutes + number, name=f"t{number}")
        )
        await memory.end_session(user_id="ana", session_id=session)
    await remember(memory, said("I live in Utrecht.", user="ben"))
    asked = START + timedelta(days=151)
    block = await memory.recall(
        f"What do you know of {SECRET}?", user_id="ana", session_id="secret", at=asked
    )
    usage = await memory.feedback(block, reply=" ".join(item.text for item in block.items))
    assert usage.used


@pytest.mark.parametrize("forget", [by_entity, by_session, by_time, by_turns, by_user, by_memory])
def test_no_byte_is_left_of_what_is_forgotten(
    forget: Callable[[Memory], object], language: Language
) -> None:
    telling = TELLING[:1] if forget is by_memory else TELLING

    @settings(max_examples=examples(16))
    @given(sentences)
    def whatever_is_told(lines: list[Sentence]) -> None:
        async def run(path: Path) -> None:
            async with Memory.open(path, encoder=LetterEncoder(), language=language) as memory:
                await told(memory, lines, telling)
                await forget(memory)  # type: ignore[misc]
                assert STEM not in await asyncio.to_thread(whole, path)
                seen = [known.text for known in await memory.memories("ana", past=True)]
                seen += [line async for line in memory.export("ana")]
                seen.append(
                    (await memory.recall("What do you know of the dog?", user_id="ana")).text
                )
                assert SECRET.casefold() not in " ".join(seen).casefold()
                await memory.settle()
                assert "Utrecht" in (await memory.recall("Where do I live?", user_id="ben")).text

        with TemporaryDirectory() as folder:
            path = Path(folder, "memory.db")
            asyncio.run(run(path))
            assert STEM not in whole(path)
            assert b"utrecht" in whole(path)

    whatever_is_told()


async def test_the_bytes_are_there_before(database: Path, language: Language) -> None:
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        await told(memory, [(4, True, SECRET)], TELLING)
    assert (await asyncio.to_thread(whole, database)).count(STEM) > 10


async def test_no_vector_and_no_sign_of_a_word_piece_is_left_either(database: Path) -> None:
    storage = open_storage(database)
    encoder = LetterEncoder()
    await steps.adopt_encoder(storage.database, encoder.name, encoder.dimension)
    texts = [f"{SECRET} sleeps under the stairs of the old lighthouse.", "I like walnuts."]
    for number, text in enumerate(texts):
        await store_turns(storage.database, said(text, session=str(number)))
    waiting = await storage.database.read_all(queries.embedding.waiting, ENCODER, 10, SERVED)
    rows = encoder.encode([text for _, _, text in waiting])
    signs = [
        np.packbits(np.random.default_rng(number).normal(size=(9, DIMENSION)) > 0, axis=1)
        for number in range(2)
    ]
    await storage.database.write_all(queries.embedding.put, ENCODER, waiting, list(rows), signs)
    user = await user_of(storage.database)
    await storage.forgetting.forget(user, ForgetSession("0"))
    await storage.database.close()
    content = await asyncio.to_thread(database.read_bytes)
    assert (
        to_bytes(rows[1]) in content
        and to_bits(rows[1]) in content
        and signs[1].tobytes() in content
    )
    assert (
        to_bytes(rows[0]) not in content
        and to_bits(rows[0]) not in content
        and signs[0].tobytes() not in content
    )


async def test_other_users_names_and_sessions_stay(lettered: Memory) -> None:
    await told(lettered, [(1, False, SECRET), (2, True, SECRET)], TELLING)
    before = len(await turns_told(lettered))
    removed = await lettered.forget(user_id="ana", entity=SECRET)
    assert removed.turns == 2 and removed.memories >= 1 and removed.sessions == 1
    assert len(await turns_told(lettered)) == before - 2
    assert not [line async for line in lettered.export("ana") if '"type": "question"' in line]
    assert [known.text for known in await lettered.memories("ana", past=True)] == [
        "Ana lives in Braga."
    ]
    assert [known.text for known in await lettered.memories("ana")] == ["Ana lives in Braga."], (
        "as if what had replaced it had never been said"
    )
    again = await lettered.forget(user_id="ana", entity=SECRET)
    assert (again.turns, again.memories, again.sessions) == (0, 0, 0)


async def test_an_entity_is_a_whole_word(lettered: Memory) -> None:
    for text in (
        "I met Ann at the ferry.",
        "I met Anna at the ferry.",
        "ANN'S car broke down.",
        "We like Ann-Marie.",
    ):
        await lettered.remember(said(text))
    assert (await lettered.forget(user_id="ana", entity="ann")).turns == 3
    await lettered.settle()
    assert await turns_told(lettered) == ["I met Anna at the ferry."]
    reports = (await lettered.recall("Whom did I meet at the ferry?", user_id="ana")).trace.layers
    assert any(report.hits for report in reports), "it is found"


async def test_a_correction_goes_with_the_words_it_corrected(
    database: Path, language: Language
) -> None:
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        await remember(
            memory,
            said(f"My sister {SECRET} lives in Porto.", session="secret"),
            said("No, I said Braga, not Porto.", session="later", minutes=DAY),
            said("No, I said Malmo, not Braga.", session="later", minutes=DAY + 1),
        )
        assert f"Ana's sister {SECRET} lives in Malmo." in [
            known.text for known in await memory.memories("ana")
        ]
        assert (await memory.forget(user_id="ana", session_id="secret")).memories >= 3
        assert await memory.memories("ana", past=True) == []
        assert len(await turns_told(memory)) == 2
    assert STEM not in await asyncio.to_thread(whole, database)


async def test_what_a_turn_told_besides_stays_known(lettered: Memory) -> None:
    await remember(lettered, "My dog is called Potola. I live in Braga.")
    dog = next(known for known in await lettered.memories("ana") if "Potola" in known.text)
    removed = await lettered.forget(user_id="ana", memory_id=dog.id)
    assert (removed.turns, removed.memories) == (1, 1)
    assert [known.text for known in await lettered.memories("ana")] == ["Ana lives in Braga."]
    assert (await lettered.forget(user_id="ana", memory_id=dog.id)).memories == 0


@pytest.mark.parametrize(
    "what",
    [
        {"entity": SECRET},
        {"session_id": "secret"},
        {"after": START + timedelta(days=100)},
        {"turn_ids": ["t1", "t2"]},
        {"everything": True},
    ],
)
async def test_a_dry_run_counts_what_goes_and_changes_nothing(
    what: dict[str, Any], lettered: Memory
) -> None:
    await told(lettered, [(0, False, SECRET), (1, True, SECRET), (0, True, SECRET)], TELLING)
    before = [line async for line in lettered.export("ana")]
    counted = await lettered.forget(user_id="ana", dry_run=True, **what)
    assert [line async for line in lettered.export("ana")] == before
    assert not lettered.runtime.suppression.withholds(
        f"You told me about {SECRET} and the dog.", user_id="ana"
    )
    assert (await lettered.recall("Who lives in Porto?", user_id="ana")).items
    assert counted.turns and await lettered.forget(user_id="ana", **what) == counted
    assert await lettered.forget(user_id="nobody", dry_run=True, **what) == ForgetResult(0, 0, 0)


async def test_a_summary_is_made_anew_without_what_was_forgotten(lettered: Memory) -> None:
    await remember(
        lettered,
        f"We decided to visit {SECRET} in spring because of the flowers.",
        said("We decided to paint the kitchen yellow because of the light.", minutes=1),
        end="monday",
    )
    assert SECRET in repr(await lettered.lookup.summary(user_id="ana", session_id="monday"))
    await lettered.forget(user_id="ana", entity=SECRET)
    assert await lettered.lookup.summary(user_id="ana", session_id="monday") is None
    await lettered.settle()
    anew = repr(await lettered.lookup.summary(user_id="ana", session_id="monday"))
    assert "yellow" in anew and SECRET not in anew


async def test_forgetting_in_the_midst_of_the_work(database: Path, language: Language) -> None:
    async with Memory.open(
        database,
        Options(background=BackgroundOptions(batch=2)),
        encoder=LetterEncoder(),
        language=language,
    ) as memory:
        for number in range(60):
            await memory.remember(
                said(f"Number {number}: my dog is called {SECRET}.", session="secret")
            )
            if number % 10 == 9:
                await memory.end_session(user_id="ana", session_id="secret")
                await memory.forget(user_id="ana", everything=True)
                await memory.remember(said("I live in Utrecht.", user="ben", session=f"s{number}"))
        await memory.settle()
        assert [known.text for known in await memory.memories("ben", past=True)] == [
            "Ana lives in Utrecht."
        ]
    assert STEM not in await asyncio.to_thread(whole, database)


async def test_work_begun_for_a_forgotten_row_ends_nowhere(
    database: Path, language: Language
) -> None:
    """Each job's turn is forgotten, and another user's comes, before its result is written."""
    storage = open_storage(database)
    encoder = LetterEncoder()
    await steps.adopt_encoder(storage.database, encoder.name, encoder.dimension)
    await store_turns(storage.database, said(f"My dog is called {SECRET}.", session="secret"))
    user = await user_of(storage.database)
    ((kind, passage, text),) = await storage.database.read_all(
        queries.embedding.waiting, ENCODER, 5, SERVED
    )
    ((key, turn),) = await storage.database.read_all(queries.turns.waiting, SERVED, 5)
    understanding = extract_from_parse(
        language.parse([turn.text])[0], turn.speaker, Role(turn.role), turn.spoken_at
    )
    assert understanding.statements
    rows = list(encoder.encode([text]))
    embedding = (ENCODER, [(kind, passage, text)], rows, [NO_SIGNS])
    await storage.database.write_all(queries.embedding.put, *embedding)
    await storage.database.write(queries.sessions.end, user, "secret")
    session = await steps.session_due(storage.database, SERVED, START, 0)
    assert session is not None
    seen = await storage.database.read(queries.sessions.unsummarised, user, session.key)
    assert seen is not None
    summary = SessionSummary(("dogs",), (SummarySentence(turn.text, turn.id),))

    await storage.forgetting.forget(user, ForgetEverything())
    await store_turns(storage.database, said("I live in Utrecht.", user="ben"))
    await storage.database.write_all(queries.embedding.put, *embedding)
    await storage.database.write_all(store_understanding, key, understanding)
    await storage.database.write(queries.sessions.put, user, seen, summary, {}, turn.text)

    ben = await user_of(storage.database, "ben")
    assert await storage.database.read(queries.memories.of_user, ben, START, past=True) == []
    assert await storage.database.read(queries.sessions.of_session, ben, "monday") is None
    assert [
        text
        for _, _, text in await storage.database.read_all(
            queries.embedding.waiting, ENCODER, 5, SERVED
        )
    ] == ["Ana: I live in Utrecht."]
    assert [
        turn.text for _, turn in await storage.database.read_all(queries.turns.waiting, SERVED, 5)
    ] == ["I live in Utrecht."]
    await storage.database.close()
    assert STEM not in await asyncio.to_thread(whole, database)


async def test_a_summary_of_other_turns_than_the_sessions_is_dropped(database: Path) -> None:
    storage = open_storage(database)
    encoder = LetterEncoder()
    await steps.adopt_encoder(storage.database, encoder.name, encoder.dimension)
    await store_turns(storage.database, said(f"My dog is called {SECRET}.", name="one"))
    await store_turns(storage.database, said("I like walnuts.", name="two"))
    user = await user_of(storage.database)
    await storage.database.write(queries.sessions.end, user, "monday")
    waiting = await storage.database.read_all(queries.embedding.waiting, ENCODER, 5, SERVED)
    rows = list(encoder.encode([text for _, _, text in waiting]))
    await storage.database.write_all(queries.embedding.put, ENCODER, waiting, rows, [NO_SIGNS] * 2)
    session = await steps.session_due(storage.database, SERVED, START, 0)
    assert session is not None
    seen = await storage.database.read(queries.sessions.unsummarised, user, session.key)
    assert seen is not None
    await storage.forgetting.forget(user, ForgetEntity(SECRET))
    await store_turns(storage.database, said("I like the ferry.", name="three"))
    text = seen.turns[0].text
    summary = SessionSummary(("dogs",), (SummarySentence(text, "one"),))
    await storage.database.write(queries.sessions.put, user, seen, summary, {}, text)
    assert await storage.database.read(queries.sessions.of_session, user, "monday") is None
    await storage.database.close()
    assert STEM not in await asyncio.to_thread(whole, database)


async def test_what_others_were_given_of_turns_with_the_same_ids_stays(lettered: Memory) -> None:
    for user, town in (("ana", "Porto"), ("ben", "Utrecht")):
        await remember(lettered, said(f"I live in {town}.", user=user, name="t1"))
        block = await lettered.recall(
            "Where do I live?", user_id=user, at=START + timedelta(days=1)
        )
        assert (await lettered.feedback(block, reply=f"You live in {town}.")).used
    await lettered.forget(user_id="ana", session_id="monday")
    assert not [line async for line in lettered.export("ana") if '"type": "question"' in line]
    assert [line async for line in lettered.export("ben") if '"type": "question"' in line]


async def test_words_that_were_taken_back_leave_no_tag(database: Path, language: Language) -> None:
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        await remember(
            memory,
            said(f"I bought a red {SECRET} last week.", session="secret"),
            said("Just kidding!", session="secret", minutes=1),
        )
        assert await memory.memories("ana", past=True) == []
        await memory.forget(user_id="ana", session_id="secret")
    assert STEM not in await asyncio.to_thread(whole, database)


async def test_an_edit_taken_back_leaves_no_word_of_its_own(
    database: Path, language: Language
) -> None:
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        kept = await memory.store_memory("The boiler's number is 44.", user_id="ana")
        edited = await edit_memory(
            memory, "ana", EditArguments(id=kept.id, content="The boiler's number is 45.")
        )
        await edit_memory(
            memory, "ana", EditArguments(id=edited.id, tags=(SECRET,), reason=f"{SECRET} told me")
        )
        (done,) = await decisions(memory, DecisionAction.EDITED)
        await undo(memory, done.id)
        told = await decisions(memory)
        assert {one.action for one in told if one.memory_ids == (kept.id,)} == {
            "filed",
            "edited",
            "refiled",
            "undone",
        }
        await memory.forget(user_id="ana", memory_id=kept.id)
        assert not await decisions(memory)
    assert STEM not in await asyncio.to_thread(whole, database)
