"""The result of search_contextual. Its field names are the keys of the JSON that tools return."""

from dataclasses import dataclass
from datetime import datetime

from hotmem.block.rendering import render_notice
from hotmem.operations.results import FoundItem, QueryAnalysis


@dataclass(frozen=True, slots=True)
class Message:
    """A passage of a turn, in the context of its session.

    Attributes:
        turn_id: The id of the turn.
        speaker: The speaker.
        content: The text.
        at: When it was said, UTC.
        relevance_score: Its own relevance, 0 to 1.
    """

    turn_id: str
    speaker: str
    content: str
    at: datetime
    relevance_score: float


@dataclass(frozen=True, slots=True)
class RelatedSession:
    """A session on the same theme as another.

    Attributes:
        session_id: Its id.
        title: Its title.
        last_spoken: Time of its last turn, UTC.
        similarity: Cosine of the embeddings of both summaries, -1 to 1.
    """

    session_id: str
    title: str
    last_spoken: datetime
    similarity: float


@dataclass(frozen=True, slots=True)
class SessionFound:
    """A session and its best messages.

    Attributes:
        session_id: Its id.
        title: One line of its summary, or "" if it has none yet.
        last_spoken: Time of its last turn, UTC.
        relevance_score: Relevance of its best message, 0 to 1.
        summary: Its summary, or "" if it has none yet.
        messages: The best messages with their neighbours, in order.
        related: Sessions on the same theme, the most similar first.
    """

    session_id: str
    title: str
    last_spoken: datetime
    relevance_score: float
    summary: str
    messages: tuple[Message, ...]
    related: tuple[RelatedSession, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A session in which a statement was made.

    Attributes:
        session_id: Its id.
        turn_id: The turn.
        content: The words used.
        at: When it was said, UTC.
    """

    session_id: str
    turn_id: str
    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RepeatedStatement:
    """A statement made in several sessions in nearly the same words.

    Attributes:
        content: Its most typical wording.
        said: Where it was said, one for each session, oldest first.
    """

    content: str
    said: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class ContextualResult:
    """Result of search_contextual.

    Attributes:
        sessions: The sessions, best first; none if none is relevant enough.
        fallback: Whether no session is, so that the whole memory was searched instead.
        elsewhere: What was found then: memories, turns and summaries, most relevant first.
        repeated: Statements about the query that were made in several sessions.
        query_analysis: The analysis of the query.
        lines: The result as lines for a prompt, if a token budget was given.
    """

    sessions: tuple[SessionFound, ...]
    fallback: bool
    elsewhere: tuple[FoundItem, ...]
    repeated: tuple[RepeatedStatement, ...]
    query_analysis: QueryAnalysis
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The lines as one text for a prompt, fenced and labelled as data; "" without lines."""
        return render_notice("\n".join(self.lines)) if self.lines else ""
