"""Data of the session-start block, as read from the store."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from hotmem.types.recall import Interval


class MemoryCandidate(NamedTuple):
    """A valid memory that may go into the block.

    Attributes:
        key: Its row number.
        text: A self-contained sentence.
        subject: The person or thing that it is about; "" if it was stored explicitly.
        relation: The relation; "" if it was stored explicitly.
        object: The value; of an instruction, its text.
        importance: 1 to 5.
        confirmations: Number of times it was repeated.
        said_at: When it was last said, UTC.
        order_time: Its position in the order of statements, in microseconds.
        source_text: Text of the turns that it was read from.
    """

    key: int
    text: str
    subject: str
    relation: str
    object: str
    importance: int
    confirmations: int
    said_at: datetime
    order_time: int
    source_text: str = ""


class DatedWords(NamedTuple):
    """A time expression in a turn.

    Attributes:
        text: The turn.
        start: First character of the expression.
        stop: One past its last character.
        interval: The resolved time, UTC.
        said_at: When it was said, UTC.
        memories: Row numbers of the valid memories read from the same words.
        passage: Row number of the passage with the expression.
    """

    text: str
    start: int
    stop: int
    interval: Interval
    said_at: datetime
    memories: tuple[int, ...]
    passage: int


class OpenLoop(NamedTuple):
    """A sentence of a summary's open loops.

    Attributes:
        text: The sentence.
        turn_id: Id of the turn that it quotes.
        session_id: The session of that turn.
        said_at: When it was said, UTC.
    """

    text: str
    turn_id: str
    session_id: str
    said_at: datetime


class LaterTurn(NamedTuple):
    """A user's turn that is later than a plan: its text, id and time (UTC)."""

    text: str
    turn_id: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is stored of a user at the start of a session.

    Attributes:
        speaker: The most frequent speaker name of the user's turns, if any.
        rules: Standing instructions, latest first.
        facts: Facts about the user and people around them, latest first.
        notes: Recent explicitly stored memories, latest first.
        dated: Time expressions within the requested days, in order of time.
        later: The user's turns since the first of these plans, latest first.
        loops: Open loops of the last session.
        pending: Whether facts of any of the user's turns are not extracted yet.
    """

    speaker: str | None = None
    rules: tuple[MemoryCandidate, ...] = ()
    facts: tuple[MemoryCandidate, ...] = ()
    notes: tuple[MemoryCandidate, ...] = ()
    dated: tuple[DatedWords, ...] = ()
    later: tuple[LaterTurn, ...] = ()
    loops: tuple[OpenLoop, ...] = ()
    pending: bool = False
