"""Names of subcategories and their distinctive tags."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import numpy as np

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


def shared_name(
    keywords: Sequence[str], tags: Sequence[Collection[str]], texts: Sequence[str]
) -> str | None:
    """The proper name that most memories of a cluster contain, such as a person's or a project's.

    Args:
        keywords: The keywords of the cluster, best first; the first is judged.
        tags: Tags of each memory.
        texts: Text of each memory.

    Returns:
        The name as most texts write it; None if the keyword is no name or too rare.
    """
    if not keywords or 2 * sum(keywords[0] in held for held in tags) <= len(tags):
        return None
    written = re.compile(rf"\b{re.escape(keywords[0])}\b", re.IGNORECASE)
    forms = Counter(form for text in texts for form in written.findall(text))
    best = max(forms, key=lambda form: forms[form], default="")
    return None if best == best.lower() else best


def match_previous_names(
    before: Mapping[str, frozenset[int]], now: Sequence[frozenset[int]]
) -> list[str | None]:
    """Match each new cluster with the previous one whose name it keeps, if any.

    They match if more than half of the memories of each, as far as they were clustered both times,
    are in the other, and more than half of the new cluster's memories are not new.

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
            if most is not None
            and 2 * shared > max(len(known), len(before[most] & new))
            and 2 * len(known) > len(group)
            else None
        )
    return kept


def _smoothed_share(holding: int, texts: int) -> float:
    """Share of texts with a word, with additive smoothing of one half."""
    return (holding + 0.5) / (texts + 1.0)
