"""Where a memory is, a file or a database on a server, and the key of an encrypted file."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Final, Self, TypeAlias

from hotmem.core.validation import validate_type
from hotmem.errors import InvalidInput

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


KeySource: TypeAlias = str | Path | Callable[[], str]
"""A passphrase, the path of a file that holds it, or a function that returns it."""


class EncryptionKey:
    """A passphrase that its representation does not show.

    Args:
        passphrase: At least one character.

    Raises:
        InvalidInput: If it is empty, not a string, or cannot be encoded as UTF-8.
    """

    __slots__ = ("_hex",)

    def __init__(self, passphrase: str) -> None:
        if not isinstance(passphrase, str) or not passphrase:
            raise InvalidInput(
                "The key is empty or not a string. Use a passphrase of at least one character; "
                "without a key the file is not encrypted."
            )
        try:
            self._hex = passphrase.encode().hex()
        except UnicodeEncodeError:
            raise InvalidInput(
                "The key cannot be encoded as UTF-8. Use another passphrase."
            ) from None

    def __repr__(self) -> str:
        return "EncryptionKey(…)"

    @classmethod
    def from_source(cls, source: KeySource | None) -> Self | None:
        """Read the key from a source; None without a source. Blocking.

        Raises:
            InvalidInput: If the source has no valid passphrase.
        """
        if source is None:
            return None
        if isinstance(source, Path):
            return cls(_first_line(source))
        return cls(source() if callable(source) else source)

    def pragma(self) -> str:
        """The SQL statement that sets the key of a connection.

        The key is in hexadecimal, so it may contain any character.
        """
        return f"PRAGMA hexkey = '{self._hex}'"

    def uri_parameter(self) -> str:
        """The parameter that sets the key in a database URI."""
        return f"hexkey={self._hex}"


def _first_line(path: Path) -> str:
    try:
        return path.read_text("utf-8").partition("\n")[0].removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"The key file {path} is not UTF-8. Save it as UTF-8, with the passphrase on line 1."
        ) from None
    except OSError as error:
        raise InvalidInput(
            f"The key file {path} cannot be read ({type(error).__name__}). "
            "Name another file, or make it readable."
        ) from error
