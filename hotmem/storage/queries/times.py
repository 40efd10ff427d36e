"""Stored times: whole microseconds since 1970 in UTC, so that none is rounded."""

from datetime import UTC, datetime, timedelta
from typing import Final

from hotmem.storage.database import Connection

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


def to_stored(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime."""
    return (moment - EPOCH) // MICROSECOND


def from_stored(microseconds: int) -> datetime:
    """The UTC datetime of stored microseconds."""
    return EPOCH + microseconds * MICROSECOND


def now(conn: Connection) -> datetime:
    """The time by the database's clock. The clocks of its clients may differ."""
    return from_stored(conn.execute("SELECT clock()").fetchone()[0])
