"""The search for known names that sound like words of an utterance."""

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from hotmem.text.names import (
    MAX_GROWTH,
    USUAL_NAMES,
    find_similar_names,
    scaled_limit,
)
from hotmem.text.phonetics import KnownName, encode_sounds, read_heard, read_name, sound_distance
from tests.tables import tables

CASES = tables(__file__)

LIMIT = 0.3
MOST_MS = 15.0
"""Far above what a search among 2,000 names takes."""

SYLLABLES = CASES["syllables"]


def known(*names: str) -> list[KnownName]:
    return [KnownName(name, encode_sounds(name)) for name in names]


def test_the_nearest_name_comes_first() -> None:
    found = find_similar_names({"Jonn": LIMIT}, known("Joan", "Jon", "Jean"))
    assert found[0].name == "Jon"


def test_a_known_name_is_not_replaced() -> None:
    names = known("Paola", "Paula")
    assert find_similar_names({"paula": LIMIT, "paula is": LIMIT}, names) == ()


def test_rows_of_before_the_readings_were_stored_are_found() -> None:
    (found,) = find_similar_names({"patola": LIMIT}, [KnownName("Potola", "PTL")])
    assert found.name == "Potola"


@given(st.floats(0, 1), st.integers(1, 8), st.integers(1, 5000))
def test_limits_shrink_faster_for_short_names(limit: float, sounds: int, names: int) -> None:
    scaled = scaled_limit(limit, "word", sounds, names)
    assert scaled <= limit * MAX_GROWTH
    assert scaled_limit(limit, "word", sounds, names + 1) <= scaled
    assert scaled <= scaled_limit(limit, "two words", sounds, names)
    if names >= USUAL_NAMES:
        assert scaled <= scaled_limit(limit, "word", sounds + 1, names) <= limit


def test_a_short_name_among_many_is_found_by_chance() -> None:
    others = [f"Xu{'o' * number}" for number in range(300)]
    runs = {"gita": 0.2, "winny fred": 0.2}
    few, many = known("Geeta", "Winifred"), known("Geeta", "Winifred", *others)
    assert {one.name for one in find_similar_names(runs, few)} == {"Geeta", "Winifred"}
    assert [one.name for one in find_similar_names(runs, many)] == ["Winifred"]


def test_limits_shrink_with_the_number_of_names() -> None:
    few, many = known("Siobhan"), known("Siobhan", *(f"Xu{'o' * number}" for number in range(999)))
    assert find_similar_names({"chevon": 0.2}, few)
    assert not find_similar_names({"chevon": 0.2}, many)


@given(
    st.lists(st.text(min_size=1, max_size=12), max_size=5, unique=True),
    st.lists(st.text(min_size=1, max_size=12), max_size=5, unique=True),
)
def test_whatever_is_found_is_near(runs: list[str], names: list[str]) -> None:
    for one in find_similar_names(dict.fromkeys(runs, LIMIT), known(*names)):
        distance = sound_distance(read_heard(one.heard), read_name(one.name))
        assert distance <= one.distance <= LIMIT * MAX_GROWTH
        assert one.heard.casefold() != one.name.casefold()


def test_a_search_among_two_thousand_names_takes_milliseconds() -> None:
    chance = random.Random(7)
    names = known(*{"".join(chance.choices(SYLLABLES, k=3)).title() for _ in range(2600)})[:2000]
    runs = dict.fromkeys(("pot hola", "collar", "pot", "hola", "new collar", "has a new"), LIMIT)
    times = []
    for _ in range(5):
        started = time.thread_time()
        find_similar_names(runs, names)
        times.append((time.thread_time() - started) * 1000)
    assert len(names) == 2000
    assert min(times) < MOST_MS
