"""Search by words: BM25 over stemmed terms, within one user's rows.

The full-text index finds the rows that contain a term; scores are computed here, over arrays. A
row counts a term once, however often it holds it: passages and memories are short.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.storage.search.user_index import Entries, Index, IndexReader
from hotmem.text.stemming import terms as terms_of

K1: Final = 1.2
B: Final = 0.75
"""BM25's constants (Robertson et al. 1994), as FTS5 has them."""

MIN_WEIGHT: Final = 1e-6
"""Of a term that most rows hold."""


def search(
    conn: Connection, index: Index | IndexReader, terms: Sequence[str], limit: int
) -> Pending[list[tuple[int, float]]]:
    """Rows that hold any of the terms, best first.

    Args:
        conn: A connection.
        index: The user's entries.
        terms: Words, or phrases all of whose words must be there; no character in them is an
            operator.
        limit: Rows at most.

    Returns:
        Row numbers and BM25 scores; larger is better.
    """
    entries = index.read(conn)
    holding = _holding(conn, entries, terms)

    def found() -> list[tuple[int, float]]:
        scores = np.zeros(len(entries.keys), dtype=np.float32)
        usual = float(entries.lengths.mean()) if len(scores) else 1.0
        for places in holding():
            scores[places] += weight(len(scores), len(places)) * saturation(
                1, entries.lengths[places], usual
            )
        return best(entries.keys, scores, limit)

    return found


def sessions(
    conn: Connection, index: Index | IndexReader, terms: Sequence[str], limit: int
) -> Pending[list[tuple[int, float]]]:
    """Sessions by the words said in them, best first.

    A term counts once for each passage that holds it.

    Args:
        conn: A connection.
        index: The entries of the user's passages.
        terms: As in `search`.
        limit: Sessions at most.

    Returns:
        Row numbers of sessions and BM25 scores.
    """
    entries = index.read(conn)
    holding = _holding(conn, entries, terms)

    def found() -> list[tuple[int, float]]:
        total = len(entries.sessions)
        scores = np.zeros(total, dtype=np.float32)
        usual = float(entries.session_lengths.mean()) if total else 1.0
        for places in holding():
            counts = np.bincount(entries.places[places], minlength=total)
            held = np.flatnonzero(counts)
            scores[held] += weight(total, len(held)) * saturation(
                counts[held], entries.session_lengths[held], usual
            )
        return best(entries.sessions, scores, limit)

    return found


def weight(rows: int, holding: int) -> float:
    """Inverse document frequency of a term that `holding` of `rows` contain."""
    return max(float(np.log((rows - holding + 0.5) / (holding + 0.5))), MIN_WEIGHT)


def saturation(
    counts: NDArray[Any] | int, lengths: NDArray[Any], usual: float
) -> NDArray[np.float32]:
    """BM25's share of a term that rows of these lengths hold `counts` times.

    `usual` is their mean length.
    """
    return np.asarray(
        counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / max(usual, 1))), dtype=np.float32
    )


def best(
    keys: NDArray[np.int64], scores: NDArray[np.float32], limit: int
) -> list[tuple[int, float]]:
    """The keys of the highest scores above 0, highest first, among equals the lowest key first."""
    held = np.flatnonzero(scores)
    if len(held) > limit:
        least = np.partition(scores[held], -limit)[-limit]
        held = held[scores[held] >= least]
    order = held[np.lexsort((keys[held], -scores[held]))][:limit]
    return list(zip(keys[order].tolist(), scores[order].tolist(), strict=True))


def _holding(
    conn: Connection, entries: Entries, terms: Sequence[str]
) -> Pending[list[NDArray[np.int32]]]:
    """For each distinct term the places of the entries that hold it."""
    split = dict.fromkeys(tuple(terms_of(term, conn.search.language)) for term in terms)
    wanted = [words for words in split if words]
    every_word = dict.fromkeys(word for words in wanted for word in words)
    places = entries.postings.places(conn, entries.keys, every_word)

    def holding() -> list[NDArray[np.int32]]:
        of_word = places()
        of_term = (
            reduce(np.intersect1d, (of_word[word] for word in dict.fromkeys(words)))
            for words in wanted
        )
        return [held for held in of_term if len(held)]

    return holding
