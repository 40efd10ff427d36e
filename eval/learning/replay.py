"""Learning replayed: a simulated bot answers the questions of some conversations, and what is learnt from it ranks the evidence of others.

Candidates are retrieved once; a replay ranks and packs them anew under the weights of the moment.
The bot answers with the gold answer if its block holds any of the evidence, and says that it does
not know otherwise; some replies are wrong, some make nothing of the block. The learner is told none
of this: it sees the block and the reply, as behind a real bot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.evidence import turns_delivered
from eval.learning.design import moved
from eval.retrieval import SHIPPED, Asked
from eval.studies.blocks import Packer, scored
from hotmem.block.packing import Packed
from hotmem.feedback.usage import detect_usage
from hotmem.feedback.weights import (
    LAYERS,
    STARTS,
    TrainingExample,
    clip,
    to_weights,
    update,
    weights_for_intent,
)
from hotmem.models import Encoder
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import rank
from hotmem.ranking.relevance import fitted_model
from hotmem.types import (
    NO_OFFSET,
    START_WEIGHTS,
    Intent,
    IntentOffset,
    ItemUse,
    Layer,
    LayerOutcome,
    LearningState,
    Weights,
)

BUDGET: Final = 1000
"""Tokens of a block."""

NOTHING_SAID: Final = 0.15
"""Share of replies that make nothing of the block."""

NOISES: Final = (0.0, 0.1, 0.3)
"""Shares of replies that give the answer to another question of the same conversation."""

SHIPPED_ONES: Final = "shipped"
BY_DESIGN: Final = "by design"
BEGINNINGS: Final[Mapping[str, Weights]] = {
    SHIPPED_ONES: START_WEIGHTS,
    BY_DESIGN: to_weights(STARTS),
    "even": Weights(0.6, 0.6, 0.6, 0.6),
    "inverted": Weights(0.4, 0.6, 0.8, 1.0),
}
"""Where replays begin; all users' prior begins there too.

A fitted model counts as it was fitted at the shipped weights, whatever numbers they are. Where
the layers' evidence is to count by the design's 1.0, 0.8, 0.6 and 0.4, the weights are these
times the shipped ones."""

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
    """A turn of the simulated bot.

    The question, and what it says if the block holds evidence, and if it does not.
    """

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
class Plan:
    """What one replay is to be.

    Attributes:
        rule: Which rule learns, by name.
        beginning: Where it begins, by name.
        noise: Share of wrong replies.
    """

    rule: str
    beginning: str
    noise: float


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a replay.

    Attributes:
        points: Evidence over the turns, the first before any.
        begun: Evidence delivered for each question of the conversations not learnt from, before the
            first turn.
        ended: The same after the last turn.
    """

    points: tuple[Point, ...]
    begun: tuple[float, ...]
    ended: tuple[float, ...]


@dataclass
class Ours:
    """The rule that ships, as it is kept for one user."""

    state: LearningState
    intents: dict[Intent, IntentOffset]

    @classmethod
    def at(cls, beginning: Weights) -> "Ours":
        """The rule before anything was learnt."""
        return cls(LearningState(shared=beginning, own=beginning, good=beginning), {})

    def weights(self, intent: Intent) -> Weights:
        """What ranks a question of this intent."""
        return weights_for_intent(self.state.own, self.intents.get(intent, NO_OFFSET))

    def told(self, intent: Intent, uses: Sequence[ItemUse], asked: Sequence[Layer]) -> None:
        """Learns from a reply."""
        lesson = TrainingExample.of(uses, self.weights(intent), asked)
        if lesson is not None:
            self.state = update(
                replace(self.state, intent=self.intents.get(intent, NO_OFFSET)), lesson
            )
            self.intents = (
                self.intents | {intent: self.state.intent} if self.state.precision else {}
            )


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


OURS: Final = "ours"
RULES: Final[Mapping[str, type[Ours] | type[Design]]] = {OURS: Ours, BY_DESIGN: Design}

PLANS: Final = tuple(
    Plan(rule, start, noise)
    for rule in RULES
    for start in BEGINNINGS
    for noise in (NOISES if rule == OURS else NOISES[:1])
)
"""Every replay of a dataset; the design's rule is replayed without noise alone."""


