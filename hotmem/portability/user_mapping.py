"""Selection of the records of an import, and the user that each is imported to."""

from dataclasses import dataclass
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.text.validation import validate_id


@dataclass(frozen=True, slots=True)
class UserMapping:
    """Selection of records and their target user.

    Attributes:
        user_id: Target user ID; None is the user ID of each record.
        from_user: User ID in the file whose records are imported; other records are skipped. None
            imports the records of `user_id` and refuses others.
    """

    user_id: str | None = None
    from_user: str | None = None

    def target(self, given: object, where: str) -> str | None:
        """Return the target user of a record; None if the record is skipped.

        Args:
            given: User ID of the record, or None.
            where: Name of the record for the error.

        Raises:
            InvalidInput: If neither the record nor the import has a user ID, or they differ.
        """
        if given is not None and not isinstance(given, str):
            raise InvalidInput(f"{where}: user_id is {type(given).__name__}, not a string.")
        if self.from_user is not None:
            return self.user_id if given == self.from_user else None
        if self.user_id is not None:
            if given is not None and given != self.user_id:
                raise InvalidInput(
                    f"{where}: user_id is {given!r}. Only records of {self.user_id!r} are "
                    f"imported; pass from_user (--from-user) {given!r} to import these as that "
                    "user's."
                )
            return self.user_id
        if not given:
            raise InvalidInput(
                f"{where} has no user_id. Add one to every record, or pass user_id (--user)."
            )
        return validate_id(given, "user_id")


ALL_USERS: Final = UserMapping()
"""Every record keeps its own user ID."""
