"""What the ranking knows of a candidate, as numbers.

Each feature belongs to the layer whose evidence it is, or to none.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import product
from hotmem.ranking.late_interaction import best_matches, telling
from hotmem.ranking.neighbors import Surroundings
from hotmem.retrieval.fusion import Candidate
from hotmem.text.answer_types import expected_answer_types
from hotmem.types import AnswerType, Evidence, EvidenceKind, Layer, Query, Role

FEATURES: Final[dict[str, Layer | None]] = {
    "words": Layer.VERBATIM,
    "window_words": Layer.VERBATIM,
    "overlap": Layer.VERBATIM,
    "window_overlap": Layer.VERBATIM,
    "cosine": Layer.SEMANTIC,
    "cosine_gap": Layer.SEMANTIC,
    "window_cosine": Layer.SEMANTIC,
    "match": Layer.SEMANTIC,
    "match_gap": Layer.SEMANTIC,
    "match_all": Layer.SEMANTIC,
    "window_match": Layer.SEMANTIC,
    "window_match_gap": Layer.SEMANTIC,
    "session_words": Layer.SESSIONS,
    "session_overlap": Layer.SESSIONS,
    "session_cosine": Layer.SESSIONS,
    "session_match": Layer.SESSIONS,
    "fact": Layer.FACTS,
    "speaker_fits": None,
    "other_speaker": None,
    "first_person": None,
    "question": None,
    "after_question": None,
    "answer_form": None,
    "no_answer_form": None,
    "name": None,
    "time": None,
    "in_time": None,
    "own_question": None,
    "assistant": None,
    "length": None,
    "cosine_rank": Layer.SEMANTIC,
    "match_rank": Layer.SEMANTIC,
    "words_rank": Layer.VERBATIM,
    "cosine_lift": Layer.SEMANTIC,
    "match_lift": Layer.SEMANTIC,
    "match_least": Layer.SEMANTIC,
    "cosine_unshared": Layer.SEMANTIC,
    "match_unshared": Layer.SEMANTIC,
    "cosine_said": Layer.SEMANTIC,
    "match_said": Layer.SEMANTIC,
    "unshared": None,
    "said": None,
    "best_overlap": None,
}
"""Every feature and its layer, in the order of the columns."""

UNSHARED: Final = 0.15
"""Share of the question's words, by rarity, below which no candidate is taken to share any with
it."""

_WORD: Final = re.compile(r"\w+")


def features(query: Query, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
    """The features of all candidates of one query.

    Returns:
        float32 (n, len(FEATURES)). Scores of the word search are scaled to the query's best;
        cosines and matches are as they are, a gap is how far one is below the query's best.
    """
    if not candidates:
        return np.empty((0, len(FEATURES)), dtype=np.float32)
    evidence = [candidate.evidence for candidate in candidates]
    around = Surroundings.of(evidence)
    columns = (
        _by_words(query, candidates, around)
        | _by_meaning(query, evidence, around)
        | _by_session_and_fact(candidates)
        | _by_form(query, evidence)
    )
    columns |= _by_rank(evidence, columns)
    columns |= _by_query(query, evidence, columns)
    return np.stack([np.asarray(columns[name], dtype=np.float32) for name in FEATURES], axis=1)


def _by_words(
    query: Query, candidates: Sequence[Candidate], around: Surroundings
) -> dict[str, object]:
    """The word search's scores, and which of the question's words stand in and around each candidate, by their rarity among all candidates."""
    words = np.array(
        [candidate.scores.get(Layer.VERBATIM, 0.0) for candidate in candidates], dtype=np.float32
    )
    words /= max(float(words.max()), 1e-6)
    before, after = around.neighbours(words)
    asked = query.stems
    column = {stem: place for place, stem in enumerate(sorted(asked))}
    held = np.zeros((len(candidates), len(asked)), dtype=np.float32)
    there = [
        (row, column[stem])
        for row, candidate in enumerate(candidates)
        for stem in asked & candidate.evidence.terms
    ]
    held[tuple(np.array(there, dtype=np.intp).reshape(-1, 2).T)] = 1
    rarity = np.log1p(len(candidates) / (1 + held.sum(axis=0)))
    rarity /= max(float(rarity.sum()), 1e-6)
    return {
        "words": words,
        "window_words": (before + after) / 2,
        "overlap": product(held, rarity),
        "window_overlap": product(around.window(held), rarity),
        "session_overlap": product(around.session(held), rarity),
    }


def _by_meaning(
    query: Query, evidence: Sequence[Evidence], around: Surroundings
) -> dict[str, object]:
    """Cosines of whole statements, and matches of single word pieces.

    Each statement's own, with its neighbours, and anywhere in its session.
    """
    cosine = _cosines(query, evidence)
    matches = _matches(query, evidence)
    weight = telling(matches)
    match, window = product(matches, weight), product(around.window(matches), weight)
    before, after = around.neighbours(cosine)
    return {
        "cosine": cosine,
        "cosine_gap": cosine - cosine.max(),
        "window_cosine": np.maximum(before, after),
        "session_cosine": around.session(cosine),
        "match": match,
        "match_gap": match - match.max(),
        "match_all": matches.mean(axis=1) if matches.shape[1] else match,
        "match_least": _least(matches, weight),
        "window_match": window,
        "window_match_gap": window - window.max(),
        "session_match": product(around.session(matches), weight),
    }


def _by_session_and_fact(candidates: Sequence[Candidate]) -> dict[str, object]:
    """What the session layer gave each candidate's session, and the fact layer what was read from its turns."""
    facts: defaultdict[int, float] = defaultdict(float)
    for candidate in candidates:
        for turn in candidate.evidence.turns:
            facts[turn] = max(facts[turn], candidate.scores.get(Layer.FACTS, 0.0))
    return {
        "session_words": [candidate.session_score for candidate in candidates],
        "fact": [
            max(
                (facts[turn] for turn in candidate.evidence.turns),
                default=candidate.scores.get(Layer.FACTS, 0.0),
            )
            for candidate in candidates
        ],
    }


