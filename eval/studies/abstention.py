"""Knowing that nothing is known: said of questions without an answer, against wrongly said of those that have one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from eval.plots import plotted
from eval.report import table
from eval.retrieval import SHIPPED, Asked
from eval.statistics import said_unknown
from hotmem.context.features import features
from hotmem.context.judgement import inherited
from hotmem.context.knowing import DOUBTFUL_BELOW, NOTHING_BELOW, signs_of_knowing
from hotmem.context.relevance import RelevanceModel, fitted_model
from hotmem.recall import Retrieved

WRONGLY: Final = 0.05
"""Share of answerable questions of which it may be said wrongly."""

POINTS: Final[Mapping[str, float]] = {"nothing": NOTHING_BELOW, "or low marks": DOUBTFUL_BELOW[1]}
"""The shipped decisions for a long memory, by the probability below which they fall."""

FEW: Final = 50
"""Datasets with fewer questions without an answer are counted together."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well the score tells one sort of question from the other.

    Attributes:
        answerable: The score of each question that has an answer, 0 to 1.
        unanswerable: That of each that has none.
    """

    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]

    @property
    def auc(self) -> float:
        """Probability that an answerable question scores above an unanswerable one."""
        labels = [True] * len(self.answerable) + [False] * len(self.unanswerable)
        return float(roc_auc_score(labels, (*self.answerable, *self.unanswerable)))

    @property
    def at_5(self) -> float:
        """Share of the unanswerable that are recognised where `WRONGLY` of the answerable are mistaken for them."""
        return said_unknown(self.answerable, self.unanswerable, WRONGLY) or 0.0

    @property
    def interval_at_5(self) -> tuple[float, float]:
        """Its 95 % interval (Wilson 1927), the threshold taken as given."""
        count = len(self.unanswerable)
        found = binomtest(round(self.at_5 * count), count).proportion_ci(0.95, "wilson")
        return float(found.low), float(found.high)

    def below(self, threshold: float) -> tuple[float, float]:
        """Shares of the answerable and of the unanswerable that score below a threshold."""
        return float(np.mean(np.array(self.answerable) < threshold)), float(np.mean(np.array(self.unanswerable) < threshold))

    def curve(self) -> list[tuple[float, float]]:
        """Both shares for every threshold that parts two questions, from neither to all."""
        return [self.below(threshold) for threshold in (*sorted({*self.answerable, *self.unanswerable}), np.inf)]


def measure(asked: Mapping[str, Sequence[Asked]]) -> dict[str, Abstention]:
    """The scores of held-out questions by dataset; datasets with few unanswerable questions are counted together, those with none left out.

    Args:
        asked: What was retrieved for held-out questions, by dataset.
    """
    model = fitted_model()
    few = [name for name, part in asked.items() if 0 < _unanswerable(part) < FEW]
    groups = {name: [name] for name, part in asked.items() if _unanswerable(part) >= FEW} | ({"+".join(few): few} if few else {})
    scores = {name: [(one.question.abstain, knowing(one.found[SHIPPED], model)) for one in part if one.held_out] for name, part in asked.items()}
    return {group: _abstention([score for name in names for score in scores[name]]) for group, names in groups.items()}


def knowing(found: Retrieved, model: RelevanceModel) -> float:
    """How probable it is that anything is known, as a recall decides on it; 0 where nothing was found."""
    if not found.candidates:
        return 0.0
    seen = features(found.query, found.candidates)
    kinds = [candidate.evidence.kind for candidate in found.candidates]
    relevances = inherited(found.candidates, model.probabilities(seen, kinds, found.profile.weights))
    return model.known(signs_of_knowing(seen, kinds, relevances))


def show(found: Mapping[str, Abstention], console: Console) -> None:
    """Prints the share recognised at 5 % wrong, and both shares at the shipped points."""
    result = table("nothing known, said rightly / wrongly", "dataset", ("with", "without an answer", "rightly at 5 % wrongly", *POINTS))
    for name, one in found.items():
        low, high = one.interval_at_5
        shipped = (f"{rightly:.2f} / {wrongly:.2f}" for wrongly, rightly in map(one.below, POINTS.values()))
        result.add_row(name, str(len(one.answerable)), str(len(one.unanswerable)), f"{one.at_5:.2f} ({low:.2f} to {high:.2f})", *shipped)
    console.print(result)


def plot(found: Mapping[str, Abstention], file: Path) -> None:
    """Draws the curve of each dataset, and the shipped points on it."""
    with plotted(file, "nothing known", "wrongly said of answerable questions", "said of questions without an answer") as axes:
        axes.axvline(WRONGLY, color="grey", linestyle=":", label="5 % wrongly")
        for name, one in found.items():
            (line,) = axes.step(*zip(*one.curve(), strict=True), where="post", label=f"{name}, AUC {one.auc:.2f}")
            for marker, threshold in zip("ov", POINTS.values(), strict=True):
                axes.plot(*one.below(threshold), marker, color=line.get_color())
        for marker, point in zip("ov", POINTS, strict=True):
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
                "shipped": {point: dict(zip(("wrongly", "rightly"), one.below(threshold), strict=True)) for point, threshold in POINTS.items()},
                "curve": one.curve(),
            }
            for name, one in found.items()
        }
    }


def _unanswerable(asked: Sequence[Asked]) -> int:
    return sum(one.question.abstain for one in asked if one.held_out)


def _abstention(scores: Sequence[tuple[bool, float]]) -> Abstention:
    return Abstention(tuple(score for abstain, score in scores if not abstain), tuple(score for abstain, score in scores if abstain))
