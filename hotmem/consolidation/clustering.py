"""Clustering of a category's memories.

Embeddings are centered on the category's mean (Mu and Viswanath 2018), smoothed towards the mean of
their nearest neighbours, reduced by PCA and clustered by HDBSCAN (Campello, Moulavi and Sander
2013). Small and similar clusters are merged by Ward's criterion (1963). `python -m eval tools`
evaluates the constants.
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
"""Number of smoothing steps; with more, separate clusters merge."""

COMPONENTS: Final = 15
"""Number of principal components."""

MIN_SAMPLES: Final = 3
"""HDBSCAN's `min_samples`."""

BLOCK: Final = 128
"""Number of rows whose neighbours are computed at once."""

MERGE_SIMILARITY: Final = 0.8
"""Cosine of two centered centroids from which their clusters are merged."""


def can_cluster() -> bool:
    """Whether scikit-learn is installed (extra `evolution`)."""
    return find_spec("sklearn") is not None


def check_can_cluster() -> None:
    """Check that scikit-learn is installed.

    Raises:
        ExtraMissing: If it is not.
    """
    if not can_cluster():
        raise ExtraMissing(
            "Clustering needs scikit-learn, which is not installed. Run: "
            'pip install "pipecat-hotmem[evolution]"'
        )


def cluster(
    rows: NDArray[np.float32],
    least: int,
    most: int,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Cluster embeddings.

    Args:
        rows: Unit rows, float32 (n, dimension).
        least: Minimum size of a cluster, 2 or more.
        most: Maximum number of clusters.
        wait_idle_blocking: Called every few milliseconds except during HDBSCAN, which releases the
            GIL; blocks while recalls run.

    Returns:
        Unit centroids, float32 (clusters, dimension), and the index of each row's nearest centroid,
        (n,). Both are empty if there are no clusters.
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
    """Indices of the rows of each dense cluster; outliers are in none."""
    from sklearn.cluster import HDBSCAN  # slow to import, so not at startup
    from threadpoolctl import threadpool_limits

    smoothed = rows
    for _ in range(SMOOTHING_STEPS):
        smoothed = _smooth(smoothed, least, wait_idle_blocking)
    # More threads would keep all cores busy and slow down concurrent recalls.
    with threadpool_limits(1):
        components = normalize_rows(_principal_components(smoothed))
        wait_idle_blocking()
        labels = HDBSCAN(
            min_cluster_size=least,
            min_samples=min(MIN_SAMPLES, least),
            cluster_selection_method="leaf",
            algorithm="brute",  # the only one that releases the GIL
            copy=True,
        ).fit_predict(components)
    return [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]


def _smooth(
    rows: NDArray[np.float32], neighbours: int, wait_idle_blocking: Callable[[], None]
) -> NDArray[np.float32]:
    """The normalised mean of each row and its nearest neighbours."""
    smoothed = np.empty_like(rows)
    for start in range(0, len(rows), BLOCK):
        wait_idle_blocking()
        block = slice(start, start + BLOCK)
        nearest_rows = np.argpartition(-matmul(rows[block], rows.T), neighbours, axis=1)[
            :, : neighbours + 1
        ]
        smoothed[block] = rows[nearest_rows].mean(axis=1)
    return normalize_rows(smoothed)


def _principal_components(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Project rows on their principal components, float32 (n, at most `COMPONENTS`)."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(matmul(np.ascontiguousarray(centred.T), centred))
    return matmul(centred, axes[:, -COMPONENTS:])


def _merge(
    rows: NDArray[np.float32],
    groups: list[NDArray[np.intp]],
    most: int,
    wait_idle_blocking: Callable[[], None],
) -> list[NDArray[np.intp]]:
    """Merge the cheapest pair of clusters while there are too many, then all similar pairs."""
    means = [rows[group].mean(axis=0) for group in groups]
    while len(groups) > 1:
        wait_idle_blocking()
        centres = np.array(means)
        if len(groups) > most:
            sizes = np.array([len(group) for group in groups], dtype=np.float32)
            lengths = (centres**2).sum(axis=1)
            distances = lengths[:, None] + lengths - 2 * matmul(centres, centres.T)
            cost = distances * sizes[:, None] * sizes / (sizes[:, None] + sizes)
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
