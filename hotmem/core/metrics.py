"""OpenTelemetry counters of turns that could not be stored at once: numbers, never text.

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


def count_spooled(turns: int) -> None:
    """Counts turns that wait in the spool."""
    if metrics is not None:
        _spooled.add(turns)


def count_lost(turns: int) -> None:
    """Counts turns that are lost."""
    if metrics is not None:
        _lost.add(turns)
