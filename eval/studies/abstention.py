"""Abstention: unanswerable questions detected, against answerable ones wrongly rejected."""

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
from eval.retrieval import DEFAULT_LAYERS, RetrievedQuestion
from eval.statistics import detected_unanswerable
from eval.studies.blocks import judged
from hotmem.ranking.answerability import Answerability, answerability_features
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import propagate_relevance
from hotmem.ranking.relevance import fitted_model
from hotmem.retrieval.context import Retrieved

WRONGLY: Final = 0.05
"""Allowed share of answerable questions that are rejected."""

SAID: Final = {
    "nothing": (Answerability.NOTHING,),
    "or low marks": tuple(Answerability)[:-1],
}
"""Shipped decisions for rejection: nothing known, or that and items of low confidence only."""

FEW: Final = 50
"""Datasets with fewer unanswerable questions are pooled."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One question.

    Attributes:
        abstain: Whether it is unanswerable.
        score: Probability that the answer is known, 0 to 1.
        known: The shipped decision.
    """

    abstain: bool
    score: float
    known: Answerability


@dataclass(frozen=True, slots=True)
class Abstention:
    """Separation of answerable and unanswerable questions; there are both.

    Attributes:
        answerable: The answerable questions.
        unanswerable: The unanswerable questions.
    """

    answerable: tuple[Decided, ...]
    unanswerable: tuple[Decided, ...]

    @property
    def scores(self) -> tuple[list[float], list[float]]:
        """Return the scores of answerable and of unanswerable questions."""
        return [one.score for one in self.answerable], [one.score for one in self.unanswerable]

    @property
    def auc(self) -> float:
        """Return the probability that an answerable question scores above an unanswerable one."""
        answerable, unanswerable = self.scores
        return float(
            roc_auc_score(
                [True] * len(answerable) + [False] * len(unanswerable), answerable + unanswerable
            )
        )

    @property
    def at_5(self) -> float:
        """Return the share of unanswerable questions detected at `WRONGLY`."""
        return detected_unanswerable(*self.scores, WRONGLY) or 0.0

    @property
    def interval_at_5(self) -> tuple[float, float]:
        """Return its 95 % interval (Wilson 1927), with the threshold taken as given."""
        count = len(self.unanswerable)
        found = binomtest(round(self.at_5 * count), count).proportion_ci(0.95, "wilson")
        return float(found.low), float(found.high)

    def shipped(self, said: Sequence[Answerability]) -> tuple[float, float]:
        """Return the shares of answerable and unanswerable questions with these decisions."""
        wrongly, rightly = (
            [one.known in said for one in part] for part in (self.answerable, self.unanswerable)
        )
        return float(np.mean(wrongly)), float(np.mean(rightly))

    def curve(self) -> list[tuple[float, float]]:
        """Return the shares of both below each threshold, from none to all."""
        answerable, unanswerable = map(np.array, self.scores)
        thresholds = (*np.unique((*answerable, *unanswerable)), np.inf)
        return [
            (float(np.mean(answerable < threshold)), float(np.mean(unanswerable < threshold)))
            for threshold in thresholds
        ]


def measure(asked: Mapping[str, Sequence[RetrievedQuestion]]) -> dict[str, Abstention]:
    """Return held-out questions by dataset.

    Datasets with few unanswerable questions are pooled, those with none left out.

    Args:
        asked: Candidates for held-out questions, by dataset.
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
    """Split the questions by whether they are answerable."""
    return Abstention(
        tuple(one for one in decided if not one.abstain),
        tuple(one for one in decided if one.abstain),
    )


def show(found: Mapping[str, Abstention], console: Console) -> None:
    """Print the share detected at 5 % wrong rejections, and both shares of the shipped decision."""
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
    """Plot the curve of each dataset, with the shipped decision."""
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
    """Return the results and curves as plain values."""
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


def _decided(asked: RetrievedQuestion) -> Decided:
    found = asked.found[DEFAULT_LAYERS]
    seen = candidate_features(found.query, found.candidates)
    _, known = judged(found, seen, fitted_model())
    return Decided(asked.question.abstain, _score(found, seen), known)


def _score(found: Retrieved, seen: NDArray[np.float32]) -> float:
    """Return the score of the decision; 0 without candidates."""
    if not found.candidates:
        return 0.0
    model = fitted_model()
    sources = [candidate.evidence.source for candidate in found.candidates]
    relevances = propagate_relevance(
        found.candidates, model.probabilities(seen, sources, found.profile.weights)
    )
    return model.answerable(answerability_features(seen, sources, relevances))
