"""Features of the candidates for the relevance model.

Each feature belongs to the layer whose evidence it is, or to none. To add one, name it in
`FEATURES`, compute its column here, and fit the models anew (`python -m eval train`).
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul, row_blocks
from hotmem.ranking.neighbors import Neighbors
from hotmem.retrieval.fusion import Candidate
from hotmem.text.answer_types import expected_answer_types
from hotmem.types import AnswerType, Evidence, EvidenceKind, Layer, Query, Role, SignBits


def max_similarities(
    query: NDArray[np.float32], statements: Sequence[SignBits | None]
) -> NDArray[np.float32]:
    """The best match of each query token among the tokens of each statement (MaxSim).

    Args:
        query: Token embeddings of the query, float32 (tokens, width).
        statements: Token signs of each statement, uint8 (tokens, width / 8), or None. Signs of
            another width are of another encoder, and ignored.

    Returns:
        float32 (statements, tokens of the query), -1 to 1: the mean agreement in sign, weighted by
        the query's values; 0 for a statement without token signs.
    """
    best = np.zeros((len(statements), len(query)), dtype=np.float32)
    width = -(-query.shape[1] // 8)
    comparable = [
        (row, signs)
        for row, signs in enumerate(statements)
        if signs is not None and len(signs) and signs.shape[1] == width
    ]
    if not comparable or not len(query):
        return best
    rows, held = [row for row, _ in comparable], [signs for _, signs in comparable]
    asked = query / np.maximum(np.abs(query).sum(axis=1, keepdims=True), 1e-9)
    signs = np.concatenate(held)
    agreement = np.empty((len(signs), len(asked)), dtype=np.float32)
    with np.errstate(invalid="ignore"):  # as in `hotmem.core.vector_math`
        for span in row_blocks(len(signs), asked.size):
            bits = np.unpackbits(signs[span], axis=1, count=query.shape[1]).astype(np.float32)
            np.matmul(bits, asked.T, out=agreement[span])
    agreement = 2 * agreement - asked.sum(axis=1)
    starts = np.cumsum([0, *(len(signs) for signs in held[:-1])])
    best[rows] = np.maximum.reduceat(agreement, starts, axis=0)
    return best


def token_weights(matches: NDArray[np.float32]) -> NDArray[np.float32]:
    """How well each query token distinguishes the statements.

    Its best match less its mean match, normalized to a sum of 1. Stop words match all statements
    alike and get next to no weight.

    Args:
        matches: float32 (statements, tokens), at least one statement.

    Returns:
        float32 (tokens,).
    """
    contrast = matches.max(axis=0) - matches.mean(axis=0)
    total = float(contrast.sum())
    return contrast / total if total > 1e-6 else np.full_like(contrast, 1 / max(len(contrast), 1))


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

MIN_SHARED_OVERLAP: Final = 0.15
"""Share of the query's words, by rarity, below which a candidate counts as sharing none."""

_WORD: Final = re.compile(r"\w+")


