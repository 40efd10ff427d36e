"""UserMapping memory the records of a file go into."""

from dataclasses import dataclass
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.text.validation import validate_id


@dataclass(frozen=True, slots=True)
class UserMapping:
    """UserMapping records are taken in, and into whose memory.

    Attributes:
        user_id: Whose memory they go into; None is each record's own user.
        from_user: The user id in the file whose records are taken; the others are left out. None
            takes those of `user_id`, and refuses others.
    """

    user_id: str | None = None
    from_user: str | None = None

    def taken(self, given: object, where: str) -> str | None:
        """The user whose memory a record goes into; None if it is left out.

        Args:
            given: The user id that the record names, or None.
            where: Which record it is, for the error.

        Raises:
            InvalidInput: If it names no user and none was given, or another one than was given.
        """
        if given is not None and not isinstance(given, str):
            raise InvalidInput(f"{where}: user_id is {type(given).__name__}, not a string.")
        if self.from_user is not None:
            return self.user_id if given == self.from_user else None
        if self.user_id is not None:
            if given is not None and given != self.user_id:
                fix = f"Only records of {self.user_id!r} go into this memory; name from_user (--from-user) {given!r} to take these in as that user's."
                raise InvalidInput(f"{where}: user_id is {given!r}. {fix}")
            return self.user_id
        if not given:
            raise InvalidInput(
                f"{where} has no user_id. Every record says whose it is, or the import does."
            )
        return validate_id(given, "user_id")


EVERYONE: Final = UserMapping()
"""Each record goes into its own user's memory."""
