"""Where a memory is: a file, or a database on a PostgreSQL server."""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

SCHEMES: Final = ("postgresql", "postgres")
"""Schemes of server URLs, as libpq accepts them."""

_URL: Final = re.compile(rf"(?:{'|'.join(SCHEMES)}):/+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """The URL of a PostgreSQL database.

    Attributes:
        url: The URL with its password.
    """

    url: str = field(repr=False)

    def __str__(self) -> str:
        """The URL without user, password and parameters, for messages."""
        parts = urlsplit(self.url)
        hosts = parts.netloc.rpartition("@")[2] or "localhost"
        return f"postgresql://{hosts}{parts.path}"

    @property
    def name(self) -> str:
        """A file name unique to the database."""
        return f"postgresql-{sha256(str(self).encode()).hexdigest()[:12]}"


Location: TypeAlias = Path | ServerUrl
"""Where a memory is."""


def locate(given: str | Path | ServerUrl) -> Location:
    """The location that a user named: a URL that begins with postgresql://, or a path."""
    if isinstance(given, ServerUrl):
        return given
    begins = _URL.match(str(given))
    if begins is None:
        return Path(given)
    # a Path has lost one of the slashes
    return ServerUrl(f"postgresql://{str(given)[begins.end() :]}")
