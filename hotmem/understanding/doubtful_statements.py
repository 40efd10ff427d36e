"""Statements that count for less: in doubt, not meant, by another than the user, or of a secret."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from hotmem.types import Statement, Turn, Understanding
from hotmem.understanding.facts.relations import ALLERGIC_TO, ASKS, IS_CALLED
from hotmem.understanding.private_statements import is_private
from hotmem.understanding.query.commands import term_ids
from hotmem.understanding.term_model import load_term_model, logistic

MIN_UNMEANT: Final = 0.5
"""Probability from which a statement is not meant (`python -m eval train-meant`)."""


@lru_cache(maxsize=4096)
def is_unmeant(text: str) -> bool:
    """Whether a statement is not meant: a dream, a game, a dictation, a joke, a doubted rumour.

    By a linear model of its words, trained by `python -m eval train-meant`.
    """
    return logistic(load_term_model("meant-1", "unmeant").logit(term_ids(text))) >= MIN_UNMEANT


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


def mark_hearsay(understanding: Understanding, owner: str, turn: Turn) -> Understanding:
    """Keep of another speaker's turn no wish, no correction and nothing about the user.

    Their words are stored all the same, but they end, correct and doubt nothing that the user said,
    of themself or of others.

    Args:
        understanding: The other speaker's turn.
        owner: The user's name, in full or the first name; empty if nobody is known to be the user,
            and then only what the speaker says of themself is kept.
        turn: The turn.
    """
    known = owner or turn.speaker or "user"
    names = {known.casefold(), known.casefold().split()[0]}
    own = {(turn.speaker or "").casefold()}
    kept = (
        one if _owner(one.subject) in own else replace(one, replaces=False)
        for one in understanding.statements
        if one.relation != ASKS.name and (_owner(one.subject) in names) != bool(owner)
    )
    return replace(understanding, statements=tuple(kept), corrections=(), jest=False, lasting=0.0)


def as_secret_as(understanding: Understanding, turn: Turn) -> Understanding:
    """Keep of a turn that surely holds a secret no statement that does not show that it is one.

    "Lena has HIV" of "Lena told me in confidence that she has HIV" would be shown to anybody.
    """
    if not is_private(turn.text, least=0.9):
        return understanding
    kept = (one for one in understanding.statements if is_order(one) or is_private(one.text))
    return replace(understanding, statements=tuple(kept))


def _owner(subject: str) -> str:
    """Return the first possessor of a subject: "ana" of "Ana's dog"."""
    return subject.casefold().replace("’", "'").split("'s ")[0].removesuffix("'")
