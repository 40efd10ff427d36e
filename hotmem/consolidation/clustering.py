"""Clustering of a category's memories by topic.

Few topics that together resemble all memories are chosen from many: facility location (Cornuéjols,
Fisher and Nemhauser 1977), solved greedily with exchanges. From there spherical k-means (Dhillon
and Modha 2001), drawn towards the topics, finds the clusters, so that each has a name from the
start. What all memories of the category share, and all topics, is removed from their embeddings
(Mu and Viswanath 2018). `python -m eval tools` evaluates the constants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.centroids import (
    NEAR,
    nearest_centroids,
    normalize_rows,
    remove_direction,
)
from hotmem.core.matmul import matmul

Rows = NDArray[np.float32]

RELATED: Final = 0.1
"""Cosine of a memory and a topic up to which they count as unrelated."""

GAIN: Final = 0.008
"""Mean increase of the memories' cosines with their nearest topic from which one more is chosen."""

EXCHANGES: Final = 3
"""Maximum number of exchanges of each chosen topic for a better one after every choice."""

ROUNDS: Final = 10
"""Rounds of k-means."""

TOPIC_WEIGHT: Final = 1.0
"""Weight of a topic in the mean of its cluster, where the memories together have weight 1."""

CLEAR: Final = 0.25
"""Clarity from which a cluster is kept; see `_clarity`. Of the clusters below, some half mix topics
or have a name that does not fit."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clusters of embeddings.

    Attributes:
        centre: Direction that all rows share, a unit row, float32 (dimension,).
        centroids: Unit mean of each cluster's rows, float32 (clusters, dimension).
        topics: Index of each cluster's topic; None for a fixed cluster.
        places: Index of each row's cluster, −1 for none, (rows,).
    """

    centre: Rows
    centroids: Rows
    topics: tuple[int | None, ...]
    places: NDArray[np.intp]


def cluster(
    rows: Rows,
    topics: Rows,
    fixed: Rows,
    least: int,
    most: int,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> Clusters:
    """Cluster embeddings by topic.

    Args:
        rows: Unit rows, float32 (n, dimension).
        topics: Unit rows of the topics to choose from, without what all topics share, float32
            (topics, dimension).
        fixed: Centroids of clusters that remain as they are, whatever their size, float32
            (clusters, dimension). They come first in the result.
        least: Minimum size of the other clusters, 2 or more.
        most: Maximum number of clusters.
        wait_idle_blocking: Called every few milliseconds; blocks while recalls run.
    """
    centre = normalize_rows(rows.mean(axis=0)) if len(rows) else np.zeros_like(topics[0])
    own = remove_direction(rows, centre)
    kept = remove_direction(fixed, centre)
    cosines = matmul(own, np.ascontiguousarray(topics.T))
    chosen = (
        choose_topics(cosines, matmul(own, np.ascontiguousarray(kept.T)), most, wait_idle_blocking)
        if len(rows) >= 2 * least
        else []
    )
    while True:
        groups = _groups(own, kept, topics[chosen], wait_idle_blocking)
        sizes = np.bincount(groups[groups >= 0], minlength=len(fixed) + len(chosen))[len(fixed) :]
        if not chosen or sizes.min() >= least:
            break
        del chosen[int(sizes.argmin())]
    clear = [
        place
        for place in range(len(chosen))
        if _clarity(own, cosines[:, chosen], place, groups == len(fixed) + place) >= CLEAR
    ]
    means = [normalize_rows(rows[groups == len(fixed) + place].mean(axis=0)) for place in clear]
    centroids = np.array([*fixed, *means], dtype=np.float32).reshape(-1, topics.shape[1])
    return Clusters(
        centre,
        centroids,
        (*[None] * len(fixed), *(chosen[place] for place in clear)),
        nearest_centroids(rows, centroids, centre),
    )


def choose_topics(
    cosines: Rows,
    kept: Rows,
    most: int,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[int]:
    """Choose topics so that each row resembles one of them.

    Args:
        cosines: Cosine of each row and each topic, float32 (rows, topics).
        kept: Cosine of each row and each cluster that exists already, float32 (rows, clusters).
        most: Maximum number of topics and existing clusters together.
        wait_idle_blocking: Called before each step.

    Returns:
        Indices of the chosen topics.
    """
    floor = kept.max(axis=1, initial=RELATED)
    reached = np.maximum(cosines, floor[:, None])
    chosen: list[int] = []
    while len(chosen) + kept.shape[1] < most:
        before = reached[:, chosen].max(axis=1, initial=0.0) if chosen else floor
        best, gain = _best_topic(reached, before, wait_idle_blocking)
        if gain < GAIN:
            break
        chosen.append(best)
        for _ in range(EXCHANGES):
            former = list(chosen)
            for place in range(len(chosen)):
                others = chosen[:place] + chosen[place + 1 :]
                without = reached[:, others].max(axis=1) if others else floor
                chosen[place], _ = _best_topic(reached, without, wait_idle_blocking)
            if chosen == former:
                break
    return chosen


def _best_topic(
    reached: Rows, before: Rows, wait_idle_blocking: Callable[[], None]
) -> tuple[int, float]:
    """The topic that increases the rows' largest cosines most, and by how much in the mean."""
    wait_idle_blocking()
    gains = np.maximum(reached, before[:, None]).mean(axis=0) - before.mean()
    return int(gains.argmax()), float(gains.max())


def _groups(
    rows: Rows, kept: Rows, topics: Rows, wait_idle_blocking: Callable[[], None]
) -> NDArray[np.intp]:
    """The cluster of each row by k-means from the topics, −1 for none."""
    means = np.concatenate([kept, topics])
    if not len(means):
        return np.full(len(rows), -1, dtype=np.intp)
    for _ in range(ROUNDS):
        wait_idle_blocking()
        places = np.argmax(matmul(rows, np.ascontiguousarray(means.T)), axis=1)
        for place, topic in enumerate(topics, len(kept)):
            own = rows[places == place]
            mean = normalize_rows(own.mean(axis=0)) if len(own) else topic
            means[place] = normalize_rows(mean + TOPIC_WEIGHT * topic)
    cosines = matmul(rows, np.ascontiguousarray(means.T))
    places = np.argmax(cosines, axis=1)
    return np.where(cosines.max(axis=1) < NEAR, -1, places)


def _clarity(rows: Rows, cosines: Rows, topic: int, inside: NDArray[np.bool_]) -> float:
    """How clearly a cluster is about its topic and apart from the other rows.

    How much nearer its rows are to its topic than to the nearest other one, plus how much nearer
    they are to each other than to the other rows, both in the mean of cosines.

    Args:
        rows: All rows, float32 (n, dimension).
        cosines: Cosine of each row and each chosen topic, float32 (n, topics).
        topic: The cluster's topic among the chosen ones.
        inside: Whether each row is in the cluster, two of them or more.
    """
    own, size = cosines[inside], np.count_nonzero(inside)
    others = np.delete(own, topic, axis=1).max(axis=1, initial=0.0)
    mean = rows[inside].mean(axis=0)
    together = (size * float(mean @ mean) - 1) / (size - 1)
    apart = float(mean @ rows[~inside].mean(axis=0)) if size < len(rows) else 0.0
    return float((own[:, topic] - others).mean()) + together - apart
