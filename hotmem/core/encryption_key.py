"""What a memory file is encrypted with, kept out of every representation, message and log."""

from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeAlias

from hotmem.errors import InvalidInput

KeySource: TypeAlias = str | Path | Callable[[], str]
"""A passphrase, the path of a file that holds it, or a function that returns it."""


class Key:
    """A passphrase.

    Args:
        passphrase: At least one character.

    Raises:
        InvalidInput: If it is empty or no text.
    """

    __slots__ = ("_hex",)

    def __init__(self, passphrase: str) -> None:
        if not isinstance(passphrase, str) or not passphrase:
            raise InvalidInput(
                "The key is empty or no text. Use a passphrase of at least one character; without a key the file is plain."
            )
        try:
            self._hex = passphrase.encode().hex()
        except UnicodeEncodeError:
            raise InvalidInput(
                "The key is no text that can be written as UTF-8. Use another passphrase."
            ) from None

    def __repr__(self) -> str:
        return "Key(…)"

    @classmethod
    def of(cls, source: KeySource | None) -> Self | None:
        """The key that a source gives; None without one. Blocking.

        Raises:
            InvalidInput: If the source gives none.
        """
        if source is None:
            return None
        if isinstance(source, Path):
            return cls(_first_line(source))
        return cls(source() if callable(source) else source)

    def pragma(self) -> str:
        """The statement that a connection gives it with.

        In hexadecimal, so that any character can be in it.
        """
        return f"PRAGMA hexkey = '{self._hex}'"

    def parameter(self) -> str:
        """The same in the address of a file."""
        return f"hexkey={self._hex}"


def _first_line(path: Path) -> str:
    try:
        return path.read_text("utf-8").partition("\n")[0].removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"The key file {path} is not UTF-8. Save it as UTF-8, with the passphrase as its first line."
        ) from None
    except OSError as error:
        raise InvalidInput(
            f"The key file {path} cannot be read ({type(error).__name__}). Name another, or make it readable."
        ) from error
