"""What the ranking knows of a candidate, as numbers. Each feature belongs to the layer whose evidence it is, or to none."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Final

import numpy as np
import Stemmer
from numpy.typing import NDArray

from hotmem.context.fusion import Candidate
from hotmem.types import Evidence, EvidenceKind, Layer, Query, Role

FEATURES: Final[dict[str, Layer | None]] = {
    "words": Layer.VERBATIM,
    "words_absolute": Layer.VERBATIM,
    "window_words": Layer.VERBATIM,
    "overlap": Layer.VERBATIM,
    "window_overlap": Layer.VERBATIM,
    "cosine": Layer.SEMANTIC,
    "cosine_gap": Layer.SEMANTIC,
    "window_cosine": Layer.SEMANTIC,
    "session_words": Layer.SESSIONS,
    "session_cosine": Layer.SESSIONS,
    "session_overlap": Layer.SESSIONS,
    "fact": Layer.FACTS,
    "speaker_fits": None,
    "question": None,
    "after_question": None,
    "length": None,
    "number": None,
    "in_time": None,
}
"""Every feature and its layer, in the order of the columns."""

_WORD: Final = re.compile(r"\w+")
_NUMBERS: Final = frozenset(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozen", "hundred", "thousand"])
_WANTS_NUMBER: Final = re.compile(r"\bhow (?:many|much|long|old|often|far)\b|\bwhat (?:time|year|age|number)\b|\bwhen\b", re.IGNORECASE)
_stemmer: Final = Stemmer.Stemmer("english")
_one_at_a_time: Final = Lock()
"""A stemmer is not safe between threads, and recalls are composed in several."""


def features(query: Query, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
    """The features of all candidates of one query.

    Returns:
        float32 (n, len(FEATURES)). Scores of the word search are scaled to the query's best; cosines are as they are.
    """
    n = len(candidates)
    evidence = [candidate.evidence for candidate in candidates]
    before, after = _neighbours(candidates)
    words = np.array([candidate.scores.get(Layer.VERBATIM, 0.0) for candidate in candidates], dtype=np.float32)
    words_scaled = words / max(float(words.max(initial=0.0)), 1e-6)
    cosine = _cosines(query, evidence)
    wanted = stems(" ".join(query.terms))
    held = [wanted & stems(found.text) for found in evidence]
    share = 1 / max(len(wanted), 1)
    around = [held[row] | _at(held, before[row]) | _at(held, after[row]) for row in range(n)]
    session_score = {c.evidence.session: c.scores.get(Layer.SESSIONS, 0.0) for c in candidates if c.evidence.kind is EvidenceKind.SUMMARY}
    session_cosine: defaultdict[int, float] = defaultdict(float)
    session_held: defaultdict[int, frozenset[str]] = defaultdict(frozenset)
    for row, found in enumerate(evidence):
        session_cosine[found.session] = max(session_cosine[found.session], float(cosine[row]))
        session_held[found.session] |= held[row]
    facts = {turn: c.scores[Layer.FACTS] for c in candidates if Layer.FACTS in c.scores for turn in c.evidence.turns}
    wants_number = bool(_WANTS_NUMBER.search(query.text))
    time = query.analysis.time
    columns: dict[str, object] = {
        "words": words_scaled,
        "words_absolute": np.log1p(words),
        "window_words": (_take(words_scaled, before) + _take(words_scaled, after)) / 2,
        "overlap": [len(found) * share for found in held],
        "window_overlap": [len(found) * share for found in around],
        "cosine": cosine,
        "cosine_gap": cosine - cosine.max(initial=0.0),
        "window_cosine": np.maximum(_take(cosine, before), _take(cosine, after)),
        "session_words": [session_score.get(found.session, 0.0) for found in evidence],
        "session_cosine": [session_cosine[found.session] for found in evidence],
        "session_overlap": [len(session_held[found.session]) * share for found in evidence],
        "fact": [max((facts.get(turn, 0.0) for turn in found.turns), default=0.0) for found in evidence],
        "speaker_fits": _speaker_fits(query, evidence),
        "question": [found.text.rstrip().endswith("?") for found in evidence],
        "after_question": [found.after_question for found in evidence],
        "length": np.log1p([found.text.count(" ") + 1 for found in evidence]),
        "number": [wants_number and _tells_number(found.text) for found in evidence],
        "in_time": [time is not None and time.start <= found.said_at < time.end for found in evidence],
    }
    return np.stack([np.asarray(columns[name], dtype=np.float32) for name in FEATURES], axis=1) if n else np.empty((0, len(FEATURES)), np.float32)


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's words (Porter's second algorithm, as Snowball has it)."""
    with _one_at_a_time:
        return frozenset(_stemmer.stemWords(_WORD.findall(text.casefold())))


def _cosines(query: Query, evidence: Sequence[Evidence]) -> NDArray[np.float32]:
    """Cosine of each statement to the query, float32 (n,); 0 while it has no vector."""
    cosines = np.zeros(len(evidence), dtype=np.float32)
    embedded = [(row, found.vector) for row, found in enumerate(evidence) if found.vector is not None]
    if embedded:
        cosines[[row for row, _ in embedded]] = np.stack([vector for _, vector in embedded]) @ query.vector
    return cosines


def _tells_number(text: str) -> bool:
    """Whether a text holds a digit or a number word."""
    return any(map(str.isdigit, text)) or not _NUMBERS.isdisjoint(text.casefold().split())


def _speaker_fits(query: Query, evidence: Sequence[Evidence]) -> list[bool]:
    """Whether the one who spoke is the one asked about: a speaker that the question names, or the user who says "my".

    Where the question speaks of neither, everyone fits.
    """
    words = {name.casefold() for name in query.analysis.entities} | set(_WORD.findall(query.text.casefold()))
    named = [bool(words & _names(found.speaker)) for found in evidence]
    if any(words & _names(speaker) for speaker in query.speakers):
        return named
    return [found.role is Role.USER or not query.analysis.first_person for found in evidence]


def _names(speaker: str | None) -> set[str]:
    """A speaker's name and its parts, in lower case."""
    return set() if speaker is None else {speaker.casefold(), *speaker.casefold().split()}


def _neighbours(candidates: Sequence[Candidate]) -> tuple[list[int], list[int]]:
    """Row of the passage before and after each candidate, -1 where it is not among them."""
    rows = {(c.evidence.session, c.evidence.position): row for row, c in enumerate(candidates) if c.evidence.kind is EvidenceKind.PASSAGE}

    def at(candidate: Candidate, step: int) -> int:
        found = candidate.evidence
        return rows.get((found.session, found.position + step), -1) if found.kind is EvidenceKind.PASSAGE else -1

    return [at(candidate, -1) for candidate in candidates], [at(candidate, 1) for candidate in candidates]


def _take(values: NDArray[np.float32], rows: Sequence[int]) -> NDArray[np.float32]:
    """The values at the rows; 0 where the row is -1."""
    return np.append(values, np.float32(0.0))[np.asarray(rows, dtype=np.intp)]


def _at(held: Sequence[frozenset[str]], row: int) -> frozenset[str]:
    return held[row] if row >= 0 else frozenset()
