"""The resources of retrieval, its request and its result."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Final

from cachetools import LRUCache

from hotmem.core.logs import log
from hotmem.errors import DeadlineExceeded
from hotmem.models import Encoder, Language
from hotmem.options import RecallOptions
from hotmem.retrieval.fusion import Candidate
from hotmem.retrieval.layers.base import LayerSearch
from hotmem.storage.database import InlineDatabase
from hotmem.storage.search.engine import SearchEngine
from hotmem.text.languages import ENGLISH
from hotmem.types import Hit, LayerOutcome, LayerReport, Profile, Query, UserKey, Weights
from hotmem.understanding.query.rewriter import Rewriter

KEPT: Final = 1024
"""Users remembered."""


class UserKeys:
    """Row numbers of the users seen last. Thread-safe.

    An erased user who returns gets another row number: a caller of a cached one checks in its
    own read that it is still the user's.
    """

    def __init__(self) -> None:
        self._keys: LRUCache[str, UserKey] = LRUCache(KEPT)
        self._lock = Lock()

    def get(self, user_id: str) -> UserKey | None:
        """The row number, if it is known."""
        with self._lock:
            return self._keys.get(user_id)

    def put(self, user_id: str, key: UserKey) -> None:
        """Remembers a row number."""
        with self._lock:
            self._keys[user_id] = key

    def drop(self, user_id: str) -> None:
        """Forgets a row number."""
        with self._lock:
            self._keys.pop(user_id, None)


TIMEOUT_FACTOR: Final = 1.25
"""Multiple of its deadline after which a recall is given up, such as one that waits for a disk."""


@dataclass(slots=True)
class FormerEncoder:
    """The encoder that the file had before, for rows that are not yet re-embedded.

    None once all rows are, or if it is not available.
    """

    encoder: Encoder | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalContext:
    """The resources of retrieval.

    Attributes:
        database: Runs reads in the recall thread.
        engine: Searches the user's rows.
        encoder: Embeds the query.
        language: Parses the query.
        layers: The layers to search.
        options: Options of a recall.
        expected_language: The language that is mostly spoken, by whose rules words are stemmed.
        rewriter: A language model that completes the query, if one is configured.
        weights: Layer weights for all users, if they are fixed; None uses each user's own.
        former: The former encoder, as long as it is needed.
        user_keys: Row numbers of the users seen last.
    """

    database: InlineDatabase
    engine: SearchEngine
    encoder: Encoder
    language: Language
    layers: Sequence[LayerSearch]
    options: RecallOptions
    expected_language: str = ENGLISH
    rewriter: Rewriter | None = None
    weights: Weights | None = None
    former: FormerEncoder = field(default_factory=FormerEncoder)
    user_keys: UserKeys = field(default_factory=UserKeys)


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A request for a context block.

    Attributes:
        text: The utterance, cleaned.
        user_id: The user whose memory is searched.
        session_id: The live session, or None.
        at: Time of the utterance, in the user's time zone.
        max_tokens: Token budget of the block.
        deadline_ms: Milliseconds until the block must be ready, or None.
        visible: Texts that are already in the language model's context.
        explicit: Whether the caller asks for memory explicitly: then all layers are searched,
            whatever the utterance.
        asked_by: Another speaker than the user who asks; "" for one who is told what the user is.
        asked_at: Reading of `time.monotonic()` from which the deadline counts.
    """

    text: str
    user_id: str
    session_id: str | None
    at: datetime
    max_tokens: int
    deadline_ms: float | None = None
    visible: tuple[str, ...] = ()
    explicit: bool = False
    asked_by: str | None = None
    asked_at: float = field(default_factory=time.monotonic)

    @property
    def timeout_s(self) -> float | None:
        """Seconds after which the recall is given up; None without a deadline.

        It exceeds the deadline, to leave time for composing what was found by then.
        """
        return None if self.deadline_ms is None else TIMEOUT_FACTOR * self.deadline_ms / 1000


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What retrieval found, before ranking.

    Attributes:
        query: The analysed utterance.
        profile: The user's profile.
        candidates: The candidates that the language model does not have yet.
        reports: The outcome of each layer.
        hits: The hits of all layers.
        already_visible: Candidates already in the visible conversation.
    """

    query: Query
    profile: Profile
    candidates: Sequence[Candidate]
    reports: tuple[LayerReport, ...]
    hits: Sequence[Hit] = ()
    already_visible: Sequence[Candidate] = ()


async def search_layers(
    layers: Sequence[LayerSearch], query: Query, until: float | None
) -> tuple[list[Hit], tuple[LayerReport, ...]]:
    """Search the layers that the analysis chose.

    Args:
        layers: All layers.
        query: The analysed utterance.
        until: Reading of `time.monotonic()` at which layers that are not ready are left out; None
            waits for all.

    Returns:
        The hits of all layers, and a report on each layer.
    """
    chosen = [layer for layer in layers if layer.layer in query.analysis.layers]
    results = await asyncio.gather(*(_search_layer(layer, query, until) for layer in chosen))
    hits = [hit for found, _ in results for hit in found]
    reports = {report.layer: report for _, report in results}
    return hits, tuple(
        reports.get(layer.layer, LayerReport(layer.layer, LayerOutcome.NOT_ASKED))
        for layer in layers
    )


async def _search_layer(
    layer: LayerSearch, query: Query, until: float | None
) -> tuple[Sequence[Hit], LayerReport]:
    started = time.monotonic()
    hits: Sequence[Hit] = ()
    try:
        async with asyncio.timeout(None if until is None else max(until - started, 0)):
            hits = await layer.search(query, until)
        outcome = LayerOutcome.ANSWERED
    except (TimeoutError, DeadlineExceeded):
        outcome = LayerOutcome.LATE
    except Exception as error:  # one layer's failure must not silence the others
        outcome = LayerOutcome.FAILED
        log.warning("layer failed", layer=layer.layer, error=type(error).__name__)
    return hits, LayerReport(layer.layer, outcome, len(hits), (time.monotonic() - started) * 1000)
