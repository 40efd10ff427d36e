"""Passphrase of an encrypted database, kept out of every representation, message and log."""

from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeAlias

from hotmem.errors import InvalidInput

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
