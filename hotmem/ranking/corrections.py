"""Corrections: what a user says next about the same thing stands with a relevant statement.

"The boiler man comes on Tuesday", then "not Tuesday, Thursday": the second answers the same
question. Shared words and meaning show it; it need not say that it corrects.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.stemming import STOP_STEMS
from hotmem.types import Evidence, Role, Vector
from hotmem.understanding.private_statements import holds_secret
from hotmem.understanding.query.cues import DIRECT_QUESTION

MIN_SHARE_OF_BEST: Final = 0.9
"""Share of the best statement's relevance from which corrections of a statement are looked for."""

SHARE_OF_CORRECTED: Final = 0.2
"""Share of the relevance of what it may correct that a statement has at least."""

MAX_STEPS: Final = 6
"""Number of turns, the bot's among them, within which a statement is corrected by the next ones."""

SAME_THING: Final = 0.35
"""Cosine, less what all statements of the speaker have in common, from which two of them are about
the same thing. Of 40 corrections nine in ten had it, and one in a hundred neighbouring statements
about different things."""

MIN_OTHERS: Final = 3
"""Number of other statements of the speaker from which it is known what they have in common; with
fewer, only words tell."""


def with_corrections(candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Raise the relevance of what may correct one of the most relevant statements.

    Args:
        candidates: Distinct statements, in any order.

    Returns:
        The same, in the same order.
    """
    said = {
        (one.evidence.session, one.evidence.position): one
        for one in candidates
        if one.evidence.role is Role.USER and one.evidence.position >= 0
    }
    vectors: defaultdict[str | None, list[Vector]] = defaultdict(list)
    for found in (one.evidence for one in said.values()):
        if found.vector is not None and not found.former:
            vectors[found.speaker].append(found.vector)
    sums = {speaker: (np.sum(rows, axis=0), len(rows)) for speaker, rows in vectors.items()}
    least = MIN_SHARE_OF_BEST * max((one.relevance for one in candidates), default=0.0)
    floors: defaultdict[int, float] = defaultdict(float)
    for (session, position), one in said.items():
        for step in range(1, MAX_STEPS + 1) if one.relevance >= least else ():
            after = said.get((session, position + step))
            if after is not None and _may_correct(after.evidence, one.evidence, sums):
                floors[id(after)] = max(floors[id(after)], SHARE_OF_CORRECTED * one.relevance)
    return [
        replace(one, relevance=floor)
        if (floor := floors.get(id(one), 0.0)) > one.relevance
        else one
        for one in candidates
    ]


def _may_correct(
    after: Evidence, one: Evidence, sums: Mapping[str | None, tuple[Vector, int]]
) -> bool:
    """Whether a later statement of the same speaker is about the same thing, and no secret.

    Args:
        after: The later statement; a question states nothing.
        one: The earlier one.
        sums: The sum of the vectors of each speaker's statements, and their number.
    """
    if one.speaker != after.speaker or holds_secret(after) or DIRECT_QUESTION.search(after.text):
        return False
    if (one.terms & after.terms) - STOP_STEMS:
        return True
    if one.vector is None or after.vector is None or one.former or after.former:
        return False
    total, count = sums[one.speaker]
    if count - 2 < MIN_OTHERS:
        return False
    common = (total - one.vector - after.vector) / (count - 2)
    first, second = one.vector - common, after.vector - common
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) >= SAME_THING * lengths
