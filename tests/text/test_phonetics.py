"""Phonetic distance of names."""

from hypothesis import given
from hypothesis import strategies as st

from hotmem.text.phonetics import (
    coarse_key,
    encode_sounds,
    read_heard,
    read_name,
    sound_distance,
    stored_keys,
    stored_readings,
)
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

NEAR = 0.25
FAR = 0.4


def distance(heard: str, name: str) -> float:
    return sound_distance(read_heard(heard), read_name(name))


@scored(("heard", "meant"), CASES["what_a_recogniser_writes_is_near_the_name"], floor=0.85)
def test_what_a_recogniser_writes_is_near_the_name(heard: str, meant: str) -> None:
    assert distance(heard, meant) <= NEAR


@scored(("heard", "name"), CASES["other_words_are_far"], floor=0.85)
def test_other_words_are_far(heard: str, name: str) -> None:
    assert distance(heard, name) > FAR


def test_names_that_differ_by_gender_are_not_near() -> None:
    assert distance("Mario", "Maria") > NEAR


@given(st.text(max_size=40))
def test_a_name_is_its_own_nearest(name: str) -> None:
    heard = read_heard(name)
    if heard.key:
        assert sound_distance(heard, read_name(name)) == 0
        assert coarse_key(heard.key)


@given(st.text(max_size=40))
def test_stored_sounds_are_read_as_they_were(name: str) -> None:
    sounds = encode_sounds(name)
    assert stored_readings(sounds) == read_name(name)
    assert set(stored_keys(sounds)) == {coarse_key(one.key) for one in read_name(name)}


@given(st.text(max_size=20), st.text(max_size=20), st.floats(0, 2))
def test_a_limit_changes_only_what_is_beyond_it(heard: str, name: str, limit: float) -> None:
    exact = sound_distance(read_heard(heard), read_name(name))
    limited = sound_distance(read_heard(heard), read_name(name), limit)
    assert limited == exact if exact <= limit else limited > limit


@given(st.text(max_size=40))
def test_capitals_change_nothing(name: str) -> None:
    assert read_name(name) == read_name(name.casefold())
