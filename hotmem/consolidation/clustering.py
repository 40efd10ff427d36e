"""Memories of a category → groups of those that are about the same.

All is seen from the middle of the category: what its memories have in common tells none apart (Mu
and Viswanath 2018). Every vector is first drawn to the mean of its nearest neighbours, which leaves
what a topic shares and loses how each statement is phrased; HDBSCAN (Campello, Moulavi and Sander
2013) then finds groups without being told how many. Small and similar ones are joined (Ward 1963).
The constants are chosen on the categories contexts, learnings, references and system of
`eval/tools/topics.tsv`; `python -m eval tools` reports the other three apart. With topics halved at
random five times, seeing from the middle places 2.6 points more right in those four (standard error
0.5) and 2.8 in the others (2).
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.centroids import nearest_centroids, normalize_rows
from hotmem.core.matmul import matmul
from hotmem.errors import ExtraMissing

SMOOTHING_STEPS: Final = 2
"""Times that vectors are drawn together; after a third step groups of their own flow into each
other."""

COMPONENTS: Final = 15
"""Principal components that are clustered; from 8 to 30 hardly anything changes."""

MIN_SAMPLES: Final = 3
"""Neighbours within reach that make a place dense (HDBSCAN's min_samples)."""

BLOCK: Final = 128
"""Vectors whose neighbours are looked for at once, some 5 ms."""

MERGE_SIMILARITY: Final = 0.8
"""Cosine of two centroids, seen from the middle, from which their groups are joined, as tags are
(the design's)."""


def can_cluster() -> bool:
    """Whether scikit-learn is installed, which the extra `evolution` brings."""
    return find_spec("sklearn") is not None


def check_can_cluster() -> None:
    """Check that scikit-learn is installed.

    Raises:
        ExtraMissing: If it is not.
    """
    if not can_cluster():
        raise ExtraMissing(
            'Categories evolve with scikit-learn, which is not installed. Run: pip install "pipecat-hotmem[evolution]"'
        )


def cluster(
    rows: NDArray[np.float32],
    least: int,
    most: int,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """The centroids of the groups, and each row's nearest.

    Args:
        rows: Unit rows, float32 (n, dimension).
        least: Rows of a group at least, 2 or more.
        most: Groups at most.
        wait_idle_blocking: Called every few milliseconds, but for the clustering itself: 0.1 s for
            2,000 rows, most of it without the interpreter's lock.

    Returns:
        Unit centroids, float32 (groups, dimension), and the place of each row's group, (n,).
        Without any group both are empty.
    """
    nothing = np.empty((0, rows.shape[1]), dtype=np.float32), np.empty(0, dtype=np.intp)
    if len(rows) < 2 * least:
        return nothing
    centred = normalize_rows(rows - rows.mean(axis=0))
    groups = _merge(
        centred, _dense_clusters(centred, least, wait_idle_blocking), most, wait_idle_blocking
    )
    centroids = np.array(
        [normalize_rows(rows[group].mean(axis=0)) for group in groups], dtype=np.float32
    ).reshape(-1, rows.shape[1])
    while len(centroids):
        wait_idle_blocking()
        places = nearest_centroids(rows, centroids)
        filled = np.bincount(places, minlength=len(centroids)) >= least
        if filled.all():
            return centroids, places
        centroids = centroids[filled]
    return nothing


def _dense_clusters(
    rows: NDArray[np.float32], least: int, wait_idle_blocking: Callable[[], None]
) -> list[NDArray[np.intp]]:
    """The places of each dense group's rows; what lies between them is in none."""
    from sklearn.cluster import HDBSCAN  # two seconds to load; a bot's start is spared them
    from threadpoolctl import threadpool_limits

    drawn = rows
    for _ in range(SMOOTHING_STEPS):
        drawn = _smooth(drawn, least, wait_idle_blocking)
    with threadpool_limits(
        1
        # several would keep all cores busy waiting for each other, and a recall beside them takes
        # five times as long
    ):
        components = normalize_rows(_principal_components(drawn))
        wait_idle_blocking()
        labels = HDBSCAN(
            min_cluster_size=least,
            min_samples=min(MIN_SAMPLES, least),
            cluster_selection_method="leaf",
            algorithm="brute",  # it alone leaves the interpreter's lock to others
            copy=True,
        ).fit_predict(components)
    return [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]


def _smooth(
    rows: NDArray[np.float32], neighbours: int, wait_idle_blocking: Callable[[], None]
) -> NDArray[np.float32]:
    """The means of each row and so many of its nearest, unit rows."""
    drawn = np.empty_like(rows)
    for start in range(0, len(rows), BLOCK):
        wait_idle_blocking()
        block = slice(start, start + BLOCK)
        beside = np.argpartition(-matmul(rows[block], rows.T), neighbours, axis=1)[
            :, : neighbours + 1
        ]
        drawn[block] = rows[beside].mean(axis=1)
    return normalize_rows(drawn)


def _principal_components(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows along their principal components, float32 (n, at most `COMPONENTS`)."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(matmul(np.ascontiguousarray(centred.T), centred))
    return matmul(centred, axes[:, -COMPONENTS:])


def _merge(
    rows: NDArray[np.float32],
    groups: list[NDArray[np.intp]],
    most: int,
    wait_idle_blocking: Callable[[], None],
) -> list[NDArray[np.intp]]:
    """The groups, the cheapest pair joined while there are too many, then every pair that is similar."""
    means = [rows[group].mean(axis=0) for group in groups]
    while len(groups) > 1:
        wait_idle_blocking()
        centres = np.array(means)
        if len(groups) > most:
            sizes = np.array([len(group) for group in groups], dtype=np.float32)
            lengths = (centres**2).sum(axis=1)
            apart = lengths[:, None] + lengths - 2 * matmul(centres, centres.T)
            cost = apart * sizes[:, None] * sizes / (sizes[:, None] + sizes)
        else:
            directions = normalize_rows(centres)
            cost = 1.0 - matmul(directions, directions.T)
        np.fill_diagonal(cost, np.inf)
        one, other = sorted(divmod(int(np.argmin(cost)), len(groups)))
        if len(groups) <= most and cost[one, other] > 1.0 - MERGE_SIMILARITY:
            break
        groups = [
            *groups[:one],
            np.concatenate([groups[one], groups[other]]),
            *groups[one + 1 : other],
            *groups[other + 1 :],
        ]
        means = [
            *means[:one],
            rows[groups[one]].mean(axis=0),
            *means[one + 1 : other],
            *means[other + 1 :],
        ]
    return groups
