"""What the language analysis and the language model read in turns."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from hotmem.types.recall import Interval
from hotmem.types.sessions import Turn
from hotmem.types.vocabulary import Category, Kind, UserKey

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token
else:
    Doc = Span = Token = Any


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact read from a turn, with the span of its source words.

    Attributes:
        text: A self-contained sentence: "Ana's dog is called Potola."
        subject: The person or thing that the fact is about: "Ana", "Ana's dog".
        relation: What it tells: "is called", "lives-in", or "states" if none of these.
        object: The value, as spoken.
        kind: The kind of statement.
        category: The category.
        importance: 1 (passing) to 5 (must not be forgotten).
        start: First character of the source words in the turn.
        stop: One past the last character of the source words.
        entities: Names in it, as written.
        hedged: Whether it was said with doubt ("maybe", "I think").
        negated: Whether it says that something is not, or no longer, so.
        changes: Whether facts of this relation change with time.
        single: Whether the relation has one value at a time, so that a new value supersedes.
        tags: Tags found in the words of `text`.
        circumstances: Tags for its circumstances, such as "urgent".
        ending: A form of address of the subject that is not wanted any more, or "" for whatever
            name it had; None if it ends no name.
        replaces: Whether it may supersede stored facts. "My dog is called Rex" does not: another
            dog may be meant.
        category_probability: Probability of the category, 0 to 1; None if it was not estimated.
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
    circumstances: tuple[str, ...] = ()
    ending: str | None = None
    replaces: bool = True
    category_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction, "No, I said `right`, not `wrong`", with its span in the turn.

    Attributes:
        wrong: The retracted value; "" if it is not named, which means the last fact of `relation`
            or the last name similar to `right`.
        right: The corrected value; a day as its ISO date.
        start: First character of the correction in the turn.
        stop: One past its last character.
        relation: The relation of the value; "" if the words do not say.
    """

    wrong: str
    right: str
    start: int
    stop: int
    relation: str = ""


@dataclass(frozen=True, slots=True)
class EventTime:
    """The time of an event that a turn mentions, as opposed to the time of the turn.

    Attributes:
        start: First character of the time expression in the turn.
        stop: One past its last character.
        interval: The resolved time, UTC.
    """

    start: int
    stop: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What was said directly before a turn, in the same session.

    Attributes:
        question: What the bot said last, if the turn may answer it; "" otherwise.
        earlier: The user's turn before, if it is part of the same exchange; "" otherwise.
    """

    question: str = ""
    earlier: str = ""


@dataclass(frozen=True, slots=True)
class Understanding:
    """Everything that the language analysis reads in one turn.

    Attributes:
        statements: Facts.
        corrections: Corrections of earlier facts.
        entities: Names.
        jest: Whether the turn begins by saying that the one before it was a joke.
        event_times: Times of the events that it mentions.
        lasting: Probability that it holds something lasting, 0 to 1; 1 if it states something. The
            likelier, the more easily it puts what is known in doubt.
        named: Names in the subjects of its clauses, in lower case, word by word.
    """

    statements: tuple[Statement, ...] = ()
    corrections: tuple[Correction, ...] = ()
    entities: tuple[str, ...] = ()
    jest: bool = False
    event_times: tuple[EventTime, ...] = ()
    lasting: float = 0.0
    named: frozenset[str] = frozenset()


class ExtractionOutcome(StrEnum):
    """The outcome of a call to the configured language model.

    BEGUN: no answer is on record yet, or the process died before one. ANSWERED: the answer was
    read. UNREADABLE: it does not hold what was asked for. FAILED: there is no answer.
    """

    BEGUN = "begun"
    ANSWERED = "answered"
    UNREADABLE = "unreadable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ExtractionBatch:
    """Turns of one session that one call is about, and the call that is on record for it.

    Attributes:
        user: The user.
        session: Row number of the session.
        call: Row number of the call.
        turns: The turns with their row numbers, in order.
        subjects: Whom and what the user's current facts are about.
    """

    user: UserKey
    session: int
    call: int
    turns: tuple[tuple[int, Turn], ...]
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """What a call returned.

    Attributes:
        outcome: Its outcome.
        prompt_tokens: Tokens of the prompt.
        completion_tokens: Tokens of the answer.
        dropped: Proposed facts, or sentences of a summary, that the turns do not support.
    """

    outcome: ExtractionOutcome
    prompt_tokens: int
    completion_tokens: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class ExtractionCosts:
    """Calls to the configured language model, and what they cost.

    Attributes:
        calls: Calls, failed ones included.
        prompt_tokens: Tokens sent; an estimate where the endpoint does not say.
        completion_tokens: Tokens received.
        facts: Facts that were stored.
        dropped: Proposed facts, and sentences of summaries, that were dropped.
        summaries: Summaries that were stored.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    facts: int = 0
    dropped: int = 0
    summaries: int = 0

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return self.prompt_tokens + self.completion_tokens


__all__ = ["Doc", "Span", "Token"]
