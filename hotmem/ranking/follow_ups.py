"""Follow-ups: what a user says next about the same thing stands with a relevant statement.

"The boiler man comes on Tuesday", then "not Tuesday, Thursday": the second answers the same
question. A shared word shows it, or how the very next turn begins and that it is not far from it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.stemming import STOP_STEMS
from hotmem.types import Evidence, Role
from hotmem.understanding.private_statements import holds_secret
from hotmem.understanding.query.cues import DIRECT_QUESTION

MIN_SHARE_OF_BEST: Final = 0.9
"""Share of the best statement's relevance from which corrections of a statement are looked for."""

SHARE_OF_CORRECTED: Final = 0.2
"""Share of the relevance of what it may correct that a statement has at least."""

MAX_STEPS: Final = 6
"""Number of turns, the bot's among them, within which a statement is corrected by the next ones."""

NEXT: Final = 2
"""Number of turns within which one that begins as a correction corrects the one before it."""

_OPENING: Final = re.compile(
    r"\W*(?:(?:oh|ah|well|wait|uh|um|hang on|hold on)\W+)*"
    r"(?:no|sorry|actually|i mean|i meant|rather|make (?:that|it)|correction|scratch that)\b",
    re.IGNORECASE,
)
"""How a correction begins."""

NEAR: Final = 0.22
"""Cosine from which such a turn is about what was said before. Of 18 corrections 14 had it, and of
18 turns that only begin so one."""


def with_follow_ups(candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
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
    least = MIN_SHARE_OF_BEST * max((one.relevance for one in candidates), default=0.0)
    floors: defaultdict[int, float] = defaultdict(float)
    for (session, position), one in said.items():
        for step in range(1, MAX_STEPS + 1) if one.relevance >= least else ():
            after = said.get((session, position + step))
            if after is not None and _may_correct(after.evidence, one.evidence, step):
                floors[id(after)] = max(floors[id(after)], SHARE_OF_CORRECTED * one.relevance)
    return [
        replace(one, relevance=floor)
        if (floor := floors.get(id(one), 0.0)) > one.relevance
        else one
        for one in candidates
    ]


def _may_correct(after: Evidence, one: Evidence, step: int) -> bool:
    """Whether a later statement of the same speaker is about the same thing, and no secret.

    Args:
        after: The later statement; a question states nothing.
        one: The earlier one.
        step: Number of turns between them.
    """
    if one.speaker != after.speaker or holds_secret(after) or DIRECT_QUESTION.search(after.text):
        return False
    if (one.terms & after.terms) - STOP_STEMS:
        return True
    opens = step <= NEXT and not after.after_question and _OPENING.match(after.text) is not None
    if not opens or one.vector is None or after.vector is None or one.former != after.former:
        return False
    return float(one.vector @ after.vector) >= NEAR