class Replay:
    """One dataset, replayed.

    Args:
        asked: What was retrieved for its questions, some of conversations held out.
        encoder: Encodes the replies.
        turns: Turns that are learnt from, at most.
        measured: Questions of the conversations held out that are measured on, at most.
    """

    def __init__(self, asked: Sequence[Asked], encoder: Encoder, turns: int, measured: int) -> None:
        self._encoder, self._packer, self._model = encoder, Packer(), fitted_model()
        ready = [
            Ready(one, candidate_features(one.found[SHIPPED].query, one.found[SHIPPED].candidates))
            for one in asked
            if scored(one)
        ]
        random = np.random.default_rng(SEED)
        taught = [one for one in ready if not one.asked.held_out]
        others = [one for one in ready if one.asked.held_out]
        self._taught = [taught[place] for place in random.permutation(len(taught))[:turns]]
        self._others = [
            others[place] for place in sorted(random.permutation(len(others))[:measured])
        ]
        self._known: dict[tuple[float, ...], tuple[float, ...]] = {}

    def replayed(self, plan: Plan) -> Replayed:
        """One replay."""
        learner = RULES[plan.rule].at(BEGINNINGS[plan.beginning])
        begun = self._evidence(learner.weights)
        points = [self._point(0, learner)]
        turns = len(self._taught)
        measured_at = {turns // 8, turns // 4, turns // 2, turns}
        for number, said in enumerate(self._said(plan.noise), 1):
            intent = said.ready.intent
            block = self._block(said.ready, learner.weights(intent))
            reply = said.knowing if self._delivered(said.ready, block) else said.unknowing
            uses = detect_usage(self._encoder, block.items, said.ready.asked.question.text, reply)
            reports = said.ready.asked.found[SHIPPED].reports
            learner.told(
                intent,
                uses,
                [report.layer for report in reports if report.outcome is LayerOutcome.ANSWERED],
            )
            if number in measured_at:
                points.append(self._point(number, learner))
        return Replayed(tuple(points), begun, self._evidence(learner.weights))

    def searched(self) -> Replayed:
        """The best fixed weights for the questions learnt from, found along one layer after the other: a replay of one point, as nothing learns.

        Of weights that are as good the first stay, the shipped ones before all.
        """
        best, most = np.ones(len(LAYERS)), self._taught_on(np.ones(len(LAYERS)))
        for layer in (*range(len(LAYERS)), *range(len(LAYERS))):
            for value in TRIED:
                tried = clip(np.where(np.arange(len(LAYERS)) == layer, value, best))
                delivered = most if np.array_equal(tried, best) else self._taught_on(tried)
                if delivered > most:
                    best, most = tried, delivered
        evidence = self._evidence(lambda _: to_weights(best))
        return Replayed((Point(0, fmean(evidence), to_weights(best)),), evidence, evidence)

    def _said(self, noise: float) -> Iterator[Said]:
        random = np.random.default_rng(SEED)
        for ready in self._taught:
            question, conversation = ready.asked.question, ready.asked.conversation
            others = [
                one.answer for one in conversation.questions if one.id != question.id and one.answer
            ]
            nothing, wrong, other = (
                random.random() < NOTHING_SAID,
                random.random() < noise,
                int(random.integers(max(len(others), 1))),
            )
            if nothing:
                yield Said(ready, "Okay. Is there anything else?", "Okay. Is there anything else?")
            elif wrong and others:
                yield Said(ready, f"It was {others[other]}.", f"It was {others[other]}.")
            else:
                yield Said(ready, f"It was {question.answer}.", "I don't know, sorry.")

    def _block(self, ready: Ready, given: Weights) -> Packed:
        found = ready.asked.found[SHIPPED]
        ranking = rank(found.query, found.candidates, ready.features, self._model, given, BUDGET)
        return self._packer.pack(found, deduplicate(ranking.candidates)[0], BUDGET)

    def _delivered(self, ready: Ready, block: Packed) -> float:
        return fmean(
            turns_delivered(ready.asked.question, ready.asked.conversation, block.items).values()
        )

    def _taught_on(self, theta: NDArray[np.float64]) -> float:
        """Mean evidence delivered for the questions learnt from."""
        given = to_weights(theta)
        return fmean(self._delivered(one, self._block(one, given)) for one in self._taught)

    def _evidence(self, given: Callable[[Intent], Weights]) -> tuple[float, ...]:
        """Evidence delivered for each question of the conversations not learnt from."""
        key = tuple(value for intent in Intent for value in given(intent).as_dict().values())
        if key not in self._known:
            self._known[key] = tuple(
                self._delivered(one, self._block(one, given(one.intent))) for one in self._others
            )
        return self._known[key]

    def _point(self, turns: int, learner: Ours | Design) -> Point:
        return Point(turns, fmean(self._evidence(learner.weights)), learner.weights(Intent.FACT))
