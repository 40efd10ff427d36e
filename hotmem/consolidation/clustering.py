"""Memories of a category → groups of those that are about the same.

All is seen from the middle of the category: what its memories have in common tells none apart (Mu and Viswanath 2018). Every vector is first drawn
to the mean of its nearest neighbours, which leaves what a topic shares and loses how each statement is phrased; HDBSCAN (Campello, Moulavi and
Sander 2013) then finds groups without being told how many. Small and similar ones are joined (Ward 1963). The constants are chosen on the categories
contexts, learnings, references and system of `eval/tools/topics.tsv`; `python -m eval tools` reports the other three apart. With topics halved at
random five times, seeing from the middle places 2.6 points more right in those four (standard error 0.5) and 2.8 in the others (2).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.centroids import nearest, unit
from hotmem.products import product

STEPS: Final = 2
"""Times that vectors are drawn together; after a third step groups of their own flow into each other."""

DIMENSIONS: Final = 15
"""Principal components that are clustered; from 8 to 30 hardly anything changes."""

DENSE: Final = 3
"""Neighbours within reach that make a place dense (HDBSCAN's min_samples)."""

SIMILAR: Final = 0.8
"""Cosine of two centroids, seen from the middle, from which their groups are joined, as tags are (the design's)."""


def grouped(rows: NDArray[np.float32], least: int, most: int) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """The centroids of the groups, and each row's nearest.

    Args:
        rows: Unit rows, float32 (n, dimension).
        least: Rows of a group at least, 2 or more.
        most: Groups at most.

    Returns:
        Unit centroids, float32 (groups, dimension), and the place of each row's group, (n,). Without any group both are empty.
    """
    nothing = np.empty((0, rows.shape[1]), dtype=np.float32), np.empty(0, dtype=np.intp)
    if len(rows) < 2 * least:
        return nothing
    centred = unit(rows - rows.mean(axis=0))
    groups = _joined(centred, _dense(centred, least), most)
    centroids = np.array([unit(rows[group].mean(axis=0)) for group in groups], dtype=np.float32).reshape(-1, rows.shape[1])
    while len(centroids):
        places = nearest(rows, centroids)
        filled = np.bincount(places, minlength=len(centroids)) >= least
        if filled.all():
            return centroids, places
        centroids = centroids[filled]
    return nothing


def _dense(rows: NDArray[np.float32], least: int) -> list[NDArray[np.intp]]:
    """The places of each dense group's rows; what lies between them is in none."""
    from sklearn.cluster import HDBSCAN  # two seconds to load; a bot's start is spared them

    drawn = rows
    for _ in range(STEPS):
        beside = np.argpartition(-product(drawn, drawn.T), least, axis=1)[:, : least + 1]
        drawn = unit(drawn[beside].mean(axis=1))
    labels = HDBSCAN(
        min_cluster_size=least,
        min_samples=min(DENSE, least),
        cluster_selection_method="leaf",
        algorithm="brute",  # it alone leaves the interpreter's lock to others
        copy=True,
    ).fit_predict(unit(_components(drawn)))
    return [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]


def _components(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows along their principal components, float32 (n, at most `DIMENSIONS`)."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ axes[:, -DIMENSIONS:], dtype=np.float32)


def _joined(rows: NDArray[np.float32], groups: list[NDArray[np.intp]], most: int) -> list[NDArray[np.intp]]:
    """The groups, the cheapest pair joined while there are too many, then every pair that is similar."""
    while len(groups) > 1:
        means = np.array([rows[group].mean(axis=0) for group in groups])
        if len(groups) > most:
            sizes = np.array([len(group) for group in groups], dtype=np.float64)
            apart = ((means[:, None] - means[None]) ** 2).sum(axis=2)
            cost = apart * sizes[:, None] * sizes / (sizes[:, None] + sizes)
        else:
            directions = unit(means)
            cost = 1.0 - directions @ directions.T
        np.fill_diagonal(cost, np.inf)
        one, other = sorted(divmod(int(np.argmin(cost)), len(groups)))
        if len(groups) <= most and cost[one, other] > 1.0 - SIMILAR:
            break
        groups = [*groups[:one], np.concatenate([groups[one], groups[other]]), *groups[one + 1 : other], *groups[other + 1 :]]
    return groups
