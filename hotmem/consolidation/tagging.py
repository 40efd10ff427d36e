"""Which tags mean the same, and which one stays."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.text.stemming import stems, terms
from hotmem.types import TagUse

MIN_COSINE: Final = 0.8
"""Cosine from which two tags mean the same (the design's), if one says the other more closely."""

MIN_COSINE_IF_DIFFERENT: Final = 0.85
"""The same where each of several words has some of its own: "old recipe" and "new recipe" have
0.83, "tv show" and "tv series" 0.90."""

FUNCTION_WORDS: Final = stems("a an the of for in on at to and with from")
"""What joins the words of a tag: "insurance for the car" is car insurance."""

BLOCK: Final = 32
"""Tags compared with all others at once, 10 ms with 20,000 others."""


def consolidate_tags(
    tags: Sequence[TagUse],
    rows: NDArray[np.float32],
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[tuple[TagUse, TagUse]]:
    """Tags that mean the same as another, each with the one that stays.

    The one of more words, then the one used more.

    One that stands for others already stays, so that each change can be taken back alone. Every tag
    goes into one that stays itself, and is as near to it as `MIN_COSINE`, so that nothing drifts
    along a chain.

    Args:
        tags: The tags.
        rows: Their embeddings, unit rows, float32 (tags, dimension).
        wait_idle_blocking: Called before each block of them, to let others go before.
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
        for place, likeness in zip(block, matmul(rows[block], rows.T), strict=True):
            if open_to[place] or tags[place].stands:
                open_to[place] = False
                near = np.flatnonzero((likeness >= MIN_COSINE) & open_to).tolist()
                alike = [
                    other
                    for other in near
                    if same_meaning(tags[place].name, tags[other].name, float(likeness[other]))
                ]
                found += [(tags[other], tags[place]) for other in alike]
                open_to[alike] = False
    return found


def same_meaning(one: str, other: str, cosine: float) -> bool:
    """Whether two tags that are near in meaning are of the same thing.

    "Coconut milk" is near "coconut" and no coconut: where one only adds words, both must end in the
    same one.

    Args:
        one: A tag.
        other: Another.
        cosine: Of their meanings, at least `MIN_COSINE`.
    """
    words, others = (
        [term for term in terms(tag) if term not in FUNCTION_WORDS] for tag in (one, other)
    )
    if set(words) < set(others) or set(others) < set(words):
        return words[-1:] == others[-1:]
    if set(words) == set(others) or len(words) == len(others) == 1:
        return True
    return cosine >= MIN_COSINE_IF_DIFFERENT
