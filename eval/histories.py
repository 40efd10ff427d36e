"""Young histories and other sources made of a dataset's conversations.

Cut after some sessions; stored outright, imported, or mixed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final

from eval.datasets.base import Conversation, Question, Session, asked_after
from hotmem.types import Turn

NOT_YET_TOLD: Final = "not yet told"
"""Category of a question whose evidence lies behind the cut: nothing answers it."""

NOT_YET_ASKED: Final = 30
"""Of those, the questions of a conversation that are put at most."""


YOUNG: Final = (1, 3)
"""Sessions of the young histories that are fitted on."""


class Source(StrEnum):
    """How a memory comes to know what it knows."""

    TOLD = "told"
    STORED = "stored"
    IMPORTED = "imported"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class History:
    """A conversation as one user's memory holds it.

    Attributes:
        conversation: What is known, and what is asked.
        source: How it came to be known.
        sessions: Sessions it is cut after; 0 is the whole.
    """

    conversation: Conversation
    source: Source
    sessions: int


def histories(conversation: Conversation, lengths: tuple[int, ...]) -> Iterator[History]:
    """The conversation at each length, from each source that it can come from.

    0 is its whole length.

    Only a dataset with notes has statements that could be stored outright.
    """
    for length in lengths:
        if length >= len(conversation.sessions):
            continue
        part = cut(conversation, length) if length else conversation
        for source in Source if conversation.notes else (Source.TOLD,):
            yield History(sourced(part, source), source, length)


def groups(
    name: str, conversations: Sequence[Conversation]
) -> Iterator[tuple[str, list[Conversation]]]:
    """The histories to fit on, each with its group, whose groups weigh the same whatever their size: whole by source, and young ones.

    A conversation keeps its place, by which it is held out or not. Imported turns are found as
    those told are.
    """
    young = [
        length
        for length in YOUNG
        if all(len(one.questions) > 1 and len(one.sessions) > max(YOUNG) for one in conversations)
    ]
    for length in (0, *young):
        parts = [
            {history.source: history.conversation for history in histories(one, (length,))}
            for one in conversations
        ]
        for source in parts[0]:
            if source is not Source.IMPORTED:
                yield f"{name} {'young' if length else source}", [part[source] for part in parts]


def cut(conversation: Conversation, sessions: int) -> Conversation:
    """The first sessions, with the questions that they answer, those that nothing answers, and some whose evidence is not told yet."""
    kept = conversation.sessions[:sessions]
    known = {turn.id for session in kept for turn in session.turns}
    at = max(
        asked_after(kept),
        min(
            (one.asked_at for one in conversation.questions if one.abstain),
            default=asked_after(kept),
        ),
    )
    answered, later = [], []
    for question in conversation.questions:
        if set(question.evidence) <= known:
            answered.append(replace(question, asked_at=at))
        elif not known.intersection(question.evidence):
            later.append(
                replace(
                    question,
                    asked_at=at,
                    evidence=(),
                    answer="",
                    category=NOT_YET_TOLD,
                    abstain=True,
                )
            )
    some = Random(conversation.user).sample(later, min(NOT_YET_ASKED, len(later)))
    return replace(
        conversation,
        sessions=kept,
        questions=(*(one for one in answered if one.evidence or one.abstain), *some),
    )


def sourced(conversation: Conversation, source: Source) -> Conversation:
    """The same known from another source.

    Stored, every second statement is so in its speaker's words, the others as notes; nothing else
    is known. Mixed, every second statement is stored, the others are told. Questions whose evidence
    is no statement are left out where it is not there.
    """
    match source:
        case Source.TOLD:
            return conversation
        case Source.IMPORTED:
            return replace(conversation, imported=True)
        case Source.STORED:
            chosen = {turn.id: turn for turn in conversation.turns if turn.id in conversation.notes}
            return _questions(
                replace(
                    conversation, sessions=(), stored=_stored(conversation, list(chosen.values()))
                )
            )
        case Source.MIXED:
            chosen = {
                turn.id: turn
                for turn in [turn for turn in conversation.turns if turn.id in conversation.notes][
                    ::2
                ]
            }
            told = (
                Session(one.id, tuple(turn for turn in one.turns if turn.id not in chosen))
                for one in conversation.sessions
            )
            return replace(
                conversation,
                sessions=tuple(told),
                stored=_stored(conversation, list(chosen.values())),
            )


def _stored(conversation: Conversation, turns: list[Turn]) -> tuple[Turn, ...]:
    return tuple(
        replace(turn, text=conversation.notes[turn.id]) if place % 2 else turn
        for place, turn in enumerate(turns)
    )


def _questions(conversation: Conversation) -> Conversation:
    known = {turn.id for turn in conversation.turns}
    asked: list[Question] = [one for one in conversation.questions if set(one.evidence) <= known]
    return replace(conversation, questions=tuple(asked))
