"""The search for known names that sound like words of an utterance."""

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from hotmem.text.phonetics import KnownName, encode_sounds, read_heard, read_name, sound_distance
from hotmem.text.similar_names import find_similar_names

LIMIT = 0.3
MOST_MS = 25.0
"""Far above what a search among 2,000 names takes, see `python -m eval names`."""

SYLLABLES = [
    "ka",
    "ri",
    "to",
    "shi",
    "van",
    "mel",
    "dor",
    "ne",
    "bu",
    "li",
    "gra",
    "no",
    "zef",
    "pa",
    "lo",
    "tu",
    "wen",
    "mar",
    "is",
    "el",
]


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
        assert one.distance == distance <= LIMIT * 1.3
        assert one.heard.casefold() != one.name.casefold()


def test_a_search_among_two_thousand_names_takes_milliseconds() -> None:
    chance = random.Random(7)
    names = known(*{"".join(chance.choices(SYLLABLES, k=3)).title() for _ in range(2600)})[:2000]
    runs = dict.fromkeys(("pot hola", "collar", "pot", "hola", "new collar", "has a new"), LIMIT)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        find_similar_names(runs, names)
        times.append((time.perf_counter() - started) * 1000)
    assert len(names) == 2000
    assert min(times) < MOST_MS
