"""The reader: what is worth remembering, and what a turn does to a known statement."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models.reader import DOUBTS, EFFECTS, KINDS, Reader, runs
from tests.scored import scored


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader.load()


def test_what_lasts_is_found_and_what_passes_is_not(reader: Reader) -> None:
    (part,) = reader.read("", "Well, my brother Tomasz is allergic to penicillin.").parts
    assert part.kind in ("fact", "relationship") and part.doubt == "sure" and part.probability > 0.5
    assert not reader.read("", "What's the weather like tomorrow?").parts
    assert not reader.read("", "turn the volume down a bit please").parts


def test_an_answer_is_read_with_its_question(reader: Reader) -> None:
    assert reader.read("Do you have any allergies?", "Just shellfish.").parts


@scored(
    ("known", "new"),
    [
        ("The user has a girlfriend called Mia.", "we broke up"),
        ("The user drives a Volvo.", "i sold the volvo in march"),
        ("The user has a dog called Bruno.", "Bruno died on Sunday, we buried him in the garden."),
        ("The user plays tennis.", "I stopped playing tennis."),
        ("The user drinks two cups of coffee a day.", "I stopped drinking coffee."),
        ("The user lives in Utrecht.", "I moved to Ghent."),
    ],
    floor=0.8,
)
def test_a_change_outdates(reader: Reader, known: str, new: str) -> None:
    assert reader.effects(known, new).outdated > 0.5


@scored(
    ("known", "new"),
    [
        ("The user's son Leo is nine.", "My other son Max is seven."),
        ("The user's sister Carla lives in Phoenix.", "my sister beth lives in denver"),
        ("The user is allergic to peanuts.", "what should i cook tonight"),
        ("There is a bird number 7 in Porto.", "There is a bird number 14 in Porto."),
        ("The user likes jazz.", "I like rock."),
    ],
    floor=0.8,
)
def test_another_of_its_kind_does_not(reader: Reader, known: str, new: str) -> None:
    assert reader.effects(known, new).outdated < 0.5


def test_effects_are_probabilities(reader: Reader) -> None:
    effects = reader.effects("The user lives in Leeds.", "I moved to York.")
    assert effects._fields == EFFECTS
    assert sum(effects) == pytest.approx(1, abs=1e-5)
    assert effects.outdated == effects.corrects + effects.replaces + effects.ends


@given(before=st.text(max_size=200), text=st.text(max_size=3000))
@settings(max_examples=60)
def test_any_text_is_read(reader: Reader, before: str, text: str) -> None:
    reading = reader.read(before, text)
    assert 0 <= reading.kept <= 1
    stops = [0]
    for part in reading.parts:
        assert stops[-1] <= part.start < part.stop <= len(text)
        assert part.kind in KINDS and part.doubt in DOUBTS and 0 <= part.probability <= 1
        stops.append(part.stop)
    assert np.isfinite(list(reader.effects(before, text))).all()


@given(st.lists(st.booleans()))
def test_runs_cover_the_chosen_words_and_start_and_end_with_one(chosen: list[bool]) -> None:
    found = runs(np.array(chosen, dtype=bool))
    covered = {place for first, last in found for place in range(first, last + 1)}
    assert {place for place, one in enumerate(chosen) if one} <= covered
    assert all(chosen[first] and chosen[last] for first, last in found)
    assert all(later[0] - former[1] > 2 for former, later in pairwise(found))
