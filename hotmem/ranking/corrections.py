"""Corrections: what a user said next about the same stands with a relevant statement.

"The boiler man comes on Tuesday", then "not Tuesday, Thursday": the second answers the same
question. Whether it is on the same, words and meaning tell; it need not say that it corrects.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.stemming import STOP_STEMS
from hotmem.types import Evidence, EvidenceKind, Role
from hotmem.understanding.private_statements import holds_secret

MIN_SHARE_OF_BEST: Final = 0.9
"""Share of the best statement's relevance from which corrections of a statement are looked for."""

SHARE_OF_CORRECTED: Final = 0.2
"""Share of the relevance of what it may correct that a statement has at least."""

MAX_STEPS: Final = 6
"""Number of turns, the bot's among them, within which a statement is corrected by the next ones."""

SAME_THING: Final = 0.35
"""Cosine, less what all statements of the speaker have in common, from which two of them are on the
same. Of 40 corrections nine in ten had it, and one in a hundred neighbouring statements on
different things."""

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
        if one.evidence.kind is EvidenceKind.PASSAGE and one.evidence.role is Role.USER
    }
    least = MIN_SHARE_OF_BEST * max((one.relevance for one in candidates), default=0.0)
    floors: dict[int, float] = {}
    for (session, position), one in said.items():
        for step in range(1, MAX_STEPS + 1) if one.relevance >= least else ():
            after = said.get((session, position + step))
            if after is not None and _may_correct(after.evidence, one.evidence, said.values()):
                floor = SHARE_OF_CORRECTED * one.relevance
                floors[id(after)] = max(floor, floors.get(id(after), 0.0))
    return [
        replace(one, relevance=max(one.relevance, floors.get(id(one), 0.0))) for one in candidates
    ]


def _may_correct(after: Evidence, one: Evidence, said: Iterable[ScoredCandidate]) -> bool:
    """Whether a later statement is on the same as an earlier one, by the same, and no secret."""
    if one.speaker != after.speaker or holds_secret(after):
        return False
    if (one.terms & after.terms) - STOP_STEMS:
        return True
    pair = {one.key, after.key}
    others = [
        other.evidence.vector
        for other in said
        if other.evidence.speaker == one.speaker and other.evidence.key not in pair
        if other.evidence.vector is not None and not other.evidence.former
    ]
    if one.vector is None or after.vector is None or one.former or after.former:
        return False
    if len(others) < MIN_OTHERS:
        return False
    common = np.mean(others, axis=0)
    first, second = one.vector - common, after.vector - common
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) >= SAME_THING * lengths
