"""What is said plainly is kept, with its words, codes and dates; what states nothing is not."""

from datetime import UTC, datetime
from pathlib import Path

from hotmem import Memory, Turn
from hotmem.models.encoders import OnnxEncoder
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

WEDNESDAY = datetime(2026, 11, 18, 15, tzinfo=UTC)
MONDAY = datetime(2026, 11, 23, 10, tzinfo=UTC)


async def kept(memory: Memory, said: str, at: datetime = WEDNESDAY) -> list[str]:
    """The memories of a user who said this alone."""
    await memory.remember(Turn(said, "s", "user", said, at, "Ana"))
    await memory.settle()
    return [one.text for one in await memory.memories(said)]


@scored(("said", "words"), CASES["stated"], floor=0.8)
async def test_what_is_stated_is_kept(memory: Memory, said: str, words: list[str]) -> None:
    found = " ".join(await kept(memory, said)).casefold()
    assert all(word.casefold() in found for word in words)


async def test_another_encoder_tells_nothing_of_a_life(database: Path) -> None:
    for name, relation in (("turns-1-int8", "lives-in"), ("somebodys-own", "states")):
        encoder = OnnxEncoder.load()
        encoder.name = name
        async with Memory.open(database.with_name(f"{name}.db"), encoder=encoder) as memory:
            await kept(memory, "My sister Sarah lives in Boston.")
            (home,) = [
                one
                for one in await memory.memories("My sister Sarah lives in Boston.")
                if "Boston" in one.text
            ]
            assert home.relation == relation


async def test_what_a_turn_repeats_is_kept_once(memory: Memory) -> None:
    found = await kept(memory, "My dog is called Rex and I work as a nurse so anyway " * 9)
    assert len(found) == len(set(found))


@scored(("said", "right", "wrong"), CASES["repairs"], floor=0.9)
async def test_what_the_speaker_put_right_is_kept(
    memory: Memory, said: str, right: str, wrong: str
) -> None:
    found = " ".join(await kept(memory, said))
    assert right in found and wrong not in found


@scored(("known", "said", "over"), CASES["denied"], floor=1.0)
async def test_what_is_denied_in_its_own_words_ends(
    memory: Memory, known: str, said: str, over: bool
) -> None:
    for at, text in ((WEDNESDAY, known), (MONDAY, said)):
        await memory.remember(Turn(f"{known} {said}", f"{at}", "user", text, at, "Ana"))
        await memory.settle()
    (first, *_) = sorted(
        await memory.memories(f"{known} {said}", past=True), key=lambda one: one.said_at
    )
    assert (first.valid_until is not None) is over


@scored("said", CASES["nothing"], floor=0.85)
async def test_what_states_nothing_is_not_kept(memory: Memory, said: str) -> None:
    assert await kept(memory, said) == []


@scored(("said", "code"), CASES["codes"], floor=0.85)
async def test_codes_are_kept_word_for_word(memory: Memory, said: str, code: str) -> None:
    (fact,) = await kept(memory, said)
    assert fact.endswith(f" {code}.")


@scored(("said", "date"), CASES["dates"], floor=0.85)
async def test_dates_are_those_of_the_event(memory: Memory, said: str, date: str) -> None:
    found = await kept(memory, said, MONDAY)
    assert any(date in text for text in found)
