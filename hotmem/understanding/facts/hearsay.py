"""Hearsay: what other speakers in the conversation say of the user."""

from dataclasses import replace

from hotmem.types import Understanding


def mark_hearsay(understanding: Understanding, owner: str) -> Understanding:
    """Mark another speaker's statements about the user as hedged.

    They can put what the user said in doubt, and end nothing.

    Args:
        understanding: The other speaker's turn.
        owner: The user's name, in full or the first name.
    """
    names = {owner.casefold(), owner.casefold().split()[0]}
    statements = (
        replace(statement, hedged=True) if _owner(statement.subject) in names else statement
        for statement in understanding.statements
    )
    return replace(understanding, statements=tuple(statements))


def _owner(subject: str) -> str:
    """Return the first possessor of a subject: "ana" of "Ana's dog"."""
    return subject.casefold().replace("’", "'").split("'s ")[0].removesuffix("'")
