"""Where a memory is: a file, or a database on a PostgreSQL server."""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Final, TypeAlias

from hotmem.core.validation import validate_type

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
        rest = self.url.partition("://")[2]
        base, _, query = rest.partition("?")
        if "@" in query:  # a password with a question mark, or one in the parameters
            return "postgresql://…"
        shown = base.rpartition("@")[2].partition("#")[0]
        return f"postgresql://{shown if shown and shown[0] != '/' else f'localhost{shown}'}"

    @property
    def name(self) -> str:
        """A file name unique to the database."""
        return f"postgresql-{sha256(str(self).encode()).hexdigest()[:12]}"


Location: TypeAlias = Path | ServerUrl
"""Where a memory is."""


def locate(given: str | Path | ServerUrl) -> Location:
    """The location that a user named: a URL that begins with postgresql://, or a path.

    Raises:
        InvalidInput: If it is something else.
    """
    validate_type(
        given,
        str | PathLike | ServerUrl,
        "The location of the memory",
        "Pass a file, such as 'memory.db', or a postgresql:// URL.",
    )
    if isinstance(given, ServerUrl):
        return given
    begins = _URL.match(str(given))
    if begins is None:
        return Path(given)
    # a Path has lost one of the slashes
    return ServerUrl(f"postgresql://{str(given)[begins.end() :]}")
