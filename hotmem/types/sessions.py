"""Turns, sessions and their summaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from hotmem.errors import InvalidInput
from hotmem.text.validation import validate_id, validate_name, validate_text
from hotmem.types.recall import Interval
from hotmem.types.vocabulary import Role

if TYPE_CHECKING:
    from hotmem.types.arrays import Vectors


def aware(moment: datetime, name: str) -> datetime:
    """Check that a datetime has a time zone, and return it unchanged.

    Raises:
        InvalidInput: If it is not a datetime, has no time zone, or is outside the years that UTC
            can express.
    """
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{name} is {type(moment).__name__}, not a datetime. Pass datetime.now(timezone.utc)."
        )
    if moment.utcoffset() is None:
        raise InvalidInput(
            f"{name} has no time zone. Pass datetime.now(timezone.utc) or add tzinfo."
        )
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(
            f"{name} is outside the years 1 to 9999 in UTC. Pass a time within them."
        ) from error
    return moment


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of one speaker, verbatim.

    Attributes:
        user_id: The user whose memory the turn belongs to.
        session_id: The session (conversation) it was spoken in.
        role: "user" or "assistant".
        text: The utterance, without characters that cannot be stored.
        spoken_at: When it was spoken, in the speaker's time zone; relative times ("yesterday") are
            resolved against it. Turns may be added in any order.
        speaker: The speaker's name, if known.
        id: The caller's id. Remembering the same id again has no effect.

    Raises:
        InvalidInput: If a field is not valid.
    """

    user_id: str
    session_id: str
    role: Role | str
    text: str
    spoken_at: datetime
    speaker: str | None = None
    id: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        if self.role not in tuple(Role):
            raise InvalidInput(f"role is {self.role!r}. Use one of: {', '.join(Role)}.")
        for name in ("user_id", "session_id", "id"):
            validate_id(getattr(self, name), name)
        if self.speaker is not None:
            name = validate_name(self.speaker, "speaker").strip()
            object.__setattr__(self, "speaker", name or None)
        object.__setattr__(self, "role", Role(self.role))
        object.__setattr__(self, "text", validate_text(self.text))
        object.__setattr__(self, "spoken_at", aware(self.spoken_at, "spoken_at"))


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of a summary, and the id of the turn that it quotes."""

    text: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A summary of a session: extractive, or written by a language model and checked.

    Attributes:
        topics: Its topics, highest weight first.
        narrative: The most central sentences, in order.
        decisions: Sentences that state decisions.
        open_loops: Sentences that state what is left to do or to find out.
        title: One line that stands for it in a list; None if there is no statement.
    """

    topics: tuple[str, ...] = ()
    narrative: tuple[SummarySentence, ...] = ()
    decisions: tuple[SummarySentence, ...] = ()
    open_loops: tuple[SummarySentence, ...] = ()
    title: SummarySentence | None = None

    @property
    def parts(self) -> dict[str, tuple[SummarySentence, ...]]:
        """The sentences by part, as they are stored."""
        return {
            "title": () if self.title is None else (self.title,),
            "narrative": self.narrative,
            "decisions": self.decisions,
            "open_loops": self.open_loops,
        }


class SessionTitle(NamedTuple):
    """A session in a list.

    Attributes:
        session_id: Its id.
        title: The title of its summary, or "" if it has none.
        last_spoken: Time of its last turn, UTC.
    """

    session_id: str
    title: str
    last_spoken: datetime


class Topic(NamedTuple):
    """A topic of a session.

    Attributes:
        written: Its first spelling.
        weight: Number of mentions; those by the user count more.
    """

    written: str
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class SummaryInput:
    """The input of a session's next summary.

    It is the whole session or, of a long one, the turns that its current summary quotes and those
    after it.

    Attributes:
        session: The session's row number.
        turns: The turns, in the order they were spoken.
        vectors: Their embeddings, unit rows, float32 (turns, dimension).
        keys: Their row numbers.
        fresh: Row numbers of the turns whose topics are not counted yet.
        topics: Topic counts so far, by stems.
        summarised: Last turn of the current summary's input; None without a summary.
        through: Last of `keys` that the next summary covers.
        latest: Last turn of the session.
    """

    session: int
    turns: tuple[Turn, ...]
    vectors: Vectors
    keys: tuple[int, ...]
    fresh: frozenset[int]
    topics: Mapping[str, Topic]
    summarised: int | None
    through: int
    latest: int


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
        later: The user's turns since the first of these plans that put something in doubt, latest
            first.
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
