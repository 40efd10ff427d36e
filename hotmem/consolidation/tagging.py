"""Merging of tags that mean the same."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.text.stemming import stems, terms
from hotmem.text.tag_words import tag_key
from hotmem.types import TagUse

MIN_COSINE: Final = 0.8
"""Minimum cosine of two tags of the same words that are merged: "dance" and "dancing"."""

MIN_COSINE_IF_DIFFERENT: Final = 0.88
"""Minimum cosine if each tag has words that the other has not: "lawyer" and "attorney", but not
"sophomore" and "freshman"."""

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

    A tag that was given, then the one with more words, then the more frequent one, replaces the
    other. Tags that already replace others are not replaced, so that every merge can be undone
    alone, and each tag is directly compared with its replacement, so that there are no chains.

    Args:
        tags: The tags.
        rows: Their embeddings, unit rows, float32 (tags, dimension).
        wait_idle_blocking: Called before each block; blocks while recalls run.
    """
    order = sorted(
        range(len(tags)),
        key=lambda place: (
            not tags[place].stands,
            not tags[place].given,
            -len({*tags[place].name.split()}),
            -tags[place].memories,
            tags[place].name,
        ),
    )
    _, keys = np.unique([tag_key(tag.name) for tag in tags], return_inverse=True)
    open_to = np.array([not tag.stands for tag in tags], dtype=np.bool_)
    found: list[tuple[TagUse, TagUse]] = []
    for start in range(0, len(order), BLOCK):
        wait_idle_blocking()
        block = order[start : start + BLOCK]
        for place, cosines in zip(block, matmul(rows[block], rows.T), strict=True):
            if open_to[place] or tags[place].stands:
                open_to[place] = False
                alike = (cosines >= MIN_COSINE) | (keys == keys[place])
                near = np.flatnonzero(alike & open_to).tolist()
                same = [
                    other
                    for other in near
                    if same_meaning(tags[place].name, tags[other].name, float(cosines[other]))
                ]
                found += [(tags[other], tags[place]) for other in same]
                open_to[same] = False
    return found


def same_meaning(one: str, other: str, cosine: float) -> bool:
    """Whether two tags mean the same.

    Those with one key do. One that only adds words does not: a "half marathon" is no "marathon".

    Args:
        one: A tag.
        other: Another tag.
        cosine: The cosine of their embeddings, at least `MIN_COSINE` unless their keys are equal.
    """
    if tag_key(one) == tag_key(other):
        return True
    words, others = (
        {term for term in terms(tag) if term not in FUNCTION_WORDS} for tag in (one, other)
    )
    if words < others or others < words:
        return False
    return words == others or cosine >= MIN_COSINE_IF_DIFFERENT
