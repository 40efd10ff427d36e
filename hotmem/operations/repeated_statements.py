"""Statements made in several sessions in nearly the same words, as one statement each."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.operations.contextual_results import Occurrence, RepeatedStatement
from hotmem.types import Evidence, Role

RECURRENCE: Final = re.compile(
    r"\b(?:every time|each time|any time|whenever|as soon as|always|usually|again|same)\b",
    re.IGNORECASE,
)
"""Words of a statement of what happens again and again."""

RECURRING_COSINE: Final = 0.38
"""Cosine from which two statements of what recurs are the same: "every time the token expires,
everyone is logged out", "as soon as the credentials time out, nobody can stay in"
(`python -m eval contextual`)."""

EQUAL_COSINE: Final = 0.85
"""Cosine from which any two statements are the same: nearly the same words."""

_COURTESY: Final = re.compile(r"\b(?:thanks?|bye|welcome)\b", re.IGNORECASE)
"""What many sessions share without meaning anything by it."""

MIN_SESSIONS: Final = 2
"""Number of sessions in which a statement must have been made."""

MIN_TERMS: Final = 3
"""Number of distinct word stems of a statement: shorter ones are courtesies."""


def find_repeated(passages: Sequence[Evidence]) -> tuple[RepeatedStatement, ...]:
    """Find statements that were made in several sessions.

    Each is represented by the wording that is nearly the same as in most sessions. A passage
    belongs to one statement at most.

    Args:
        passages: Passages of sessions on one theme.

    Returns:
        The statements, made in the most sessions first.
    """
    stated = [one for one in passages if _is_statement(one)]
    if not stated:
        return ()
    vectors = np.stack([one.vector for one in stated if one.vector is not None])
    recurring = np.array([bool(RECURRENCE.search(one.text)) for one in stated])
    limits = np.where(recurring & recurring[:, None], RECURRING_COSINE, EQUAL_COSINE)
    cosines = matmul(vectors, vectors.T)
    same = cosines >= limits
    np.fill_diagonal(same, val=True)
    left = np.ones(len(stated), dtype=bool)
    found: list[RepeatedStatement] = []
    while True:
        groups = [
            _nearest_of_each_session(stated, np.flatnonzero(same[row] & left), cosines[row])
            if left[row]
            else []
            for row in range(len(stated))
        ]
        centre = max(range(len(groups)), key=lambda row: len(groups[row]))
        if len(groups[centre]) < MIN_SESSIONS:
            return tuple(found)
        said = (
            Occurrence(one.session_id, one.turn_ids[0], one.text, one.said_at)
            for one in groups[centre]
        )
        found.append(RepeatedStatement(stated[centre].text, tuple(said)))
        left &= ~same[centre]


def _is_statement(one: Evidence) -> bool:
    """Whether a passage is a statement of the user's with an embedding of the present encoder."""
    return (
        one.role is Role.USER
        and one.vector is not None
        and not one.former
        and len(one.terms) >= MIN_TERMS
        and not one.text.rstrip().endswith("?")
        and not _COURTESY.search(one.text)
    )


def _nearest_of_each_session(
    stated: Sequence[Evidence], rows: NDArray[np.intp], cosines: NDArray[np.float32]
) -> list[Evidence]:
    """Of the statements in these rows the nearest in each session, oldest first."""
    by_session: dict[int, Evidence] = {}
    for row in sorted(rows, key=lambda row: -cosines[row]):
        by_session.setdefault(stated[row].session, stated[row])
    return sorted(by_session.values(), key=lambda one: one.said_at)
