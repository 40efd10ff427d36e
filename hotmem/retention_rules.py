"""Rules of retention as a file holds them."""

from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.options import RetentionRule

RULES: Final = TypeAdapter(tuple[RetentionRule, ...])

EXAMPLE: Final = (
    '[{"days": 365}, {"days": 90, "category": "projects"}, {"days": 30, "user_id": "ana"}]'
)


def rules_of(path: Path) -> tuple[RetentionRule, ...]:
    """The rules in a JSON file.

    ``[{"days": 365}, {"days": 90, "category": "projects"}, {"days": 30, "user_id": "ana"}]``.

    Raises:
        InvalidInput: If it cannot be read, or holds something else.
    """
    try:
        return RULES.validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Name a file of rules by HOTMEM_RETENTION_FILE."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(
            f"{path}: {place} cannot be used: {first['msg']}. Write a list such as {EXAMPLE}."
        ) from error
