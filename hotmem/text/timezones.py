"""Time zones as stored: by name ("Europe/Berlin") or by offset from UTC ("+02:00")."""

from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_OFFSET_START: Final = len("2026-03-02T05:45:00")


def local_now() -> datetime:
    """The current time in this machine's time zone."""
    return datetime.now(UTC).astimezone()


def zone_name(moment: datetime) -> str | None:
    """The name of an aware datetime's zone, its offset if it has no name, or None for UTC."""
    if isinstance(moment.tzinfo, ZoneInfo):
        return moment.tzinfo.key
    return None if not moment.utcoffset() else moment.isoformat(timespec="seconds")[_OFFSET_START:]


def to_named_zone(moment: datetime, zone: str | None) -> datetime:
    """Convert a datetime to a stored zone; unchanged if it would be out of range.

    Args:
        moment: An aware datetime.
        zone: As `zone_name` returns it; an unknown zone counts as UTC.
    """
    return to_zone(moment, parse_zone(zone) if zone else UTC)


def to_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """Convert a datetime to a zone, None for this machine's; unchanged if out of range."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


@cache
def parse_zone(zone: str) -> tzinfo:
    """The zone of a name or an offset; UTC if this machine does not know it."""
    if zone[0] in "+-":
        return datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo or UTC
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
