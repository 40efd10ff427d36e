"""Variants of a dataset's conversations: cut short, stored as statements, imported, or mixed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final

from eval.datasets.base import Conversation, Session, time_of_questions
from hotmem.types import Turn

NOT_YET_KNOWN: Final = "not yet told"
"""Category of a question whose evidence comes after the cut, so that it is unanswerable."""

MAX_UNKNOWN_QUESTIONS: Final = 30
"""Maximum number of such questions per conversation."""


SHORT_LENGTHS: Final = (1, 3)
"""Numbers of sessions of the short histories used in training."""


class Source(StrEnum):
    """How a memory learns what it knows: from turns, stored statements, an import, or a mix."""

    TOLD = "told"
    STORED = "stored"
    IMPORTED = "imported"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class History:
    """A variant of a conversation.

    Attributes:
        conversation: Its turns, statements and questions.
        source: How the memory learns it.
        sessions: Number of sessions before the cut; 0 is the whole conversation.
    """

    conversation: Conversation
    source: Source
    sessions: int


def histories(conversation: Conversation, lengths: tuple[int, ...]) -> Iterator[History]:
    """Yield the conversation at each length and from each possible source.

    Length 0 is the whole conversation. Only conversations with notes have statements to store.
    """
    for length in lengths:
        if length >= len(conversation.sessions):
            continue
        part = cut_after(conversation, length) if length else conversation
        for source in Source if conversation.notes else (Source.TOLD,):
            yield History(from_source(part, source), source, length)


def training_groups(
    name: str, conversations: Sequence[Conversation]
) -> Iterator[tuple[str, list[Conversation]]]:
    """Yield the histories for training by group: whole ones by source, and short ones.

    Each group has the same weight. A conversation keeps its index, which decides whether it is held
    out. Imported histories are left out because they are retrieved like spoken ones.
    """
    young = [
        length
        for length in SHORT_LENGTHS
        if all(
            len(one.questions) > 1 and len(one.sessions) > max(SHORT_LENGTHS)
            for one in conversations
        )
    ]
    for length in (0, *young):
        parts = [
            {history.source: history.conversation for history in histories(one, (length,))}
            for one in conversations
        ]
        for source in parts[0]:
            if source is not Source.IMPORTED:
                yield f"{name} {'young' if length else source}", [part[source] for part in parts]


def cut_after(conversation: Conversation, sessions: int) -> Conversation:
    """Return the first sessions, with the questions that they answer and some that they do not.

    Unanswerable questions are those of the dataset, and some whose evidence comes after the cut.
    """
    kept = conversation.sessions[:sessions]
    known = {turn.id for session in kept for turn in session.turns}
    after = time_of_questions(kept)
    abstaining = (one.asked_at for one in conversation.questions if one.abstain)
    at = max(after, min(abstaining, default=after))
    answered, later = [], []
    for question in conversation.questions:
        if set(question.evidence) <= known:
            answered.append(replace(question, asked_at=at))
        elif not known.intersection(question.evidence):
            unknown = replace(question, asked_at=at, evidence=(), answer="", abstain=True)
            later.append(replace(unknown, category=NOT_YET_KNOWN))
    some = Random(conversation.user).sample(later, min(MAX_UNKNOWN_QUESTIONS, len(later)))
    return replace(
        conversation,
        sessions=kept,
        questions=(*(one for one in answered if one.evidence or one.abstain), *some),
    )


def from_source(conversation: Conversation, source: Source) -> Conversation:
    """Return the conversation as learnt from another source.

    STORED keeps only stored statements, alternately in the speaker's words and as notes. MIXED
    stores every second statement and keeps the others as turns. Questions whose evidence is missing
    are removed.
    """
    noted = [turn for turn in conversation.turns if turn.id in conversation.notes]
    match source:
        case Source.TOLD:
            return conversation
        case Source.IMPORTED:
            return replace(conversation, imported=True)
        case Source.STORED:
            return _answerable(
                replace(conversation, sessions=(), stored=_stored(conversation, noted))
            )
        case Source.MIXED:
            kept = {turn.id for turn in noted[::2]}
            told = tuple(
                Session(one.id, tuple(turn for turn in one.turns if turn.id not in kept))
                for one in conversation.sessions
            )
            return replace(conversation, sessions=told, stored=_stored(conversation, noted[::2]))


def _stored(conversation: Conversation, turns: list[Turn]) -> tuple[Turn, ...]:
    return tuple(
        replace(turn, text=conversation.notes[turn.id]) if place % 2 else turn
        for place, turn in enumerate(turns)
    )


def _answerable(conversation: Conversation) -> Conversation:
    """Remove the questions whose evidence is missing."""
    known = {turn.id for turn in conversation.turns}
    asked = tuple(one for one in conversation.questions if set(one.evidence) <= known)
    return replace(conversation, questions=asked)
