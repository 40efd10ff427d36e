"""Learning replayed: a simulated bot answers the questions of some conversations, and what is learnt from it ranks the evidence of others.

Candidates are retrieved once; a replay ranks and packs them anew under the weights of the moment. The bot answers with the gold answer if its block
holds any of the evidence, and says that it does not know otherwise; some replies are wrong, some make nothing of the block. The learner is told none
of this: it sees the block and the reply, as behind a real bot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from eval.evidence import score
from eval.learning.design import moved
from eval.plots import curves
from eval.report import interval, share, table
from eval.retrieval import SHIPPED, Asked
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import Packer, scored
from hotmem.context.features import features
from hotmem.context.judgement import distinct, judge
from hotmem.context.packing import Packed
from hotmem.context.relevance import fitted_model
from hotmem.learning.usage import detect
from hotmem.learning.weights import LAYERS, STARTS, Lesson, bounded, for_intent, learnt, weights
from hotmem.models import Encoder
from hotmem.types import START_WEIGHTS, UNMOVED, Intent, ItemUse, Layer, LayerOutcome, Learnt, Moved, Weights

BUDGET: Final = 1000
"""Tokens of a block."""

NOTHING_SAID: Final = 0.15
"""Share of replies that make nothing of the block."""

NOISES: Final = (0.0, 0.1, 0.3)
"""Shares of replies that give the answer to another question of the same conversation."""

BEGINNINGS: Final[Mapping[str, Weights]] = {
    "as shipped": START_WEIGHTS,
    "even": Weights(0.6, 0.6, 0.6, 0.6),
    "inverted": Weights(0.4, 0.6, 0.8, 1.0),
}
"""Where replays begin; all users' prior begins there too."""

RATE: Final = 0.1
"""Step of the design's rule (the design's)."""

TRIED: Final = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""Weights over their start weights that the search tries for one layer after the other, twice."""

SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Ready:
    """A question with all that was found for it, ready to be ranked."""

    asked: Asked
    features: NDArray[np.float32]

    @property
    def intent(self) -> Intent:
        """What the question is after."""
        return self.asked.found[SHIPPED].query.analysis.intent


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of the simulated bot: the question, and what it says if the block holds evidence, and if it does not."""

    ready: Ready
    knowing: str
    unknowing: str


@dataclass(frozen=True, slots=True)
class Point:
    """Evidence delivered on the conversations not learnt from, after so many turns, with the weights by then."""

    turns: int
    delivered: float
    weights: Weights


@dataclass(frozen=True, slots=True)
class Curve:
    """One replay.

    Attributes:
        dataset: The dataset.
        rule: Which rule learnt.
        beginning: Where it began, by name.
        noise: Share of wrong replies.
        points: Evidence over the turns.
        gain: Evidence at the end less that under the shipped weights, over the same questions.
    """

    dataset: str
    rule: str
    beginning: str
    noise: float
    points: tuple[Point, ...]
    gain: Estimate


@dataclass(frozen=True, slots=True)
class Best:
    """The best fixed weights found by search on the conversations learnt from, and their gain on the others over the shipped ones."""

    dataset: str
    weights: Weights
    gain: Estimate


@dataclass
class Ours:
    """The rule that ships, as it is kept for one user."""

    state: Learnt
    intents: dict[Intent, Moved]

    @classmethod
    def at(cls, beginning: Weights) -> "Ours":
        """The rule before anything was learnt."""
        return cls(Learnt(shared=beginning, own=beginning, good=beginning), {})

    def weights(self, intent: Intent) -> Weights:
        """What ranks a question of this intent."""
        return for_intent(self.state.own, self.intents.get(intent, UNMOVED))

    def told(self, intent: Intent, uses: Sequence[ItemUse], asked: Sequence[Layer]) -> None:
        """Learns from a reply."""
        lesson = Lesson.of(uses, self.weights(intent), asked)
        if lesson is not None:
            self.state = learnt(replace(self.state, intent=self.intents.get(intent, UNMOVED)), lesson)
            self.intents = self.intents | {intent: self.state.intent} if self.state.seen else {}


