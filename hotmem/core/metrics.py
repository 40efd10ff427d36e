"""OpenTelemetry metrics of searches, turns that could not be stored, and calls to a language model.

They are numbers, never text.

Nothing is counted unless OpenTelemetry is installed and the host program has configured a meter
provider.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

try:
    from opentelemetry import metrics
except ImportError:  # an extra
    metrics = None  # type: ignore[assignment]  # not installed

if metrics is not None:
    _meter = metrics.get_meter("hotmem")
    _searches = _meter.create_histogram(
        "hotmem.search", unit="ms", description="Duration of recalls and searches"
    )
    _hits = _meter.create_counter("hotmem.search_hits", description="What they found, by source")
    _embeddings = _meter.create_counter(
        "hotmem.embeddings", description="Texts whose embedding was in the cache, or not"
    )
    _spooled = _meter.create_counter(
        "hotmem.turns_spooled", description="Turns that wait until the database can be written"
    )
    _lost = _meter.create_counter(
        "hotmem.turns_lost", description="Turns that are neither stored nor wait"
    )
    _calls = _meter.create_counter(
        "hotmem.extraction_calls", description="Calls to the configured language model"
    )
    _tokens = _meter.create_counter(
        "hotmem.extraction_tokens", description="Tokens sent to and received from that model"
    )
    _facts = _meter.create_counter(
        "hotmem.extraction_facts", description="Facts that this model proposed"
    )


@contextmanager
def timed_search(kind: str) -> Iterator[None]:
    """Records the duration of a recall or a search.

    Args:
        kind: "recall", or the name of the search.
    """
    began = perf_counter()
    try:
        yield
    finally:
        if metrics is not None:
            _searches.record((perf_counter() - began) * 1000, {"kind": kind})


def count_hits(kind: str, hits: Mapping[str, int]) -> None:
    """Counts what a recall or a search found.

    Args:
        kind: As for `timed_search`.
        hits: What it found, by layer or kind.
    """
    if metrics is not None:
        for source, found in hits.items():
            _hits.add(found, {"kind": kind, "source": source})


def count_embeddings(cached: int, encoded: int) -> None:
    """Counts texts whose embedding was in the cache, and texts that were encoded."""
    if metrics is not None:
        _embeddings.add(cached, {"cached": True})
        _embeddings.add(encoded, {"cached": False})


def count_spooled(turns: int) -> None:
    """Counts turns that wait in the spool."""
    if metrics is not None:
        _spooled.add(turns)


def count_lost(turns: int) -> None:
    """Counts turns that are lost."""
    if metrics is not None:
        _lost.add(turns)


def count_model_call(purpose: str, outcome: str, prompt: int, completion: int) -> None:
    """Counts a call to the configured language model, and what it cost.

    Args:
        purpose: What it was made for.
        outcome: Its outcome.
        prompt: Tokens sent.
        completion: Tokens received.
    """
    if metrics is not None:
        _calls.add(1, {"purpose": purpose, "outcome": outcome})
        _tokens.add(prompt, {"purpose": purpose, "direction": "sent"})
        _tokens.add(completion, {"purpose": purpose, "direction": "received"})


def count_facts(stored: int, dropped: int) -> None:
    """Counts what became of the facts that the model proposed."""
    if metrics is not None:
        _facts.add(stored, {"state": "stored"})
        _facts.add(dropped, {"state": "dropped"})
