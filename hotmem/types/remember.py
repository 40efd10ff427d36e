"""The data of the write path: a turn, what is understood of it, what is then known."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from hotmem.errors import InvalidInput
from hotmem.text.validation import checked_id, checked_text
from hotmem.types.recall import Interval
from hotmem.types.vocabulary import Category, Kind, Role, Vector


def aware(moment: datetime, name: str) -> datetime:
    """The moment, in the zone it was given in.

    Raises:
        InvalidInput: If it is not a datetime, carries no time zone or lies outside the years that
            UTC can express.
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
            f"{name} lies outside the years 1 to 9999 in UTC. Pass a time within them."
        ) from error
    return moment


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of one speaker, word for word.

    Attributes:
        user_id: Whose memory it belongs to.
        session_id: The conversation it was said in.
        role: "user" or "assistant".
        text: The words, cleaned of what cannot be stored.
        spoken_at: When it was said, in the speaker's zone, by which "yesterday" is reckoned.
            History may be added in any order.
        speaker: The speaker's name, if known.
        id: The caller's id; remembering the same id again changes nothing.

    Raises:
        InvalidInput: If a field cannot be used.
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
            checked_id(getattr(self, name), name)
        if self.speaker is not None:
            object.__setattr__(self, "speaker", checked_id(self.speaker, "speaker"))
        object.__setattr__(self, "role", Role(self.role))
        object.__setattr__(self, "text", checked_text(self.text))
        object.__setattr__(self, "spoken_at", aware(self.spoken_at, "spoken_at"))