@dataclass
class Design:
    """The design's rule."""

    state: Weights

    @classmethod
    def at(cls, beginning: Weights) -> "Design":
        """The rule before anything was learnt."""
        return cls(beginning)

    def weights(self, _: Intent) -> Weights:
        """What ranks a question of any intent."""
        return self.state

    def told(self, _: Intent, uses: Sequence[ItemUse], asked: Sequence[Layer]) -> None:
        """Learns from a reply."""
        self.state = moved(self.state, uses, asked, RATE)


RULES: Final[Mapping[str, type[Ours] | type[Design]]] = {"ours": Ours, "the design's": Design}


class Replay:
    """One dataset, replayed.

    Args:
        name: The dataset.
        asked: What was retrieved for its questions.
        encoder: Encodes the replies.
        turns: Turns that are learnt from, at most.
        measured: Questions of the other conversations that are measured on, at most.
    """

    def __init__(self, name: str, asked: Sequence[Asked], encoder: Encoder, turns: int, measured: int) -> None:
        self.name = name
        self._encoder, self._packer, self._model = encoder, Packer(), fitted_model()
        ready = [Ready(one, features(one.found[SHIPPED].query, one.found[SHIPPED].candidates)) for one in asked if scored(one)]
        random = np.random.default_rng(SEED)
        taught = [one for one in ready if not one.asked.held_out]
        others = [one for one in ready if one.asked.held_out]
        self._taught = [taught[place] for place in random.permutation(len(taught))[:turns]]
        self._others = [others[place] for place in sorted(random.permutation(len(others))[:measured])]
        self._known: dict[tuple[float, ...], list[float]] = {}

    def curve(self, rule: str, beginning: str, noise: float, measured_at: Sequence[int]) -> Curve:
        """One replay of a rule."""
        learner = RULES[rule].at(BEGINNINGS[beginning])
        points = [self._point(0, learner)]
        for number, said in enumerate(self._said(noise), 1):
            intent = said.ready.intent
            block = self._block(said.ready, learner.weights(intent))
            reply = said.knowing if self._delivered(said.ready, block) else said.unknowing
            uses = detect(self._encoder, block.items, said.ready.asked.question.text, reply)
            reports = said.ready.asked.found[SHIPPED].reports
            learner.told(intent, uses, [report.layer for report in reports if report.outcome is LayerOutcome.ANSWERED])
            if number in measured_at or number == len(self._taught):
                points.append(self._point(number, learner))
        gain = paired_difference(self._evidence(learner.weights), self._evidence(lambda _: START_WEIGHTS))
        return Curve(self.name, rule, beginning, noise, tuple(points), gain)

    def best(self) -> Best:
        """The best fixed weights for the questions learnt from, by a search along one layer after the other."""
        theta = np.ones(len(LAYERS))
        for layer in (*range(len(LAYERS)), *range(len(LAYERS))):
            tried = [bounded(np.where(np.arange(len(LAYERS)) == layer, value, theta)) for value in TRIED]
            theta = max(tried, key=lambda one: self._mean(self._taught, weights(one)))
        gain = paired_difference(self._evidence(lambda _: weights(theta)), self._evidence(lambda _: START_WEIGHTS))
        return Best(self.name, weights(theta), gain)

    def _said(self, noise: float) -> Iterator[Said]:
        random = np.random.default_rng(SEED)
        for ready in self._taught:
            question, conversation = ready.asked.question, ready.asked.conversation
            others = [one.answer for one in conversation.questions if one.id != question.id and one.answer]
            nothing, wrong, other = random.random() < NOTHING_SAID, random.random() < noise, int(random.integers(max(len(others), 1)))
            if nothing:
                yield Said(ready, "Okay. Is there anything else?", "Okay. Is there anything else?")
            elif wrong and others:
                yield Said(ready, f"It was {others[other]}.", f"It was {others[other]}.")
            else:
                yield Said(ready, f"It was {question.answer}.", "I don't know, sorry.")

    def _block(self, ready: Ready, given: Weights) -> Packed:
        found = ready.asked.found[SHIPPED]
        judged, _ = judge(found.query, found.candidates, ready.features, self._model, given, BUDGET)
        return self._packer.pack(found, distinct(judged)[0], BUDGET)

    def _delivered(self, ready: Ready, block: Packed) -> float:
        return score(ready.asked.question, ready.asked.conversation, block.text, block.items).delivered or 0.0

    def _mean(self, questions: Sequence[Ready], given: Weights) -> float:
        return fmean(self._delivered(one, self._block(one, given)) for one in questions)

    def _evidence(self, given: Callable[[Intent], Weights]) -> list[float]:
        """Evidence delivered for each question of the conversations not learnt from."""
        key = tuple(value for intent in Intent for value in given(intent).as_dict().values())
        if key not in self._known:
            self._known[key] = [self._delivered(one, self._block(one, given(one.intent))) for one in self._others]
        return self._known[key]

    def _point(self, turns: int, learner: Ours | Design) -> Point:
        return Point(turns, fmean(self._evidence(learner.weights)), learner.weights(Intent.FACT))


