"""Facts as a language model proposes them: untrusted, but of the right types and lengths."""

from dataclasses import dataclass
from typing import Any, Final

from hotmem.understanding.extraction.answers import json_objects, one_line
from hotmem.understanding.facts import relations
from hotmem.understanding.facts.relations import Relation

MAX_PROPOSALS: Final = 60
"""Facts of one answer that are considered."""

MAX_CHARACTERS: Final = {"subject": 80, "value": 200, "text": 300, "quote": 600}
"""Length of each text; a fact with a longer one is dropped."""

RELATIONS: Final[dict[str, Relation]] = {
    relation.name: relation
    for relation in sorted(
        (one for one in vars(relations).values() if isinstance(one, Relation)),
        key=lambda one: one.single,
        reverse=True,
    )
    if relation is not relations.ASKS
}
"""The relations that a model may name. Of those with the same name the one of several values is
taken, which ends nothing. None of them instructs the bot."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fact as a model proposes it.

    Attributes:
        turn: Number of the turn, from 1.
        quote: The words of the turn that it rests on.
        subject: The person or thing that it is about.
        relation: One of `RELATIONS`, or "".
        value: The object; may be "" without a relation.
        text: The fact as a sentence.
        negated: Whether it is said not to be so.
        uncertain: Whether it was said with doubt.
    """

    turn: int
    quote: str
    subject: str
    relation: str
    value: str
    text: str
    negated: bool
    uncertain: bool


def read_proposals(answer: str) -> tuple[list[Proposal], int] | None:
    """Read the facts in a model's answer.

    Args:
        answer: The answer; thoughts and code fences around its JSON are skipped.

    Returns:
        The facts, and how many were dropped because they are malformed, too long or hold what only
        prompts hold; None if the answer has no list of facts.
    """
    values = (found.get("facts") for found in json_objects(answer))
    listed = next((facts for facts in values if isinstance(facts, list)), None)
    if listed is None:
        return None
    read = [_read(one) for one in listed[:MAX_PROPOSALS]]
    facts = [one for one in read if one is not None]
    return facts, len(listed) - len(facts)


def _read(value: Any) -> Proposal | None:  # noqa: ANN401 - whatever JSON holds
    """A proposal; None if it cannot be one."""
    if not isinstance(value, dict):
        return None
    turn, relation = value.get("turn"), value.get("relation") or ""
    if not isinstance(turn, int) or isinstance(turn, bool) or not isinstance(relation, str):
        return None
    texts = {name: one_line(value.get(name), limit) for name, limit in MAX_CHARACTERS.items()}
    if any(text is None for text in texts.values()):
        return None
    relation = relation.strip().casefold()
    return Proposal(
        turn=turn,
        relation=relation if relation in RELATIONS else "",
        negated=value.get("negated") is True,
        uncertain=value.get("uncertain") is True,
        **{name: text or "" for name, text in texts.items()},
    )
