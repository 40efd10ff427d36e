"""Search for known names that sound like words of an utterance."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from hotmem.text.phonetics import (
    KnownName,
    Reading,
    coarse_key,
    read_heard,
    read_name,
    sound_distance,
    stored_keys,
    stored_readings,
)

MAX_KEY_EDITS: Final = 0.4
"""Largest number of edits between coarse keys, per sound."""

EDITS_PER_DISTANCE: Final = 2.0
"""Edits between coarse keys, per sound, that a phonetic distance of 1 stands for at most."""

USUAL_NAMES: Final = 5
"""Number of known names for which the limits hold as they are."""

SHRINKAGE: Final = 2.0
"""How fast the limits shrink with the number of names.

The names within a distance by chance are as many as there are names times a power of the distance,
whose exponent grows with the sounds of the name. For them to stay as few, the limit of a name of
`s` sounds is divided by the number of names to the power of `SHRINKAGE / s`. Measured by
`python -m eval names`.
"""

NAMES_PER_RUN: Final = 0.5
"""Share of the names that count for a run of several words, which is rarely near one by chance."""

MAX_GROWTH: Final = 1.15
"""Largest factor by which the limits grow when there are fewer names."""

MIN_LIMIT: Final = 0.01
"""Limit below which even a name that sounds the same is found by chance."""


@dataclass(frozen=True, slots=True)
class SimilarName:
    """A known name that sounds like words of an utterance.

    Attributes:
        heard: The words.
        name: The name.
        distance: Phonetic distance.
    """

    heard: str
    name: str
    distance: float


def find_similar_names(
    runs: Mapping[str, float], known: Sequence[KnownName]
) -> tuple[SimilarName, ...]:
    """Find the known names that sound like a word run, nearest first.

    Runs that contain a known name as it is are left out. Takes some milliseconds for a sentence
    and 2,000 names.

    Args:
        runs: Words and word runs of an utterance, with the largest phonetic distance of a name.
        known: The names; of equally near ones the first comes first.
    """
    if not runs:
        return ()
    names = {one.name.casefold() for one in known}
    heard = [
        (run, limit, reading)
        for run, limit in runs.items()
        if not names & _parts(run.casefold()) and (reading := read_heard(run)).key
    ]
    found = [
        SimilarName(heard[row][0], one.name, distance)
        for row, one in _near(heard, known)
        if (distance := _nearest(*heard[row], one, len(known))) is not None
    ]
    return tuple(sorted(found, key=lambda one: one.distance))


def scaled_limit(limit: float, run: str, sounds: int, names: int) -> float:
    """The largest phonetic distance of one of several names.

    Args:
        limit: The largest distance from a word of one of `USUAL_NAMES`.
        run: The word or word run.
        sounds: Consonants of the name.
        names: Number of names.
    """
    count = names * (NAMES_PER_RUN if " " in run else 1)
    scale: float = (USUAL_NAMES / max(count, 1)) ** (SHRINKAGE / max(sounds, 1))
    return limit * min(scale, MAX_GROWTH)


def _nearest(run: str, limit: float, heard: Reading, one: KnownName, names: int) -> float | None:
    """The distance of a name if a reading of it is within the limit."""
    distances = []
    for reading in stored_readings(one.sounds) or read_name(one.name):
        most = scaled_limit(limit, run, len(reading.key.removeprefix("A")), names)
        if most >= MIN_LIMIT and (distance := sound_distance(heard, [reading], most)) <= most:
            distances.append(distance)
    return min(distances, default=None)


def _parts(run: str) -> set[str]:
    """The words of a run and all runs in it."""
    words = run.split()
    return {run} | {
        " ".join(words[start:stop])
        for start in range(len(words))
        for stop in range(start + 1, len(words) + 1)
    }


def _near(
    heard: Sequence[tuple[str, float, Reading]], known: Sequence[KnownName]
) -> Iterator[tuple[int, KnownName]]:
    """Yield the runs, by index, and names of which coarse keys are few edits apart."""
    if not heard:
        return
    rows: dict[str, list[int]] = defaultdict(list)
    edits: dict[str, int] = {}
    for row, (run, limit, reading) in enumerate(heard):
        key = coarse_key(reading.key)
        rows[key].append(row)
        edits[key] = max(edits.get(key, 0), _most_edits(key, limit, run, len(known)))
    keyed = [(one, stored_keys(one.sounds)) for one in known]
    similar = _similar_keys(edits, {key for _, keys in keyed for key in keys})
    for one, keys in keyed:
        if not similar.keys().isdisjoint(keys):
            ours = {key for theirs in keys for key in similar.get(theirs, ())}
            yield from ((row, one) for key in ours for row in rows[key])


def _most_edits(key: str, limit: float, run: str, names: int) -> int:
    """The most edits from a coarse key to that of a name within a limit."""
    most = scaled_limit(limit, run, len(key) + 2, names)
    share = min(most * EDITS_PER_DISTANCE, MAX_KEY_EDITS)
    return int(share * len(key) / (1 - share / 2))


def _similar_keys(edits: Mapping[str, int], keys: set[str]) -> dict[str, list[str]]:
    """For each of the keys those that are at most so many edits apart from it."""
    found = {key: [key] for key in edits.keys() & keys}
    theirs = list(keys)
    for most in set(edits.values()) - {0}:
        ours = [key for key, number in edits.items() if number == most]
        apart = cdist(ours, theirs, scorer=Levenshtein.distance, score_cutoff=most, dtype=np.uint8)
        for row, place in zip(*np.nonzero((apart > 0) & (apart <= most)), strict=True):
            found.setdefault(theirs[place], []).append(ours[row])
    return found
