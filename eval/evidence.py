"""The metric: does a block really hold the words of the turns that answer?

A turn is delivered when one item that names its id holds at least `SHARE` of the turn's content
words, or `ENOUGH` of them. A bare id, and an item that lists more than `MOST_IDS` ids, earn
nothing. A question without known evidence has no score, which is not zero.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Protocol

from eval.datasets.base import Conversation, Question
from eval.words import content_words, words

SHARE: Final = 0.6
"""Share of a turn's content words that one item must hold."""

ENOUGH: Final = 15
"""Content words of a long turn that are enough."""

MOST_IDS: Final = 8
"""Turn ids that one item may list."""

SHORT_ANSWER: Final = 10
"""Content words at most of an answer that is looked for literally."""

FIRST_SESSIONS: Final = 5
"""Sessions counted in the session metric."""


class Shown(Protocol):
    """An item of a block as the metric sees it; `hotmem.Item` is one."""

    @property
    def text(self) -> str:
        """The words shown."""

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns it claims to hold."""

    @property
    def session_id(self) -> str:
        """The session it comes from."""

    @property
    def relevance(self) -> float:
        """Larger is better."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a block delivers for one question. None means not scored.

    Attributes:
        delivered: Share of the evidence turns delivered, 0 to 1.
        all: Whether every evidence turn is delivered, 0 or 1.
        answer: Share of a short answer's content words in the block, 0 to 1.
        sessions: Whether every evidence session is among the first five of the items by relevance,
            0 or 1.
    """

    delivered: float | None
    all: float | None
    answer: float | None
    sessions: float | None


def holds(shown: str, turn: str) -> bool:
    """Whether a text shown holds enough of a turn's words.

    A turn of stop words alone is compared by all its words.
    """
    wanted = content_words(turn) or frozenset(words(turn))
    held = len(wanted.intersection(words(shown)))
    return held > 0 and (held >= SHARE * len(wanted) or held >= ENOUGH)


def delivered(turn_id: str, turn: str, items: Iterable[Shown]) -> bool:
    """Whether one item names the turn and holds enough of its words."""
    return any(
        turn_id in item.turn_ids and len(set(item.turn_ids)) <= MOST_IDS and holds(item.text, turn)
        for item in items
    )


def answer_share(answer: str, block: str) -> float | None:
    """Share of the answer's content words that stand in the block.

    None if the answer has none or is not short.
    """
    wanted = content_words(answer)
    return (
        len(wanted.intersection(words(block))) / len(wanted)
        if 0 < len(wanted) <= SHORT_ANSWER
        else None
    )


def first_sessions(items: Iterable[Shown]) -> tuple[str, ...]:
    """The first sessions of the items, most relevant first, each once."""
    ranked = sorted(items, key=lambda item: -item.relevance)
    return tuple(dict.fromkeys(item.session_id for item in ranked))[:FIRST_SESSIONS]


def turns_delivered(
    question: Question, conversation: Conversation, items: Sequence[Shown]
) -> dict[str, bool]:
    """Whether each evidence turn of the question is delivered, by its id."""
    return {
        turn.id: delivered(turn.id, turn.text, items)
        for turn in conversation.turns
        if turn.id in question.evidence
    }


def score(
    question: Question, conversation: Conversation, block: str, items: Sequence[Shown]
) -> Score:
    """What a block delivers for a question of a conversation."""
    if question.abstain:
        return Score(None, None, None, None)
    answer = answer_share(question.answer, block)
    if not question.evidence:
        return Score(None, None, answer, None)
    found = turns_delivered(question, conversation, items)
    wanted = {turn.session_id for turn in conversation.turns if turn.id in found}
    return Score(
        fmean(found.values()),
        float(all(found.values())),
        answer,
        float(wanted.issubset(first_sessions(items))),
    )
