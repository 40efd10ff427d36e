"""The metric: does a block contain the words of the turns that answer the question?

A turn is delivered if one item that lists its id contains at least `MIN_SHARE` of the turn's
content words, or `SUFFICIENT_WORDS` of them. An id alone does not count, nor does an item that
lists more than `MAX_IDS` ids. A question without known evidence has no score, which differs from 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Protocol

from eval.content_words import content_words, words
from eval.datasets.base import Conversation, Question

MIN_SHARE: Final = 0.6
"""Minimum share of a turn's content words in one item."""

SUFFICIENT_WORDS: Final = 15
"""Number of content words that suffice for a long turn."""

MAX_IDS: Final = 8
"""Maximum number of turn ids that one item may list."""

MAX_ANSWER_WORDS: Final = 10
"""Maximum content words of an answer that is searched literally."""

SAME: Final = 0.8
"""Share of a line's content words in another line from which it says the same again."""

FIRST_SESSIONS: Final = 5
"""Number of sessions in the session metric."""


class BlockItem(Protocol):
    """An item of a block as the metric sees it; `hotmem.Item` is one."""

    @property
    def text(self) -> str:
        """The text shown."""

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """Ids of the turns it claims to contain."""

    @property
    def session_id(self) -> str:
        """The session it comes from."""

    @property
    def relevance(self) -> float:
        """Relevance; larger is better."""


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of a block for one question. None means not scored.

    Attributes:
        delivered: Share of the evidence turns delivered, 0 to 1.
        all: Whether every evidence turn is delivered, 0 or 1.
        answer: Share of a short answer's content words in the block, 0 to 1.
        sessions: Whether every evidence session is among the first five sessions by relevance, 0 or
            1.
    """

    delivered: float | None
    all: float | None
    answer: float | None
    sessions: float | None


def contains_turn(shown: str, turn: str) -> bool:
    """Return whether a text contains enough of a turn's words.

    A turn of stop words only is compared by all its words.
    """
    wanted = content_words(turn) or frozenset(words(turn))
    held = len(wanted.intersection(words(shown)))
    return held > 0 and (held >= MIN_SHARE * len(wanted) or held >= SUFFICIENT_WORDS)


def is_delivered(turn_id: str, turn: str, items: Iterable[BlockItem]) -> bool:
    """Return whether one item lists the turn and contains enough of its words."""
    return any(
        turn_id in item.turn_ids
        and len(set(item.turn_ids)) <= MAX_IDS
        and contains_turn(item.text, turn)
        for item in items
    )


def answer_share(answer: str, block: str) -> float | None:
    """Return the share of the answer's content words in the block.

    None if the answer has none or is too long.
    """
    wanted = content_words(answer)
    return (
        len(wanted.intersection(words(block))) / len(wanted)
        if 0 < len(wanted) <= MAX_ANSWER_WORDS
        else None
    )


def first_sessions(items: Iterable[BlockItem]) -> tuple[str, ...]:
    """Return the first sessions of the items by relevance, without repetition."""
    ranked = sorted(items, key=lambda item: -item.relevance)
    return tuple(dict.fromkeys(item.session_id for item in ranked))[:FIRST_SESSIONS]


def turns_delivered(
    question: Question, conversation: Conversation, items: Sequence[BlockItem]
) -> dict[str, bool]:
    """Return for each evidence turn of the question, by id, whether it is delivered."""
    return {
        turn.id: is_delivered(turn.id, turn.text, items)
        for turn in conversation.turns
        if turn.id in question.evidence
    }


def repeated(lines: Sequence[str]) -> int:
    """Return the number of lines whose content words another line has, nearly all of them."""
    found = [content_words(line) for line in lines]
    return sum(
        any(
            len(own & other) >= SAME * len(own) and (len(own), place) < (len(other), at)
            for at, other in enumerate(found)
            if at != place
        )
        for place, own in enumerate(found)
        if own
    )


def score(
    question: Question, conversation: Conversation, block: str, items: Sequence[BlockItem]
) -> Score:
    """Score a block for a question of a conversation."""
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
