"""What groups of statements are called.

The words that set each apart from the others, and the name it had if it is still the same.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from hotmem.text.labels import propose_names
from hotmem.text.stemming import STOP_STEMS, terms

KEYWORDS: Final = 5
"""Words kept for a group."""

_WORDS: Final = re.compile(r"[^\W\d_]{3,}")


def extract_keywords(
    groups: Sequence[Sequence[str]], wait_idle_blocking: Callable[[], None] = lambda: None
) -> list[tuple[str, ...]]:
    """For each group the words that more of its texts hold than of the others', the most telling first.

    A word's weight is its part of the divergence of the group from the others (Kullback and Leibler
    1951): the share of the group's texts that hold it, times the logarithm of how many times as
    large that is as among the others. One text alone tells no word.

    Args:
        groups: The texts of each group.
        wait_idle_blocking: Called after each text that was read, some 30 µs.
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
    """A name for each group: the one kept, or its first keywords, all different.

    Args:
        words: The keywords of each group.
        kept: The name that each keeps, if it does.
        otherwise: What a group without keywords is called, with a number.
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
    """The name that each group keeps.

    That of the old group which gave it most of what it had, and which went mostly into it.

    Args:
        before: What was in each old group, by its name.
        now: What is in each new group. What is in only one of both times tells nothing.
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
    """The most frequent word; of equals the first in the alphabet."""
    counted = Counter(words)
    return min(counted, key=lambda word: (-counted[word], word))


def _smoothed_share(holding: int, texts: int) -> float:
    """Share of texts that hold a word, as if half a text more did and half did not."""
    return (holding + 0.5) / (texts + 1.0)


def _words_by_stem(
    texts: Iterable[str], wait_idle_blocking: Callable[[], None]
) -> list[dict[str, str]]:
    """The telling words of each text, by their stems."""
    found = []
    for text in texts:
        wait_idle_blocking()
        found.append(_content_stems(text))
    return found


def _content_stems(text: str) -> dict[str, str]:
    """The stems of a text's telling words, each with the word."""
    return {
        stem: word
        for word in map(str.lower, _WORDS.findall(text))
        for stem in terms(word)
        if stem not in STOP_STEMS
    }
