"""Reading of settings from environment variables, with errors and warnings for people."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from hotmem.core.logs import log
from hotmem.errors import InvalidInput

ENV_FILE: Final = Path(".env")


class Variables(BaseSettings):
    """Settings that report validation errors as `InvalidInput` in one line.

    Raises:
        InvalidInput: If an argument is unknown, or a value or the file .env is invalid; the
            message names it.
    """

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any field's
        _check_names(type(self).model_fields, values)
        try:
            super().__init__(**values)
        except ValidationError as error:
            prefix = str(self.model_config.get("env_prefix", ""))
            raise InvalidInput(
                " ".join(_describe_error(prefix, one) for one in error.errors())
            ) from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{ENV_FILE.absolute()} is not UTF-8. Save it as UTF-8.") from error
        except OSError as error:
            raise InvalidInput(
                f"{ENV_FILE.absolute()} cannot be read ({type(error).__name__}). "
                "Make it readable, or move it away."
            ) from error


def warn_about_unknown(prefix: str, known: Collection[str], names: Iterable[str]) -> None:
    """Warn once about each variable with the prefix that is not known, with a suggestion.

    Not an error: container platforms set variables of their own, such as HOTMEM_PORT for a
    service named hotmem.
    """
    fields = [name.removeprefix(prefix) for name in known]
    for name in names:
        field = name.upper().removeprefix(prefix)
        if name.upper().startswith(prefix) and field not in fields:
            close = get_close_matches(field, fields, 1)
            warn_once(name, f"{prefix}{close[0]}" if close else None)


@cache
def warn_once(name: str, suggestion: str | None) -> None:
    """Warn about an unknown variable."""
    log.warning(
        f"{name} is not a setting and has no effect."
        + (f" Did you mean {suggestion}?" if suggestion else "")
    )


def _check_names(fields: Collection[str], given: Iterable[str]) -> None:
    """Check that arguments are fields; names of pydantic's own arguments begin with "_".

    Raises:
        InvalidInput: If one is not; the message suggests the closest field.
    """
    for name in given:
        if name not in fields and not name.startswith("_"):
            close = get_close_matches(name.lower().removeprefix("hotmem_"), fields, 1)
            suggestion = f"Did you mean {close[0]}?" if close else f"Use {', '.join(fields)}."
            raise InvalidInput(f"{name} is not a setting. {suggestion}")


def _describe_error(prefix: str, error: Any) -> str:  # noqa: ANN401 - pydantic's own dictionary
    name = str(error["loc"][0]).upper().removeprefix(prefix)
    return f"{prefix}{name} cannot be {error['input']!r}. {_without_prefix(error['msg'])}."


def _without_prefix(message: str) -> str:
    """Return the message of pydantic without its prefix."""
    return message.removeprefix("Value error, ").removesuffix(".")