def _by_form(query: Query, evidence: Sequence[Evidence]) -> dict[str, object]:
    """Who speaks, and what sort of statement it is."""
    forms = np.array([found.answer_types for found in evidence])
    answer = expected_answer_types(query.text)
    answering = forms & answer != 0
    time = query.analysis.time
    named, fits = _speakers(query, evidence)
    return {
        "speaker_fits": fits,
        "other_speaker": [named and not fit for fit in fits],
        "first_person": forms & AnswerType.FIRST_PERSON != 0,
        "question": forms & AnswerType.QUESTION != 0,
        "own_question": [
            found.role is Role.USER and found.answer_types & AnswerType.QUESTION != 0
            for found in evidence
        ],
        "assistant": [found.role is Role.ASSISTANT for found in evidence],
        "length": [math.log1p(len(found.terms)) for found in evidence],
        "after_question": [found.after_question for found in evidence],
        "answer_form": answering,
        "no_answer_form": ~answering & bool(answer),
        "name": forms & AnswerType.NAME != 0,
        "time": forms & AnswerType.TIME != 0,
        "in_time": [
            time is not None and (found.matches_time or time.start <= found.said_at < time.end)
            for found in evidence
        ],
    }


def _by_rank(evidence: Sequence[Evidence], columns: Mapping[str, Any]) -> dict[str, object]:
    """Each candidate's reciprocal rank among those of its kind, and how many deviations it lies above the mean: alike in any memory."""
    kinds = np.array([list(EvidenceKind).index(found.kind) for found in evidence])
    return {
        "cosine_rank": _reciprocal_ranks(columns["cosine"], kinds),
        "match_rank": _reciprocal_ranks(columns["match"], kinds),
        "words_rank": _reciprocal_ranks(columns["overlap"], kinds),
        "cosine_lift": _lift(columns["cosine"]),
        "match_lift": _lift(columns["match"]),
    }