@dataclass(frozen=True, slots=True)
class Termination:
    """What a statement says to be over beside its own relation: "I've given up the choir".

    Attributes:
        things: Words for it: "choir".
        relations: Relations whose facts of the same subject end if their value has one of the
            words.
    """

    things: tuple[str, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact read from a turn, with the words it came from.

    Attributes:
        text: A whole sentence that stands alone: "Ana's dog is called Potola."
        subject: Whom or what it is about: "Ana", "Ana's dog".
        relation: One of the bounded set of relations: "is called", "lives in".
        object: The value, as said.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 (passing) to 5 (must not be forgotten).
        start: First character of its words in the turn.
        stop: One past the last character of its words in the turn.
        entities: Names in it, as written.
        hedged: Said with doubt ("maybe", "I think").
        negated: Says that something is not, or no longer, so.
        changes: Of a sort that changes with time.
        single: The relation takes one value at a time, so a new value supersedes.
        tags: Words it is filed under, all of them in the text.
        ending: What else it says to be over; None for most.
        replaces: Whether it may end what is known. "My dog is called Rex" does not: another dog may
            be meant.
    """

    text: str
    subject: str
    relation: str
    object: str
    kind: Kind
    category: Category
    importance: int
    start: int
    stop: int
    entities: tuple[str, ...] = ()
    hedged: bool = False
    negated: bool = False
    changes: bool = False
    single: bool = False
    tags: tuple[str, ...] = ()
    ending: Termination | None = None
    replaces: bool = True


@dataclass(frozen=True, slots=True)
class Correction:
    """A speaker's "No, I said `right`, not `wrong`", with its place in the turn.

    Attributes:
        wrong: The value taken back, or "" where it is not named: then the last fact of `relation`
            is meant, or the last name like `right`.
        right: The value that holds; a day is given as its date.
        start: First character of its words in the turn.
        stop: One past the last character of its words in the turn.
        relation: The relation the value belongs to, or "" where the words do not tell.
    """

    wrong: str
    right: str
    start: int
    stop: int
    relation: str = ""


@dataclass(frozen=True, slots=True)
class EventTime:
    """When something that a turn speaks of happened, or is to happen, apart from when it was told.

    Attributes:
        start: First character of the words that say when.
        stop: One past the last character.
        interval: What they mean, UTC.
    """

    start: int
    stop: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class Understanding:
    """What the language analysis read in one turn.

    Attributes:
        statements: What it states.
        corrections: What it corrects.
        entities: Names in it.
        jest: Whether it begins by saying that what was said before it was a joke.
        happenings: When what it speaks of happened, where it says so.
    """

    statements: tuple[Statement, ...] = ()
    corrections: tuple[Correction, ...] = ()
    entities: tuple[str, ...] = ()
    jest: bool = False
    happenings: tuple[EventTime, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A statement that the memory holds, with its standing.

    Attributes:
        id: The memory's id.
        text: A whole sentence.
        subject: Whom or what it is about.
        relation: What is said of it.
        object: The value.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 to 5.
        negated: Whether it says that something is not so.
        changes: Whether it is of a sort that changes with time.
        single: Whether a new value of its relation replaces it.
        said_at: When it was last said, by the clock of that time, UTC.
        told_at: The same as order goes: later than all that was told before, whatever the clock
            showed, UTC.
        valid_until: When it stopped being true; None while it holds.
        confirmations: How often it was said again.
        turn_ids: The turns it comes from.
    """

    id: str
    text: str
    subject: str
    relation: str
    object: str
    kind: Kind
    category: Category
    importance: int
    negated: bool
    changes: bool
    single: bool
    said_at: datetime
    told_at: datetime
    valid_until: datetime | None
    confirmations: int
    turn_ids: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether it still holds."""
        return self.valid_until is None


@dataclass(frozen=True, slots=True)
class KnownSubjects:
    """Whom and what the current facts of a user are about.

    Attributes:
        subjects: Subjects of facts.
        names: Subject, name and whether it was said to have no other, of each fact that names it.
        possessions: Owner and value of each fact that tells what someone has.
    """

    subjects: tuple[str, ...] = ()
    names: tuple[tuple[str, str, bool], ...] = ()
    possessions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is to be stored as it stands, with where it was filed.

    Attributes:
        text: The words.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 to 5.
        tags: Words it is filed under.
        tag_vectors: The embeddings of those that are new, by tag.
        tags_taken: Tags in use that are to stand for new ones of these, by the new one.
        entities: Names in it.
        expires_at: When it stops being true, UTC; None for never.
        source: Where it comes from, if that was said.
        remark: The user's remark about it, if there is one.
    """

    text: str
    kind: Kind
    category: Category
    importance: int
    tags: tuple[str, ...] = ()
    tag_vectors: Mapping[str, Vector] = field(default_factory=dict)
    tag_replacements: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    expires_at: datetime | None = None
    source: str | None = None
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryMetadata:
    """What a search shows of a memory besides its words.

    Attributes:
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 to 5.
        created: When it was stored or last said, UTC.
        accesses: How often it was given out.
        accessed_at: When it was last given out, UTC, if ever.
        subcategory: The name of its place in its category, if that has evolved.
    """

    kind: Kind
    category: Category
    importance: int
    created: datetime
    accesses: int
    accessed_at: datetime | None
    subcategory: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about memories.

    Attributes:
        id: The decision's id.
        action: "filed", "confirmed", "refiled", "edited", "merged", "tags consolidated", "evolved"
            or "imported".
        reason: Why, in a sentence.
        decided_at: When, UTC.
        undone_at: When it was taken back, UTC, if it was.
        memory_ids: The memories.
        into: The memory they went into, or that has their new words, if there is one.
    """

    id: str
    action: str
    reason: str
    decided_at: datetime
    undone_at: datetime | None
    memory_ids: tuple[str, ...]
    into: str | None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What taking a decision back came to.

    Attributes:
        restored: Memories, tags and subcategories that are there again.
        removed: Turns and memories that had come with an import.
    """

    restored: int
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Supersession:
    """What a new statement does to the memories that are about the same thing.

    Attributes:
        confirms: The memory that it says again, or None.
        ends: Memories that stop, or by what is known now stopped, being true with it.
        valid_until: When the statement itself stopped being true, if a later one is known already.
    """

    confirms: str | None = None
    ends: tuple[str, ...] = ()
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """One sentence of a summary and the turn it comes from."""

    text: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a session was about, in its speakers' own words.

    Attributes:
        topics: Its themes, most telling first.
        narrative: The sentences that carry it, in order.
        decisions: What was decided.
        open_loops: What was left to do or to find out.
    """

    topics: tuple[str, ...] = ()
    narrative: tuple[SummarySentence, ...] = ()
    decisions: tuple[SummarySentence, ...] = ()
    open_loops: tuple[SummarySentence, ...] = ()


class Topic(NamedTuple):
    """What a session is about, as it is counted.

    Attributes:
        written: As it was first said.
        weight: How often it came, the user's counting more.
    """

    written: str
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class SummaryInput:
    """What the next summary of a session is made from.

    All of it, or of a long one what its summary quotes and the turns that follow.

    Attributes:
        session: The session's row number.
        turns: The turns, in the order they were spoken.
        vectors: Their unit rows, float32 (turns, dimension).
        keys: Their row numbers.
        fresh: Those whose topics are not counted yet.
        topics: What is counted so far, by name in lower case.
        summarised: The last turn that the summary there is was made from; None without one.
        through: The last of the turns that the next one is made from.
        latest: The last turn of the session.
    """

    session: int
    turns: tuple[Turn, ...]
    vectors: NDArray[np.float32]
    keys: tuple[int, ...]
    fresh: frozenset[int]
    topics: Mapping[str, Topic]
    summarised: int | None
    through: int
    latest: int


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What a `forget` removed, and what it could not: its receipt. `str` tells it in plain English.

    It speaks of the memory file and the journal beside it. Outside its reach are copies that were
    made before (backups, exports, what other programs read), what the file system keeps of blocks
    that it has freed, and what the memory of a running process holds until it is used anew.

    Attributes:
        turns: Turns that went.
        memories: Memories, those that had gone into others among them.
        sessions: Sessions of which nothing was left.
        summaries: Summaries; those of sessions that are still there are made anew.
        names: Names of people and things that nothing mentions any more.
        tags: Tags that nothing has any more.
        decisions: Records of decisions about memories.
        recalls: Records of questions and of what replies used.
        emptied: Whether the journal beside the file is empty. If not, another program was reading
            it, and copies stay there until it ends; that is tried again in the background, on
            closing and on the next opening.
        restorable_until: Until when `Memory.restore` brings it back; None if it is gone for good.
    """

    turns: int
    memories: int
    sessions: int
    summaries: int = 0
    names: int = 0
    tags: int = 0
    decisions: int = 0
    recalls: int = 0
    emptied: bool = field(default=True, compare=False)
    restorable_until: datetime | None = field(default=None, compare=False)

    def __add__(self, other: "ForgetResult") -> "ForgetResult":
        """What both removed."""
        return ForgetResult(
            self.turns + other.turns,
            self.memories + other.memories,
            self.sessions + other.sessions,
            self.summaries + other.summaries,
            self.names + other.names,
            self.tags + other.tags,
            self.decisions + other.decisions,
            self.recalls + other.recalls,
            emptied=self.emptied and other.emptied,
        )

    @property
    def anything(self) -> bool:
        """Whether anything went."""
        return bool(sum(self.counts().values()))

    def counts(self) -> dict[str, int]:
        """How many went of what, by the names of the attributes."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}

    def __str__(self) -> str:
        """The receipt in plain English."""
        if not self.anything:
            return "Nothing of it is stored, and nothing was removed."
        if self.restorable_until is not None:
            where = f"It is hidden from everything, and erased after {self.restorable_until:%Y-%m-%d %H:%M %Z}; until then it can be brought back."
        elif self.emptied:
            where = "Nothing of it is left in the memory file."
        else:
            where = "Nothing of it is left in the memory file, but its journal has copies as long as another program reads it; they go once that ends."
        return f"{self.told()} removed. {where} {COPIES}"

    def told(self) -> str:
        """What went, as "2 turns, 1 memory and 1 session", with what else went in brackets."""
        counts = self.counts()
        first, other = (
            [
                _number(counts[name], name)
                for name in counts
                if (name in ("turns", "memories", "sessions")) is main and (counts[name] or main)
            ]
            for main in (True, False)
        )
        return f"{first[0]}, {first[1]} and {first[2]}" + (
            f" ({', '.join(other)})" if other else ""
        )


@dataclass(frozen=True, slots=True)
class Restorable:
    """A deletion that can be, or was, brought back.

    Attributes:
        asked_at: When it was asked for.
        erase_at: When it is erased for good.
        removed: What went.
    """

    asked_at: datetime
    erase_at: datetime
    removed: ForgetResult


COPIES: Final = "Backups, exports and other copies that were made before still hold it."

_ONE: Final = {"memories": "memory", "summaries": "summary", "recalls": "record of use"}
_MANY: Final = {"recalls": "records of use"}


def _number(count: int, name: str) -> str:
    return f"{count} {_ONE.get(name, name[:-1]) if count == 1 else _MANY.get(name, name)}"
