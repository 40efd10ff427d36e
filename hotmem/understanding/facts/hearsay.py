"""Hearsay: what other speakers in the conversation say of the user."""

from dataclasses import replace

from hotmem.types import Statement, Understanding
from hotmem.understanding.facts.relations import IS_CALLED


def mark_hearsay(understanding: Understanding, owner: str) -> Understanding:
    """Mark another speaker's statements about the user as hedged.

    They can put what the user said in doubt, but not the user's name, and end nothing.

    Args:
        understanding: The other speaker's turn.
        owner: The user's name, in full or the first name.
    """
    names = {owner.casefold(), owner.casefold().split()[0]}
    statements = (
        _hedged(statement) if _owner(statement.subject) in names else statement
        for statement in understanding.statements
    )
    return replace(understanding, statements=tuple(statements))


def _hedged(statement: Statement) -> Statement:
    names_owner = statement.relation == IS_CALLED.name and "'s " not in statement.subject
    return replace(statement, hedged=True, replaces=statement.replaces and not names_owner)


def _owner(subject: str) -> str:
    """Return the first possessor of a subject: "ana" of "Ana's dog"."""
    return subject.casefold().replace("’", "'").split("'s ")[0].removesuffix("'")
