"""What the store knows at the start of a session, before it is weighed and written out."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from hotmem.types.recall import Interval


class MemoryCandidate(NamedTuple):
    """A memory that holds, as far as choosing among memories needs it.

    Attributes:
        key: Its row number.
        text: A whole sentence.
        subject: Whom or what it is about; "" for a memory that was stored outright.
        relation: Its relation; "" likewise.
        object: The value; of an instruction, its words.
        importance: 1 to 5.
        confirmations: How often it was said again.
        said_at: When it was said last, UTC.
        told_at: Its place in the order of what was told.
        told_in: The turns that it was read from, as text.
    """

    key: int
    text: str
    subject: str
    relation: str
    object: str
    importance: int
    confirmations: int
    said_at: datetime
    told_at: int
    told_in: str = ""


class DatedWords(NamedTuple):
    """Words of a turn that name a time.

    Attributes:
        text: The turn.
        start: First character of the words.
        stop: One past the last.
        interval: What they mean, UTC.
        said_at: When they were said, UTC.
        memories: Row numbers of the memories that hold of what was read there.
        passage: Row number of the passage they stand in.
    """

    text: str
    start: int
    stop: int
    interval: Interval
    said_at: datetime
    memories: tuple[int, ...]
    passage: int


class OpenLoop(NamedTuple):
    """A sentence on what was left open, and the id, the session and the time (UTC) of its turn."""

    text: str
    turn_id: str
    session_id: str
    said_at: datetime


class LaterTurn(NamedTuple):
    """A turn of the user that is later than a plan, with its id and its time (UTC)."""

    text: str
    turn_id: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is known of a user at the start of a session.

    Attributes:
        speaker: The name that most of the user's turns were said under, if any were.
        rules: Standing instructions, latest first.
        facts: What is known of the user and those around them, latest first.
        notes: What was stored outright lately, latest first.
        told: What was said to take place in the days asked for, in order of time.
        later: What the user said since the first of these plans, latest first.
        loops: What the last session left open.
        pending: Whether something the user said waits to be understood.
    """

    speaker: str | None = None
    rules: tuple[MemoryCandidate, ...] = ()
    facts: tuple[MemoryCandidate, ...] = ()
    notes: tuple[MemoryCandidate, ...] = ()
    told: tuple[DatedWords, ...] = ()
    later: tuple[LaterTurn, ...] = ()
    loops: tuple[OpenLoop, ...] = ()
    pending: bool = False
