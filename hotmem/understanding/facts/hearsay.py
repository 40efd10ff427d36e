"""What somebody else in the room says of the user: they may know, or may not."""

from dataclasses import replace

from hotmem.types import Understanding


def mark_hearsay(understanding: Understanding, owner: str) -> Understanding:
    """What was understood of somebody else's turn, with what it says of the user in doubt, so that it ends nothing they said themselves.

    Args:
        understanding: What was understood.
        owner: The user's name, whole or the first one.
    """
    names = {owner.casefold(), owner.casefold().split()[0]}
    statements = (
        replace(statement, hedged=True, replaces=False)
        if _owner(statement.subject) in names
        else statement
        for statement in understanding.statements
    )
    return replace(understanding, statements=tuple(statements))


def _owner(subject: str) -> str:
    """Whose it is: "ana" of "Ana's dog"."""
    return subject.casefold().replace("’", "'").split("'s ")[0].removesuffix("'")
