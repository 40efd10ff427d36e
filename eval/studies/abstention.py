"""Knowing that nothing is known.

Said of questions without an answer, against wrongly said of those that have one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from eval.plots import plotted
from eval.report import table
from eval.retrieval import SHIPPED, Asked
from eval.statistics import said_unknown
from eval.studies.blocks import judged
from hotmem.ranking.answerability import Answerability, answerability_features
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import propagate_relevance
from hotmem.ranking.relevance import fitted_model
from hotmem.retrieval.context import Retrieved

WRONGLY: Final = 0.05
"""Share of answerable questions of which it may be said wrongly."""

SAID: Final = {
    "nothing": (Answerability.NOTHING,),
    "or low marks": (Answerability.NOTHING, Answerability.DOUBTFUL),
}
"""What the shipped decision says when it does not know: that there is nothing, or, with it,
marks that are all low."""

FEW: Final = 50
"""Datasets with fewer questions without an answer are counted together."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One question.

    Attributes:
        abstain: Whether it has no answer.
        score: How probable it is that anything is known, 0 to 1.
        known: What the shipped decision makes of it.
    """

    abstain: bool
    score: float
    known: Answerability


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well questions with an answer are told from those without; there are both.

    Attributes:
        answerable: Those with an answer.
        unanswerable: Those without.
    """

    answerable: tuple[Decided, ...]
    unanswerable: tuple[Decided, ...]

    @property
    def scores(self) -> tuple[list[float], list[float]]:
        """The scores of the answerable and of the unanswerable."""
        return [one.score for one in self.answerable], [one.score for one in self.unanswerable]

    @property
    def auc(self) -> float:
        """Probability that an answerable question scores above an unanswerable one."""
        answerable, unanswerable = self.scores
        return float(
            roc_auc_score(
                [True] * len(answerable) + [False] * len(unanswerable), answerable + unanswerable
            )
        )

    @property
    def at_5(self) -> float:
        """Share of the unanswerable that are recognised where `WRONGLY` of the answerable are mistaken for them."""
        return said_unknown(*self.scores, WRONGLY) or 0.0

    @property
    def interval_at_5(self) -> tuple[float, float]:
        """Its 95 % interval (Wilson 1927), the threshold taken as given."""
        count = len(self.unanswerable)
        found = binomtest(round(self.at_5 * count), count).proportion_ci(0.95, "wilson")
        return float(found.low), float(found.high)

    def shipped(self, said: Sequence[Answerability]) -> tuple[float, float]:
        """Shares of the answerable and of the unanswerable of which the shipped decision says one of these."""
        wrongly, rightly = (
            [one.known in said for one in part] for part in (self.answerable, self.unanswerable)
        )
        return float(np.mean(wrongly)), float(np.mean(rightly))

    def curve(self) -> list[tuple[float, float]]:
        """Shares of the answerable and of the unanswerable below each threshold that parts two questions, from none to all."""
        answerable, unanswerable = map(np.array, self.scores)
        thresholds = (*np.unique((*answerable, *unanswerable)), np.inf)
        return [
            (float(np.mean(answerable < threshold)), float(np.mean(unanswerable < threshold)))
            for threshold in thresholds
        ]


def measure(asked: Mapping[str, Sequence[Asked]]) -> dict[str, Abstention]:
    """Held-out questions by dataset.

    Datasets with few unanswerable questions are counted together, those with none left out.

    Args:
        asked: What was retrieved for held-out questions, by dataset.
    """
    decided = {
        name: [_decided(one) for one in part if one.held_out] for name, part in asked.items()
    }
    counts = {name: sum(one.abstain for one in part) for name, part in decided.items()}
    few = [name for name, count in counts.items() if 0 < count < FEW]
    groups = {name: [name] for name, count in counts.items() if count >= FEW} | (
        {"+".join(few): few} if few else {}
    )
    return {
        group: parted([one for name in names for one in decided[name]])
        for group, names in groups.items()
    }


def parted(decided: Sequence[Decided]) -> Abstention:
    """The questions, parted by whether they have an answer."""
    return Abstention(
        tuple(one for one in decided if not one.abstain),
        tuple(one for one in decided if one.abstain),
    )


def show(found: Mapping[str, Abstention], console: Console) -> None:
    """Prints the share recognised at 5 % wrong, and both shares of what the shipped decision says."""
    result = table(
        "nothing known, said rightly / wrongly",
        "dataset",
        ("with", "without an answer", "rightly at 5 % wrongly", *SAID),
    )
    for name, one in found.items():
        low, high = one.interval_at_5
        shipped = (
            f"{rightly:.2f} / {wrongly:.2f}" for wrongly, rightly in map(one.shipped, SAID.values())
        )
        result.add_row(
            name,
            str(len(one.answerable)),
            str(len(one.unanswerable)),
            f"{one.at_5:.2f} ({low:.2f} to {high:.2f})",
            *shipped,
        )
    console.print(result)


def plot(found: Mapping[str, Abstention], file: Path) -> None:
    """Draws the curve of each dataset, and the shipped decision beside it."""
    with plotted(
        file,
        "nothing known",
        "wrongly said of answerable questions",
        "said of questions without an answer",
    ) as axes:
        axes.axvline(WRONGLY, color="grey", linestyle=":", label="5 % wrongly")
        for name, one in found.items():
            (line,) = axes.step(
                *zip(*one.curve(), strict=True), where="post", label=f"{name}, AUC {one.auc:.2f}"
            )
            for marker, said in zip("ov", SAID.values(), strict=True):
                axes.plot(*one.shipped(said), marker, color=line.get_color(), clip_on=False)
        for marker, point in zip("ov", SAID, strict=True):
            axes.plot([], [], marker, color="grey", label=f"shipped: {point}")


def figures(found: Mapping[str, Abstention]) -> dict[str, Any]:
    """The same as plain values, the curve among them."""
    return {
        "datasets": {
            name: {
                "answerable": len(one.answerable),
                "unanswerable": len(one.unanswerable),
                "auc": one.auc,
                "at_5": one.at_5,
                "interval_at_5": one.interval_at_5,
                "shipped": {
                    point: dict(zip(("wrongly", "rightly"), one.shipped(said), strict=True))
                    for point, said in SAID.items()
                },
                "curve": one.curve(),
            }
            for name, one in found.items()
        }
    }


def _decided(asked: Asked) -> Decided:
    found = asked.found[SHIPPED]
    seen = candidate_features(found.query, found.candidates)
    _, known = judged(found, seen, fitted_model())
    return Decided(asked.question.abstain, _score(found, seen), known)


def _score(found: Retrieved, seen: NDArray[np.float32]) -> float:
    """What the decision is made on; 0 where nothing was found."""
    if not found.candidates:
        return 0.0
    model = fitted_model()
    sources = [candidate.evidence.source for candidate in found.candidates]
    relevances = propagate_relevance(
        found.candidates, model.probabilities(seen, sources, found.profile.weights)
    )
    return model.answerable(answerability_features(seen, sources, relevances))
