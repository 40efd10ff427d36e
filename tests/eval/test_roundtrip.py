"""The round trip: what two blocks differ in by example, and a tiny conversation there and back."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from eval.cache import DiskCache, DiskCachedEncoder, DiskCachedLanguage
from eval.datasets.base import Conversation, Question, Session
from eval.run import Models
from eval.tools.roundtrip import differing, measure, spread
from hotmem import ContextBlock, Memory
from hotmem.models import CachedEncoder, Language, TokenCounter
from tests.conversation import START, remember, said


def question(number: int, text: str = "What is my dog called?") -> Question:
    return Question(str(number), text, START + timedelta(days=9), (), "", "own")


async def block(memory: Memory) -> ContextBlock:
    await remember(memory, "My dog is called Potola.")
    return await memory.recall("What is my dog called?", user_id="ana")


async def test_every_difference_is_told(memory: Memory) -> None:
    one = await block(memory)
    assert differing(one, replace(one, id="other")) == ()
    assert differing(one, replace(one, text="other")) == ("text",)
    assert differing(one, replace(one, items=())) == ("items",)
    assert differing(one, replace(one, items=(replace(one.items[0], relevance=0.0),))) == (
        "relevance",
    )


def test_questions_are_taken_at_even_distances() -> None:
    asked = [question(number) for number in range(10)]
    assert [one.id for one in spread(asked, 3)] == ["0", "3", "6"]
    assert spread(asked, 20) == asked and spread([], 3) == []


async def test_a_conversation_there_and_back(
    tmp_path: Path, encoder: CachedEncoder, language: Language, tokens: TokenCounter
) -> None:
    cache = DiskCache(tmp_path / "cache.db")
    models = Models(
        encoder,
        language,
        DiskCachedEncoder(encoder, cache),
        DiskCachedLanguage(language, cache),
        tokens,
        DiskCachedEncoder(encoder, cache),
    )
    turns = (
        said("My dog is called Potola.", name="a"),
        said("No, I said Bella, not Potola.", minutes=1, name="b"),
    )
    conversation = Conversation(
        "ana", (Session("monday", turns),), (question(0), question(1, "What did I say of Potola?"))
    )
    trip = await measure([conversation], 2, models)
    assert (trip.questions, trip.same, trip.differences) == (2, 2, ())
    assert trip.lines["turn"] == 2 and trip.lines["end"] == 1
