"""Data of calls to the language model that extracts facts and summarises, and what they cost."""

from dataclasses import dataclass
from enum import StrEnum

from hotmem.types.turns import Turn
from hotmem.types.vocabulary import UserKey


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
