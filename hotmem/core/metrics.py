"""OpenTelemetry counters: turns that could not be stored at once, and calls to a language model.

They are numbers, never text.

Nothing is counted unless OpenTelemetry is installed and the host program has configured a meter
provider.
"""

try:
    from opentelemetry import metrics
except ImportError:  # an extra
    metrics = None  # type: ignore[assignment]  # not installed

if metrics is not None:
    _meter = metrics.get_meter("hotmem")
    _spooled = _meter.create_counter(
        "hotmem.turns_spooled", description="Turns that wait until the database can be written"
    )
    _lost = _meter.create_counter(
        "hotmem.turns_lost", description="Turns that are neither stored nor wait"
    )
    _calls = _meter.create_counter(
        "hotmem.extraction_calls", description="Calls to the model that extracts facts"
    )
    _tokens = _meter.create_counter(
        "hotmem.extraction_tokens", description="Tokens sent to and received from that model"
    )
    _facts = _meter.create_counter(
        "hotmem.extraction_facts", description="Facts that this model proposed"
    )


def count_spooled(turns: int) -> None:
    """Counts turns that wait in the spool."""
    if metrics is not None:
        _spooled.add(turns)


def count_lost(turns: int) -> None:
    """Counts turns that are lost."""
    if metrics is not None:
        _lost.add(turns)


def count_extraction(outcome: str, prompt: int, completion: int, stored: int, dropped: int) -> None:
    """Counts a call to the model that extracts facts, and what it cost and gave.

    Args:
        outcome: Its outcome.
        prompt: Tokens sent.
        completion: Tokens received.
        stored: Facts stored.
        dropped: Facts dropped.
    """
    if metrics is not None:
        _calls.add(1, {"outcome": outcome})
        _tokens.add(prompt, {"direction": "sent"})
        _tokens.add(completion, {"direction": "received"})
        _facts.add(stored, {"state": "stored"})
        _facts.add(dropped, {"state": "dropped"})
