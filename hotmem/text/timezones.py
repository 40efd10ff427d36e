"""Where something was said.

Time zones by name or by their distance from UTC, as a file keeps them.
"""

from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

BEHIND_THE_TIME: Final = len("2026-03-02T05:45:00")


def local_now() -> datetime:
    """The wall clock, in this machine's zone."""
    return datetime.now(UTC).astimezone()


def zone_name(moment: datetime) -> str | None:
    """The name of the zone an aware moment is given in ("Europe/Berlin"), its distance from UTC where it has none ("+02:00"), or None for UTC."""
    if isinstance(moment.tzinfo, ZoneInfo):
        return moment.tzinfo.key
    return (
        None if not moment.utcoffset() else moment.isoformat(timespec="seconds")[BEHIND_THE_TIME:]
    )


def to_named_zone(moment: datetime, zone: str | None) -> datetime:
    """The same moment by the clock of a zone, or as it is where that clock cannot show it.

    Args:
        moment: An aware datetime.
        zone: As `zone_name` tells it; one that this machine does not know is taken for UTC.
    """
    return to_zone(moment, parse_zone(zone) if zone else UTC)


def to_zone(moment: datetime, clock: tzinfo | None) -> datetime:
    """The same moment by a clock, None being this machine's, or as it is where that clock cannot show it."""
    try:
        return moment.astimezone(clock)
    except OverflowError:
        return moment


@cache
def parse_zone(zone: str) -> tzinfo:
    """The zone of a name or of a distance from UTC; UTC where this machine does not know it."""
    if zone[0] in "+-":
        return datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo or UTC
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
