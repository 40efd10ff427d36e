"""Hearsay: what other speakers in the conversation say."""

from dataclasses import replace

from hotmem.types import Turn, Understanding
from hotmem.understanding.facts.relations import ASKS


def mark_hearsay(understanding: Understanding, owner: str, turn: Turn) -> Understanding:
    """Keep of another speaker's turn no wish, no correction and nothing about the user.

    Their words are stored all the same, but they end, correct and doubt nothing of the user's.

    Args:
        understanding: The other speaker's turn.
        owner: The user's name, in full or the first name; empty if nobody is known to be the user,
            and then only what the speaker says of themself is kept.
        turn: The turn.
    """
    known = owner or turn.speaker or "user"
    names = {known.casefold(), known.casefold().split()[0]}
    kept = (
        statement
        for statement in understanding.statements
        if statement.relation != ASKS.name and (_owner(statement.subject) in names) != bool(owner)
    )
    return replace(understanding, statements=tuple(kept), corrections=(), jest=False, lasting=0.0)


def _owner(subject: str) -> str:
    """Return the first possessor of a subject: "ana" of "Ana's dog"."""
    return subject.casefold().replace("’", "'").split("'s ")[0].removesuffix("'")