def _by_query(
    query: Query, evidence: Sequence[Evidence], columns: Mapping[str, Any]
) -> dict[str, object]:
    """What holds for all candidates of a query.

    Whether any shares a word with it, and whether it asks.
    """
    told = np.array([found.answer_types & AnswerType.QUESTION == 0 for found in evidence])
    best_overlap = float(np.max(columns["overlap"], where=told, initial=0.0))
    unshared, said = float(best_overlap < UNSHARED), float(not query.analysis.question)
    whole = np.ones(len(evidence), dtype=np.float32)
    return {
        "cosine_unshared": unshared * columns["cosine"],
        "match_unshared": unshared * columns["match"],
        "cosine_said": said * columns["cosine"],
        "match_said": said * columns["match"],
        "unshared": unshared * whole,
        "said": said * whole,
        "best_overlap": best_overlap * whole,
    }


def _reciprocal_ranks(values: NDArray[np.float32], kinds: NDArray[np.intp]) -> NDArray[np.float32]:
    """1 for the largest value of its kind, 1/2 for the next; 0 where the value is not above 0."""
    order = np.lexsort((-values, kinds))
    sorted_kinds = kinds[order]
    first = np.searchsorted(sorted_kinds, sorted_kinds)
    ranks = np.empty(len(values), dtype=np.float32)
    ranks[order] = 1 / (1 + np.arange(len(values)) - first)
    return np.where(values > 0, ranks, np.float32(0))


def _lift(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Deviations above the mean, float32 (n,); 0 where all are alike."""
    return np.asarray((values - values.mean()) / max(float(values.std()), 0.02), dtype=np.float32)


def _least(matches: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each statement's worst match among the tokens that tell most, float32 (n,).

    What a question asks for besides what it names.
    """
    if not matches.shape[1]:
        return np.zeros(len(matches), dtype=np.float32)
    telling_most = weight >= np.median(weight)
    return np.asarray(matches[:, telling_most].min(axis=1), dtype=np.float32)


def _cosines(query: Query, evidence: Sequence[Evidence]) -> NDArray[np.float32]:
    """Cosine of each statement to the query, float32 (n,); 0 while it has no vector."""
    cosines = np.zeros(len(evidence), dtype=np.float32)
    for former, vector in ((False, query.vector), (True, query.former)):
        embedded = [
            (row, found.vector)
            for row, found in enumerate(evidence)
            if found.vector is not None and found.former is former
        ]
        if embedded and vector is not None:
            cosines[[row for row, _ in embedded]] = np.vecdot(
                np.stack([stored for _, stored in embedded]), vector
            )
    return cosines


def _matches(query: Query, evidence: Sequence[Evidence]) -> NDArray[np.float32]:
    """How well each statement matches each word piece of the query, float32 (n, pieces)."""
    matches = best_matches(
        query.pieces, [None if found.former else found.signs for found in evidence]
    )
    if query.former_pieces is not None and any(found.former for found in evidence):
        matches += best_matches(
            query.former_pieces, [found.signs if found.former else None for found in evidence]
        )
    return matches


def _speakers(query: Query, evidence: Sequence[Evidence]) -> tuple[bool, list[bool]]:
    """Whether the question names a speaker, and whether each statement is by who is asked about.

    The one named, or the user who says "my".

    Where the question speaks of neither, everyone fits.
    """
    words = {name.casefold() for name in query.analysis.entities} | set(
        _WORD.findall(query.text.casefold())
    )
    if any(words & _names(speaker) for speaker in query.speakers):
        return True, [bool(words & _names(found.speaker)) for found in evidence]
    return False, [found.role is Role.USER or not query.analysis.first_person for found in evidence]


def _names(speaker: str | None) -> set[str]:
    """A speaker's name and its parts, in lower case."""
    return set() if speaker is None else {speaker.casefold(), *speaker.casefold().split()}
