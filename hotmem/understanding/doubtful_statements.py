"""Which statements of a turn that may hold nothing lasting are in doubt."""

from dataclasses import replace

from hotmem.types import Statement
from hotmem.understanding.facts.relations import ALLERGIC_TO, ASKS, IS_CALLED


def in_doubt(statement: Statement) -> Statement:
    """The statement in doubt, so that it supersedes nothing; an allergy stays as it is."""
    if statement.relation == ALLERGIC_TO.name and not statement.negated:
        return statement
    return replace(statement, hedged=True, replaces=False)


def is_order(statement: Statement) -> bool:
    """Whether a statement says what the bot shall do: "keep it short", "call me Max"."""
    address = statement.relation == IS_CALLED.name and statement.changes
    return address or statement.relation == ASKS.name


def may_be_role(statement: Statement, speaker: str) -> bool:
    """Whether a statement names its speaker in words that also give a role: "I'm Batman"."""
    return (
        statement.relation == IS_CALLED.name
        and statement.subject == speaker
        and not statement.replaces
    )