def measure(asked: Mapping[str, Sequence[Asked]], encoder: Encoder, turns: int, questions: int, console: Console) -> tuple[list[Curve], list[Best]]:
    """The curves of both rules, and the best fixed weights of each dataset. The design's rule is replayed without noise alone.

    Args:
        asked: What was retrieved, by dataset.
        encoder: Encodes the replies.
        turns: Turns learnt from, at most.
        questions: Questions measured on, at most.
        console: Where the progress goes.
    """
    found, best = [], []
    for name, part in asked.items():
        replay = Replay(name, part, encoder, turns, questions)
        runs = [(rule, start, noise) for rule in RULES for start in BEGINNINGS for noise in (NOISES if rule == "ours" else NOISES[:1])]
        for rule, start, noise in track(runs, name, console=console):
            found.append(replay.curve(rule, start, noise, (turns // 8, turns // 4, turns // 2, turns)))
        best.append(replay.best())
    return found, best


def show(found: Sequence[Curve], best: Sequence[Best], console: Console) -> None:
    """Prints each curve, its end beside the shipped weights and its lowest point, and what the best fixed weights gain."""
    result = table(
        "evidence on conversations not learnt from", "replay", ("turns: evidence", "end − shipped", "lowest − begun", "weights at the end")
    )
    for curve in found:
        points = "  ".join(f"{point.turns}: {share(point.delivered)}" for point in curve.points)
        lowest = min(point.delivered for point in curve.points) - curve.points[0].delivered
        at_end = " ".join(f"{value:.2f}" for value in curve.points[-1].weights.as_dict().values())
        name = f"{curve.dataset}, {curve.rule}, {curve.beginning}, {curve.noise:.0%} wrong"
        result.add_row(name, points, interval(curve.gain), f"{100 * lowest:+.1f}", at_end)
    console.print(result)
    for one in best:
        over = ", ".join(f"{layer} {value / start:.2f}" for (layer, value), start in zip(one.weights.as_dict().items(), STARTS, strict=True))
        console.print(f"{one.dataset}: best fixed weights over the shipped ones: {over}; {interval(one.gain)} points on the other conversations")


def plot(found: Sequence[Curve], folder: Path) -> list[Path]:
    """Learning curves as PNG, one file a dataset and beginning; returns the files."""
    files = []
    for dataset in dict.fromkeys(curve.dataset for curve in found):
        for beginning in BEGINNINGS:
            chosen = [curve for curve in found if (curve.dataset, curve.beginning) == (dataset, beginning)]
            file = folder / f"learning-{dataset}-{beginning.replace(' ', '-')}.png"
            lines = {f"{curve.rule}, {curve.noise:.0%} wrong": [(point.turns, point.delivered) for point in curve.points] for curve in chosen}
            curves(file, f"{dataset}, weights {beginning}", "turns learnt from", "evidence delivered elsewhere", lines)
            files.append(file)
    return files


def figures(found: Sequence[Curve], best: Sequence[Best]) -> dict[str, Any]:
    """The same as plain values."""
    return {"curves": [asdict(curve) for curve in found], "best": [asdict(one) for one in best]}
