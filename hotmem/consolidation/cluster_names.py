"""Names of subcategories: their distinctive tags, or the previous name."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import numpy as np

from hotmem.text.labels import propose_names
from hotmem.text.stemming import stems

KEYWORDS: Final = 5
"""Maximum number of keywords of a cluster."""


def extract_keywords(
    groups: Sequence[Sequence[Collection[str]]],
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[tuple[str, ...]]:
    """Find each cluster's distinctive tags, highest weight first.

    A tag's weight is its term of the Kullback-Leibler divergence of the cluster from the others
    (1951): p · log(p / q), with the shares p and q of their memories that have the tag. Tags of
    only one memory of the cluster are left out, and so are those that share a word with a better
    one.

    Args:
        groups: The tags of the memories of each cluster.
        wait_idle_blocking: Called before each cluster; blocks while recalls run.
    """
    counts = [Counter(tag for tags in group for tag in set(tags)) for group in groups]
    total, everything = Counter[str](), sum(map(len, groups))
    for held in counts:
        total.update(held)
    found = []
    for group, held in zip(groups, counts, strict=True):
        wait_idle_blocking()
        weights = {
            tag: inside
            / len(group)
            * np.log(
                _smoothed_share(inside, len(group))
                / _smoothed_share(total[tag] - inside, everything - len(group))
            )
            for tag, inside in held.items()
            if inside > 1
        }
        best: dict[str, frozenset[str]] = {}
        for tag in sorted(weights, key=lambda tag: (-weights[tag], tag)):
            words = stems(tag)
            if weights[tag] > 0 and all(words.isdisjoint(other) for other in best.values()):
                best[tag] = words
        found.append(tuple(best)[:KEYWORDS])
    return found


def assign_names(
    words: Sequence[Sequence[str]], kept: Sequence[str | None], otherwise: str
) -> list[str]:
    """Name each cluster uniquely: its previous name, or its first keywords.

    Args:
        words: The keywords of each cluster.
        kept: The previous name of each cluster, if it keeps one.
        otherwise: Name for clusters without keywords, to which a number is added.
    """
    taken = {name for name in kept if name is not None}
    given = []
    for own, name in zip(words, kept, strict=True):
        if name is None:
            name = next(fresh for fresh in propose_names(own, otherwise) if fresh not in taken)
            taken.add(name)
        given.append(name)
    return given


def match_previous_names(
    before: Mapping[str, frozenset[int]], now: Sequence[frozenset[int]]
) -> list[str | None]:
    """Match each new cluster with the previous one whose name it keeps, if any.

    They match if more than half of the memories of each, as far as they were clustered both times,
    are in the other.

    Args:
        before: Members of each previous cluster, by name.
        now: Members of each new cluster.
    """
    old = frozenset[int]().union(*before.values())
    new = frozenset[int]().union(*now)
    kept: list[str | None] = []
    for group in now:
        known = group & old
        most = max(before, key=lambda name: len(before[name] & group), default=None)
        shared = 0 if most is None else len(before[most] & group)
        kept.append(
            most
            if most is not None and 2 * shared > max(len(known), len(before[most] & new))
            else None
        )
    return kept


def _smoothed_share(holding: int, texts: int) -> float:
    """Share of texts with a word, with additive smoothing of one half."""
    return (holding + 0.5) / (texts + 1.0)
