"""What a recall works with: the live parts, and the request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hotmem.context.relevance import RelevanceModel
from hotmem.layers.base import LayerSearch
from hotmem.models import Encoder, Language, TokenCounter
from hotmem.models.rewriter import Rewriter
from hotmem.options import RecallOptions
from hotmem.store.store import Store


@dataclass(frozen=True, slots=True)
class Reader:
    """The live parts of the read path; `hotmem.Memory` makes them and closes them."""

    store: Store
    encoder: Encoder
    language: Language
    tokens: TokenCounter
    layers: Sequence[LayerSearch]
    model: RelevanceModel
    options: RecallOptions
    rewriter: Rewriter | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the memory.

    Attributes:
        text: The utterance, cleaned.
        user_id: Whose memory is asked.
        session_id: The live session, or None.
        at: When it was said, UTC.
        max_tokens: Tokens of the block at most.
        deadline_ms: Milliseconds until the block must be there, or None.
        visible: Texts the language model has in its context already.
    """

    text: str
    user_id: str
    session_id: str | None
    at: datetime
    max_tokens: int
    deadline_ms: float | None = None
    visible: tuple[str, ...] = ()
