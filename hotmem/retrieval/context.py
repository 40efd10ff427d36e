"""What a recall works with: the live parts, and the request."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hotmem.models import Encoder, Language, TokenCounter
from hotmem.models.rewriter import Rewriter
from hotmem.options import RecallOptions
from hotmem.ranking.relevance import RelevanceModel
from hotmem.retrieval.layers.base import LayerSearch
from hotmem.storage.store import Store
from hotmem.types import Weights

TIMEOUT_FACTOR: Final = 1.25
"""How much of its deadline a recall is waited for; one that hangs in the lane, on a disk that
does not answer, is given up then."""


@dataclass(slots=True)
class FormerEncoder:
    """The encoder before the file's, for rows that are not embedded anew yet.

    None once there are none, or where it is not available.
    """

    encoder: Encoder | None = None


@dataclass(frozen=True, slots=True)
class RecallContext:
    """The live parts of the read path; `hotmem.Memory` makes them and closes them.

    Attributes:
        weights: Layer weights in the place of each user's own, if they are fixed.
        former: The former encoder, as long as it is needed.
    """

    store: Store
    encoder: Encoder
    language: Language
    tokens: TokenCounter
    layers: Sequence[LayerSearch]
    model: RelevanceModel
    options: RecallOptions
    rewriter: Rewriter | None = None
    weights: Weights | None = None
    former: FormerEncoder = field(default_factory=FormerEncoder)


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question to the memory.

    Attributes:
        text: The utterance, cleaned.
        user_id: Whose memory is asked.
        session_id: The live session, or None.
        at: When it was said, in the zone of who asks.
        max_tokens: Tokens of the block at most.
        deadline_ms: Milliseconds until the block must be there, or None.
        visible: Texts the language model has in its context already.
        explicit: Whether memory is asked for as such: then all layers are, whatever the words.
        asked_at: Reading of `time.monotonic()` when it was asked; its deadline counts from then.
    """

    text: str
    user_id: str
    session_id: str | None
    at: datetime
    max_tokens: int
    deadline_ms: float | None = None
    visible: tuple[str, ...] = ()
    explicit: bool = False
    asked_at: float = field(default_factory=time.monotonic)

    @property
    def timeout_s(self) -> float | None:
        """Seconds that the block is waited for.

        The deadline, and a quarter more to compose what was found by then; None without one.
        """
        return None if self.deadline_ms is None else TIMEOUT_FACTOR * self.deadline_ms / 1000