def candidate_features(query: Query, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
    """Compute the features of all candidates of one query.

    Returns:
        float32 (n, len(FEATURES)). BM25 scores are divided by the query's best; cosines and
        late-interaction matches are unscaled; a gap is the difference to the query's best.
    """
    if not candidates:
        return np.empty((0, len(FEATURES)), dtype=np.float32)
    evidence = [candidate.evidence for candidate in candidates]
    neighbors = Neighbors.of(evidence)
    columns = (
        _lexical_features(query, candidates, neighbors)
        | _semantic_features(query, evidence, neighbors)
        | _session_and_fact_features(candidates)
        | _form_features(query, evidence)
    )
    columns |= _rank_features(evidence, columns)
    columns |= _query_features(query, evidence, columns)
    return np.stack([np.asarray(columns[name], dtype=np.float32) for name in FEATURES], axis=1)


def _lexical_features(
    query: Query, candidates: Sequence[Candidate], neighbors: Neighbors
) -> dict[str, object]:
    """BM25 scores, and the share of the query's words in and around each candidate.

    The words are weighted by their rarity among all candidates.
    """
    words = np.array(
        [candidate.scores.get(Layer.VERBATIM, 0.0) for candidate in candidates], dtype=np.float32
    )
    words /= max(float(words.max()), 1e-6)
    before, after = neighbors.adjacent(words)
    asked = query.stems
    column = {stem: place for place, stem in enumerate(sorted(asked))}
    occurs = np.zeros((len(candidates), len(asked)), dtype=np.float32)
    places = [
        (row, column[stem])
        for row, candidate in enumerate(candidates)
        for stem in asked & candidate.evidence.terms
    ]
    occurs[tuple(np.array(places, dtype=np.intp).reshape(-1, 2).T)] = 1
    rarity = np.log1p(len(candidates) / (1 + occurs.sum(axis=0)))
    rarity /= max(float(rarity.sum()), 1e-6)
    return {
        "words": words,
        "window_words": (before + after) / 2,
        "overlap": matmul(occurs, rarity),
        "window_overlap": matmul(neighbors.window_max(occurs), rarity),
        "session_overlap": matmul(neighbors.session_max(occurs), rarity),
    }


def _semantic_features(
    query: Query, evidence: Sequence[Evidence], neighbors: Neighbors
) -> dict[str, object]:
    """Cosines of embeddings, and late-interaction matches of tokens.

    Of each statement, of its neighbouring passages and of its session.
    """
    cosine = cosines(query, evidence)
    matches = _matches(query, evidence)
    weight = token_weights(matches)
    match, window = matmul(matches, weight), matmul(neighbors.window_max(matches), weight)
    before, after = neighbors.adjacent(cosine)
    return {
        "cosine": cosine,
        "cosine_gap": cosine - cosine.max(),
        "window_cosine": np.maximum(before, after),
        "session_cosine": neighbors.session_max(cosine),
        "match": match,
        "match_gap": match - match.max(),
        "match_all": matches.mean(axis=1) if matches.shape[1] else match,
        "match_least": _worst_match(matches, weight),
        "window_match": window,
        "window_match_gap": window - window.max(),
        "session_match": matmul(neighbors.session_max(matches), weight),
    }


def _session_and_fact_features(candidates: Sequence[Candidate]) -> dict[str, object]:
    """The session layer's score of each session, and the fact layer's best score of each turn."""
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


def _form_features(query: Query, evidence: Sequence[Evidence]) -> dict[str, object]:
    """Who speaks, and what type of statement it is."""
    forms = np.array([found.answer_types for found in evidence])
    answer = expected_answer_types(query.text)
    answering, asked = forms & answer != 0, forms & AnswerType.QUESTION != 0
    time = query.analysis.time
    named, fits = _speakers(query, evidence)
    return {
        "speaker_fits": fits,
        "other_speaker": [named and not fit for fit in fits],
        "first_person": forms & AnswerType.FIRST_PERSON != 0,
        "question": asked,
        "own_question": asked & [found.role is Role.USER for found in evidence],
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


def _rank_features(evidence: Sequence[Evidence], columns: Mapping[str, Any]) -> dict[str, object]:
    """Reciprocal ranks among candidates of the same kind, and standard scores.

    Both are comparable between memories of any size.
    """
    rows = np.array([(list(EvidenceKind).index(one.kind), one.key) for one in evidence])
    return {
        "cosine_rank": _reciprocal_ranks(columns["cosine"], rows),
        "match_rank": _reciprocal_ranks(columns["match"], rows),
        "words_rank": _reciprocal_ranks(columns["overlap"], rows),
        "cosine_lift": _standardized(columns["cosine"]),
        "match_lift": _standardized(columns["match"]),
    }


def _query_features(
    query: Query, evidence: Sequence[Evidence], columns: Mapping[str, Any]
) -> dict[str, object]:
    """Features that all candidates of a query share, and their products with the similarities.

    Whether any candidate shares a word with the query, and whether the query is a remark.
    """
    stated = np.array([found.answer_types & AnswerType.QUESTION == 0 for found in evidence])
    best_overlap = float(np.max(columns["overlap"], where=stated, initial=0.0))
    unshared, said = float(best_overlap < MIN_SHARED_OVERLAP), float(not query.analysis.question)
    ones = np.ones(len(evidence), dtype=np.float32)
    return {
        "cosine_unshared": unshared * columns["cosine"],
        "match_unshared": unshared * columns["match"],
        "cosine_said": said * columns["cosine"],
        "match_said": said * columns["match"],
        "unshared": unshared * ones,
        "said": said * ones,
        "best_overlap": best_overlap * ones,
    }


def _reciprocal_ranks(values: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """1 for the largest value of a kind, 1/2 for the next; 0 for values of at most 0.

    Of equal values, the row stored first is first, in whatever order the candidates come.
    """
    kinds, keys = rows.reshape(-1, 2).T
    order = np.lexsort((keys, np.round(-values, 6), kinds))
    first = np.searchsorted(kinds[order], kinds[order])
    ranks = np.empty(len(values), dtype=np.float32)
    ranks[order] = 1 / (1 + np.arange(len(values)) - first)
    return np.where(values > 0, ranks, np.float32(0))


def _standardized(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Standard deviations above the mean, float32 (n,); 0 if all values are equal."""
    return np.asarray((values - values.mean()) / max(float(values.std()), 0.02), dtype=np.float32)


def _worst_match(matches: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each statement's worst match among the tokens of at least median weight, float32 (n,).

    A low one shows that a part of the question is not answered.
    """
    if not matches.shape[1]:
        return np.zeros(len(matches), dtype=np.float32)
    heavy = weight >= np.median(weight)
    return np.asarray(matches[:, heavy].min(axis=1), dtype=np.float32)


def cosines(query: Query, evidence: Sequence[Evidence]) -> NDArray[np.float32]:
    """Cosine of each statement to the query, float32 (n,); 0 for one not yet embedded."""
    values = np.zeros(len(evidence), dtype=np.float32)
    for former, vector in ((False, query.vector), (True, query.former)):
        embedded = [
            (row, found.vector)
            for row, found in enumerate(evidence)
            if found.vector is not None and found.former is former
        ]
        if embedded and vector is not None:
            values[[row for row, _ in embedded]] = np.vecdot(
                np.stack([stored for _, stored in embedded]), vector
            )
    return values


def _matches(query: Query, evidence: Sequence[Evidence]) -> NDArray[np.float32]:
    """Best match of each token of the query in each statement, float32 (n, tokens)."""
    matches = max_similarities(
        query.pieces, [None if found.former else found.signs for found in evidence]
    )
    if query.former_pieces is not None and any(found.former for found in evidence):
        matches += max_similarities(
            query.former_pieces, [found.signs if found.former else None for found in evidence]
        )
    return matches


def _speakers(query: Query, evidence: Sequence[Evidence]) -> tuple[bool, list[bool]]:
    """Whether the query names a speaker, and whether each statement is by the speaker meant.

    That is the speaker named, or the user who says "my"; without either, every speaker.
    """
    if named := speakers_named(query):
        return True, [found.speaker in named for found in evidence]
    return False, [found.role is Role.USER or not query.analysis.first_person for found in evidence]


def speakers_named(query: Query) -> set[str]:
    """The speakers of whom a name, or a word of it, stands in an utterance."""
    words = {name.casefold() for name in query.analysis.entities} | set(
        _WORD.findall(query.text.casefold())
    )
    return {one for one in query.speakers if words & {one.casefold(), *one.casefold().split()}}
