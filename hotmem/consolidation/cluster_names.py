"""Names of subcategories: their distinctive keywords, or the previous name."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from hotmem.text.labels import propose_names
from hotmem.text.stemming import STOP_STEMS, terms

KEYWORDS: Final = 5
"""Maximum number of keywords of a cluster."""

_WORDS: Final = re.compile(r"[^\W\d_]{3,}")


def extract_keywords(
    groups: Sequence[Sequence[str]], wait_idle_blocking: Callable[[], None] = lambda: None
) -> list[tuple[str, ...]]:
    """Extract each cluster's distinctive words, highest weight first.

    A word's weight is its term of the Kullback-Leibler divergence of the cluster from the others
    (1951): p · log(p / q), with the shares p and q of their texts that contain the word. Words of
    only one text of the cluster are left out.

    Args:
        groups: The texts of each cluster.
        wait_idle_blocking: Called before each text; blocks while recalls run.
    """
    written = [_words_by_stem(group, wait_idle_blocking) for group in groups]
    counts = [Counter(stem for stems in group for stem in stems) for group in written]
    total, everything = Counter[str](), sum(map(len, groups))
    for held in counts:
        total.update(held)
    found = []
    for group, texts, held in zip(groups, written, counts, strict=True):
        weights = {
            stem: inside
            / len(group)
            * np.log(
                _smoothed_share(inside, len(group))
                / _smoothed_share(total[stem] - inside, everything - len(group))
            )
            for stem, inside in held.items()
            if inside > 1
        }
        best = sorted(
            (stem for stem, weight in weights.items() if weight > 0),
            key=lambda stem: (-weights[stem], stem),
        )[:KEYWORDS]
        found.append(
            tuple(_most_frequent(stems[stem] for stems in texts if stem in stems) for stem in best)
        )
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


def _most_frequent(words: Iterable[str]) -> str:
    """The most frequent word; ties are broken alphabetically."""
    counted = Counter(words)
    return min(counted, key=lambda word: (-counted[word], word))


def _smoothed_share(holding: int, texts: int) -> float:
    """Share of texts with a word, with additive smoothing of one half."""
    return (holding + 0.5) / (texts + 1.0)


def _words_by_stem(
    texts: Iterable[str], wait_idle_blocking: Callable[[], None]
) -> list[dict[str, str]]:
    """The content words of each text, by stem."""
    found = []
    for text in texts:
        wait_idle_blocking()
        found.append(_content_stems(text))
    return found


def _content_stems(text: str) -> dict[str, str]:
    """The content words of a text, by stem."""
    return {
        stem: word
        for word in map(str.lower, _WORDS.findall(text))
        for stem in terms(word)
        if stem not in STOP_STEMS
    }
