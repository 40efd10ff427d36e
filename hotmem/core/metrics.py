"""OpenTelemetry metrics of searches, turns that could not be stored, and calls to a language model.

They are numbers, never text.

Nothing is counted unless OpenTelemetry is installed and the host program has configured a meter
provider.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Final

try:
    from opentelemetry import metrics
except ImportError:  # an extra
    metrics = None  # type: ignore[assignment]  # not installed

COUNTERS: Final = {
    "search_hits": "What they found, by source",
    "embeddings": "Texts whose embedding was in the cache, or not",
    "turns_spooled": "Turns that wait until the database can be written",
    "turns_lost": "Turns that are neither stored nor wait",
    "extraction_calls": "Calls to the configured language model",
    "extraction_tokens": "Tokens sent to and received from that model",
    "extraction_facts": "Facts that this model proposed",
}
"""The counters and their descriptions."""

if metrics is not None:
    _meter = metrics.get_meter("hotmem")
    _searches = _meter.create_histogram(
        "hotmem.search", unit="ms", description="Duration of recalls and searches"
    )
    _counters = {
        name: _meter.create_counter(f"hotmem.{name}", description=description)
        for name, description in COUNTERS.items()
    }


def _count(counter: str, number: int, **attributes: str | bool) -> None:
    if metrics is not None:
        _counters[counter].add(number, attributes)


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
    for source, found in hits.items():
        _count("search_hits", found, kind=kind, source=source)


def count_embeddings(cached: int, encoded: int) -> None:
    """Counts texts whose embedding was in the cache, and texts that were encoded."""
    _count("embeddings", cached, cached=True)
    _count("embeddings", encoded, cached=False)


def count_spooled(turns: int) -> None:
    """Counts turns that wait in the spool."""
    _count("turns_spooled", turns)


def count_lost(turns: int) -> None:
    """Counts turns that are lost."""
    _count("turns_lost", turns)


def count_model_call(purpose: str, outcome: str, prompt: int, completion: int) -> None:
    """Counts a call to the configured language model, and what it cost.

    Args:
        purpose: What it was made for.
        outcome: Its outcome.
        prompt: Tokens sent.
        completion: Tokens received.
    """
    _count("extraction_calls", 1, purpose=purpose, outcome=outcome)
    _count("extraction_tokens", prompt, purpose=purpose, direction="sent")
    _count("extraction_tokens", completion, purpose=purpose, direction="received")


def count_facts(stored: int, dropped: int) -> None:
    """Counts what became of the facts that the model proposed."""
    _count("extraction_facts", stored, state="stored")
    _count("extraction_facts", dropped, state="dropped")
