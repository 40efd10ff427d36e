"""Whether two memories say the same.

A logistic model over what they share and where they differ, from their texts and one cosine.

Cosines alone cannot tell. "I owe Paul fifty euros" and "Paul owes me fifty euros" are nearer to
each other than most paraphrases are; what tells is what the one has and the other has not: a word
that nothing in the other is like, another person, figure or name, another time, a "not". The
coefficients are fitted by `python -m eval tools`, none against its sense: a difference never makes
two statements more alike. Left free, they take rewording itself for a proof, since those who write
pairs by hand reword what is the same and keep the words where one thing differs. So bound, how well
the single word pieces match adds nothing, and nothing of the one that is kept need be read or
stored but its text.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.consolidation.equivalence.differences import differences
from hotmem.consolidation.equivalence.features import wording

MERGES_FROM: Final = 0.9
"""Probability from which a memory that is stored again confirms the old one. In cross-validation
on the taught half 36 in 100 of those that say the same are so merged, and none that does not; of
the half held back 32 in 100, and 3 in 100 of the merges are wrong."""

SUGGESTED_FROM: Final = 0.2
"""Probability from which a merge is suggested. In cross-validation 89 in 100 of those that say
the same are found, of the half held back 86; a third of what is merged or suggested is not the
same, which an answer settles."""

IN_DOUBT: Final = 0.89
"""What differs in anything is at most so likely the same: it is suggested, never merged, however
near it is."""

FOR: Final = ("cosine", "shared", "figures_shared", "agree")
"""Signs that two statements say the same, the more the likelier."""

AGAINST: Final = (
    "replaced", "added", "more_added", "dropped", "but", "another", "turned", "figures_added", "names", "rivals", "doing", "change",
)  # fmt: skip
"""Signs that they do not."""

SIGNS: Final = FOR + AGAINST
"""What the model looks at, in order; "agree" is that nothing differs, "but" that something other
than the content does."""

_CHANGE: Final = re.compile(
    r"\b(?:now|moved|changed|instead|renamed|switched|new|extended|closed|cancelled|any ?more|from now|again|sold|replaced|postponed|became)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StatementPair:
    """A statement that is kept, another, and the cosine of their meanings."""

    one: str
    other: str
    cosine: float


def same(sayings: StatementPair) -> float:
    """Probability, 0 to 1, that both say the same, so that nothing is lost if only one is kept.

    1 if they are the same words.
    """
    if _bare(sayings.one) == _bare(sayings.other):
        return 1.0
    intercept, coefficients = fitted()
    seen = signs(sayings)
    found = float(0.5 * (1 + np.tanh((intercept + np.vecdot(seen, coefficients)) / 2)))
    return found if seen[SIGNS.index("agree")] else min(found, IN_DOUBT)


def substituted(one: str, other: str) -> bool:
    """Whether two statements have the same words in the same order but for one that means something else: "oat milk", "soy milk".

    Such a pair differs in a value. A merge of the two would lose one of them.
    """
    words, others = _bare(one), _bare(other)
    differ = sum(word != replaced for word, replaced in zip(words, others, strict=False))
    found = differences(wording(one), wording(other))
    return (
        len(words) == len(others)
        and differ == 1
        and bool(found.dropped or found.added or found.marks)
    )


def signs(sayings: StatementPair) -> NDArray[np.float64]:
    """What the model sees of a pair, float64 (len(SIGNS),)."""
    found = differences(wording(sayings.one), wording(sayings.other))
    seen = {
        "cosine": sayings.cosine,
        "shared": min(found.shared, 5),
        "figures_shared": found.figures_shared > 0,
        "agree": not (found.dropped or found.added or found.marks),
        "replaced": found.dropped == found.added == 1,
        "added": found.added > 0 and not found.dropped,
        "more_added": min(found.added, 4),
        "dropped": found.dropped > 0 and not found.added,
        "but": 0 if found.dropped or found.added else min(found.marks, 2),
        "another": found.people and found.speaker,
        "turned": found.turned,
        "figures_added": min(found.figures_added, 2),
        "names": min(found.names, 2),
        "rivals": min(found.rivals, 2),
        "doing": found.doing,
        "change": bool(_CHANGE.search(sayings.other)) and not _CHANGE.search(sayings.one),
    }
    return np.array([float(seen[name]) for name in SIGNS])


def _bare(text: str) -> list[str]:
    """Its words as they are compared letter by letter; a "my" is not a "her"."""
    return text.casefold().strip(" .,!?;:'\"").split()


@cache
def fitted() -> tuple[float, NDArray[np.float64]]:
    """The intercept, and the coefficients in the order of `SIGNS`, float64 (len(SIGNS),)."""
    data = json.loads(
        files("hotmem.consolidation.equivalence").joinpath("model.json").read_text("utf-8")
    )
    return float(data["intercept"]), np.array([data[name] for name in SIGNS])
