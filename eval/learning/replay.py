"""Replayed learning: simulated replies train the weights, which rank other conversations.

Candidates are retrieved once; a replay ranks and packs them under the current weights. The
simulated bot gives the gold answer if its block contains any evidence, and otherwise says that it
does not know; some replies are wrong, and some ignore the block. The learner sees only block and
reply, as behind a real bot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.blocks import BUDGET, has_evidence, packed
from eval.evidence import turns_delivered
from eval.retrieval import RetrievedQuestion
from hotmem.block.packing import Packed
from hotmem.block.quotes import quotes
from hotmem.feedback.learning import (
    TrainingExample,
    update,
    weights_for_intent,
)
from hotmem.feedback.usage import detect_usage
from hotmem.models import Encoder
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

NOTHING_SAID: Final = 0.15
"""Share of replies that ignore the block."""

NOISES: Final = (0.0, 0.1, 0.3)
"""Shares of replies that answer another question of the same conversation."""

SHIPPED_ONES: Final = "shipped"
BEGINNINGS: Final[Mapping[str, Weights]] = {
    SHIPPED_ONES: START_WEIGHTS,
    "even": Weights(0.6, 0.6, 0.6, 0.6),
    "inverted": Weights(0.4, 0.6, 0.8, 1.0),
}
"""Starting points of replays; the prior of all users starts there too."""

SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Ready:
    """A question with its candidates, ready for ranking."""

    asked: RetrievedQuestion
    features: NDArray[np.float32]

    @property
    def intent(self) -> Intent:
        """Intent of the question."""
        return self.asked.found.query.analysis.intent


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of the simulated bot: the question, and the replies with and without evidence."""

    ready: Ready
    knowing: str
    unknowing: str


@dataclass(frozen=True, slots=True)
class Point:
    """Evidence on the held-out conversations after a number of turns, with the weights."""

    turns: int
    delivered: float
    weights: Weights


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a replay.

    Attributes:
        beginning: Name of the starting point.
        noise: Share of wrong replies.
    """

    beginning: str
    noise: float


@dataclass(frozen=True, slots=True)
class Replayed:
    """Results of a replay.

    Attributes:
        points: Evidence over turns, starting before any.
        begun: Evidence for each held-out question before the first turn.
        ended: The same after the last turn.
    """

    points: tuple[Point, ...]
    begun: tuple[float, ...]
    ended: tuple[float, ...]


@dataclass
class Learner:
    """The shipped rule, for one user."""

    state: LearningState
    intents: dict[Intent, IntentOffset]

    @classmethod
    def at(cls, beginning: Weights) -> "Learner":
        """Return the untrained rule."""
        return cls(LearningState(own=beginning, good=beginning), {})

    def weights(self, intent: Intent) -> Weights:
        """Return the weights for an intent."""
        return weights_for_intent(self.state.own, self.intents.get(intent, NO_OFFSET))

    def told(self, intent: Intent, uses: Sequence[ItemUse], asked: Sequence[Layer]) -> None:
        """Learn from a reply."""
        lesson = TrainingExample.of(uses, self.weights(intent), asked)
        if lesson is not None:
            self.state = update(
                replace(self.state, intent=self.intents.get(intent, NO_OFFSET)), lesson
            )
            self.intents = (
                self.intents | {intent: self.state.intent} if self.state.precision else {}
            )


PLANS: Final = tuple(Plan(start, noise) for start in BEGINNINGS for noise in NOISES)
"""All replays of a dataset."""


class Replay:
    """Replays of one dataset.

    Args:
        asked: Candidates of its questions, some held out.
        encoder: Encodes the replies.
        turns: Maximum turns to learn from.
        measured: Maximum held-out questions.
    """

    def __init__(
        self, asked: Sequence[RetrievedQuestion], encoder: Encoder, turns: int, measured: int
    ) -> None:
        self._encoder, self._model = encoder, fitted_model()
        ready = [
            Ready(one, candidate_features(one.found.query, one.found.candidates))
            for one in asked
            if has_evidence(one.question)
        ]
        random = np.random.default_rng(SEED)
        taught = [one for one in ready if not one.asked.held_out and one.asked.question.answer]
        others = [one for one in ready if one.asked.held_out]
        self._taught = [taught[place] for place in random.permutation(len(taught))[:turns]]
        self._others = [
            others[place] for place in sorted(random.permutation(len(others))[:measured])
        ]
        self._known: dict[tuple[float, ...], tuple[float, ...]] = {}

    def replayed(self, plan: Plan) -> Replayed:
        """Run one replay."""
        learner = Learner.at(BEGINNINGS[plan.beginning])
        begun = self._evidence(learner.weights)
        points = [self._point(0, learner)]
        turns = len(self._taught)
        measured_at = {turns // 8, turns // 4, turns // 2, turns}
        for number, said in enumerate(self._said(plan.noise), 1):
            intent = said.ready.intent
            block = self._block(said.ready, learner.weights(intent))
            reply = said.knowing if self._delivered(said.ready, block) else said.unknowing
            uses = detect_usage(self._encoder, block.items, said.ready.asked.question.text, reply)
            reports = said.ready.asked.found.reports
            learner.told(
                intent,
                uses,
                [report.layer for report in reports if report.outcome is LayerOutcome.ANSWERED],
            )
            if number in measured_at:
                points.append(self._point(number, learner))
        return Replayed(tuple(points), begun, self._evidence(learner.weights))

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
                yield Said(ready, spoken(others[other]), spoken(others[other]))
            else:
                yield Said(ready, spoken(question.answer), "I don't know, sorry.")

    def _block(self, ready: Ready, given: Weights) -> Packed:
        found = ready.asked.found
        ranking = rank(found.query, found.candidates, ready.features, self._model, given, BUDGET)
        return packed(found, quotes(ranking.candidates)[0])

    def _delivered(self, ready: Ready, block: Packed) -> float:
        return fmean(
            turns_delivered(ready.asked.question, ready.asked.conversation, block.items).values()
        )

    def _evidence(self, given: Callable[[Intent], Weights]) -> tuple[float, ...]:
        """Return the evidence for each held-out question."""
        key = tuple(value for intent in Intent for value in given(intent).as_dict().values())
        if key not in self._known:
            self._known[key] = tuple(
                self._delivered(one, self._block(one, given(one.intent))) for one in self._others
            )
        return self._known[key]

    def _point(self, turns: int, learner: Learner) -> Point:
        return Point(turns, fmean(self._evidence(learner.weights)), learner.weights(Intent.FACT))


def spoken(answer: str) -> str:
    """A gold answer as a bot would say it; one that is a sentence stays as it is."""
    return answer if answer.endswith((".", "!", "?")) else f"It was {answer}."
