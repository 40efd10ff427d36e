"""Search for known names that sound like words of an utterance."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from hotmem.text.phonetics import (
    KnownName,
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

USUAL_NAMES: Final = 30
"""Number of known names for which the limits hold as they are."""

SHRINKAGE: Final = 0.25
"""Share by which the limits shrink when there are ten times as many names, and grow when there are
few: the more names, the more of them sound like something by chance."""

MIN_NAMES: Final = 5
"""Number of names below which the limits grow no more."""


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
    if not runs or not known:
        return ()
    names = {one.name.casefold() for one in known}
    scale = 1 - SHRINKAGE * math.log10(max(MIN_NAMES, len(known)) / USUAL_NAMES)
    heard = [
        (run, limit * scale, reading)
        for run, limit in runs.items()
        if not names & _parts(run.casefold()) and (reading := read_heard(run)).key
    ]
    keyed = [(key, one) for one in known for key in stored_keys(one.sounds)]
    if not heard or not keyed:
        return ()
    pairs = dict.fromkeys(
        (row, keyed[place][1])
        for row, place in _near(
            [coarse_key(reading.key) for _, _, reading in heard],
            [limit for _, limit, _ in heard],
            [key for key, _ in keyed],
        )
    )
    readings = {one: stored_readings(one.sounds) or read_name(one.name) for _, one in pairs}
    found = [
        SimilarName(run, one.name, distance)
        for row, one in pairs
        for run, limit, reading in [heard[row]]
        if (distance := sound_distance(reading, readings[one], limit)) <= limit
    ]
    return tuple(sorted(found, key=lambda one: one.distance))


def _parts(run: str) -> set[str]:
    """The words of a run and all runs in it."""
    words = run.split()
    return {run} | {
        " ".join(words[start:stop])
        for start in range(len(words))
        for stop in range(start + 1, len(words) + 1)
    }


def _near(
    ours: Sequence[str], limits: Sequence[float], theirs: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the indices of coarse keys that are few edits apart."""
    lengths = np.add.outer(
        np.fromiter(map(len, ours), np.float32), np.fromiter(map(len, theirs), np.float32)
    )
    share = np.minimum(np.array(limits, np.float32) * EDITS_PER_DISTANCE, MAX_KEY_EDITS)
    edits = cdist(ours, theirs, scorer=Levenshtein.distance, score_cutoff=3, dtype=np.uint8)
    rows, places = np.nonzero(edits <= share[:, None] * lengths / 2)
    return zip(rows.tolist(), places.tolist(), strict=True)
