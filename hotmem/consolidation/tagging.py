"""Merging of tags that mean the same."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.text.stemming import stems, terms
from hotmem.types import TagUse

MIN_COSINE: Final = 0.8
"""Minimum cosine of two tags that are merged."""

MIN_COSINE_IF_DIFFERENT: Final = 0.85
"""Minimum cosine if each tag has words that the other has not: "old recipe", "new recipe"."""

MIN_COSINE_IF_DERIVED: Final = 0.88
"""Minimum cosine of two words of which one contains the other: a "sailmaker" is no "sail", but an
"exam" is an "examination"."""

MIN_PART: Final = 3
"""Letters of the shortest word that another may be derived from."""

FUNCTION_WORDS: Final = stems("a an the of for in on at to and with from")
"""Words ignored in comparisons: "insurance for the car" is "car insurance"."""

BLOCK: Final = 32
"""Number of tags compared with all others at once."""


def consolidate_tags(
    tags: Sequence[TagUse],
    rows: NDArray[np.float32],
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[tuple[TagUse, TagUse]]:
    """Find tags that mean the same as another, each with the tag that replaces it.

    The tag with more words, then the more frequent one, replaces the other. Tags that already
    replace others are not replaced, so that every merge can be undone alone, and each tag is
    directly compared with its replacement, so that there are no chains.

    Args:
        tags: The tags.
        rows: Their embeddings, unit rows, float32 (tags, dimension).
        wait_idle_blocking: Called before each block; blocks while recalls run.
    """
    order = sorted(
        range(len(tags)),
        key=lambda place: (
            not tags[place].stands,
            -len(tags[place].name.split()),
            -tags[place].memories,
            tags[place].name,
        ),
    )
    open_to = np.array([not tag.stands for tag in tags], dtype=np.bool_)
    found: list[tuple[TagUse, TagUse]] = []
    for start in range(0, len(order), BLOCK):
        wait_idle_blocking()
        block = order[start : start + BLOCK]
        for place, cosines in zip(block, matmul(rows[block], rows.T), strict=True):
            if open_to[place] or tags[place].stands:
                open_to[place] = False
                near = np.flatnonzero((cosines >= MIN_COSINE) & open_to).tolist()
                alike = [
                    other
                    for other in near
                    if same_meaning(tags[place].name, tags[other].name, float(cosines[other]))
                ]
                found += [(tags[other], tags[place]) for other in alike]
                open_to[alike] = False
    return found


def same_meaning(one: str, other: str, cosine: float) -> bool:
    """Whether two similar tags mean the same.

    If one only adds words, both must end with the same word: "coconut milk" is not a "coconut".

    Args:
        one: A tag.
        other: Another tag.
        cosine: The cosine of their embeddings, at least `MIN_COSINE`.
    """
    words, others = (
        [term for term in terms(tag) if term not in FUNCTION_WORDS] for tag in (one, other)
    )
    if set(words) < set(others) or set(others) < set(words):
        return words[-1:] == others[-1:]
    if set(words) == set(others):
        return True
    if len(words) == len(others) == 1:
        short, long = sorted((words[0], others[0]), key=len)
        derived = len(short) >= MIN_PART and short in long
        return not derived or cosine >= MIN_COSINE_IF_DERIVED
    return cosine >= MIN_COSINE_IF_DIFFERENT
