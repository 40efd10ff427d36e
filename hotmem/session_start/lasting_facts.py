"""Lasting facts about the user: which of them are worth a line, and in which order."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from hotmem.block.rendering import quoted
from hotmem.ranking.relevance import MEDIUM_CONFIDENCE
from hotmem.session_start.material import STATES_NAME, USER_HEADING, Line, Material
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.stemming import stems
from hotmem.text.validation import normalize_value
from hotmem.types import EvidenceKind
from hotmem.types.sessions import MemoryCandidate
from hotmem.understanding.facts.instructions.extraction import (
    revoked_instructions,
    revokes_explicitly,
)
from hotmem.understanding.facts.instructions.safety import (
    exclusive_topics,
    is_unsafe,
    preferred_name,
    refused_name,
)
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER
from hotmem.understanding.lexicon import FAMILY, PETS
from hotmem.understanding.private_statements import is_shown_unasked

MAX_FACTS: Final = 6

RELATION_ORDER: Final[Mapping[str, int]] = {
    "allergy": 0,
    "condition": 0,
    "medicine": 1,
    "diet": 1,
    "partner": 2,
    "relative": 3,
    "is called": 3,
    "lives-in": 4,
    "works": 5,
    "studies": 5,
    "pet": 6,
    "origin": 7,
    "born": 7,
}
"""Order of the relations of lasting facts, the most important first."""

_NOTED_ORDER: Final[Mapping[str, int]] = {
    "is allergic to": 0,
    "is married to": 2,
    "lives in": 4,
    "lives with": 4,
    "works at": 5,
    "works as": 5,
    "studies at": 5,
    "is from": 7,
    "was born in": 7,
}
"""The same of what notes state, and of facts that earlier versions read."""

LASTING_RELATIONS: Final = {**_NOTED_ORDER, **RELATION_ORDER}
"""All of them."""

_IMPORTANCE_ORDER: Final = {5: 2, 4: 6}
"""Order of memories that were stored explicitly, by importance."""

_STATES_FACT: Final = re.compile(
    r"(?P<subject>I|(?:the\s+)?user|[^\W\d_]\w*?)(?:\s+(?:is|am|was)|['’][ms])?\s+"
    r"(?P<relation>allergic\s+to|married\s+to|lives?\s+(?:in|with)|works?\s+(?:at|as)"
    r"|stud(?:y|ies)\s+at|from|born\s+in)\b",
    re.IGNORECASE,
)
"""A stored memory that states a lasting fact: "I am allergic to peanuts", "User lives in Leeds"."""

_DATED: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|next\s+\w+|this\s+(?:week|weekend|month)"
    r"|on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
"""A time expression, which no lasting fact has."""


def fact_lines(material: Material) -> list[Line]:
    """The lines of lasting facts of at least medium confidence, the most important first."""
    stored = material.stored
    ordered = sorted(
        (
            (order, -row.confirmations, -row.order_time, row)
            for row in (*stored.facts, *stored.notes)
            if (order := _order(row, stored.speaker)) is not None
            and is_shown_unasked(f"{row.text}\n{row.source_text}")
        ),
        key=lambda each: each[:3],
    )
    lines = []
    for *_, row in ordered:
        item = material.item(
            escape_for_prompt(row.text), EvidenceKind.MEMORY, row.key, relevance=row.importance / 5
        )
        if item.confidence >= MEDIUM_CONFIDENCE:
            lines.append(Line(USER_HEADING, f"- {item.text}", item))
    return lines[:MAX_FACTS]


def _order(row: MemoryCandidate, speaker: str | None) -> int | None:
    """Position of a memory among the lasting facts; None if it is not one."""
    if not row.relation:
        if STATES_NAME.match(row.text) or _DATED.search(row.text):
            return None
        return _order_of_stored(row, speaker)
    if row.relation == "is called":
        own = row.subject.casefold() in {UNNAMED_SPEAKER.casefold(), (speaker or "").casefold()}
        named = row.subject.casefold().split()[-1] in FAMILY | PETS
        return RELATION_ORDER[row.relation] if named and not own else None
    return LASTING_RELATIONS[row.relation]


def _order_of_stored(row: MemoryCandidate, speaker: str | None) -> int | None:
    """Position of a memory that was stored explicitly.

    That of the fact about the user which it states, else by its importance.
    """
    stated = _STATES_FACT.match(row.text)
    users = {"i", "user", "the user", (speaker or "").casefold()}
    if stated and stated["subject"].casefold() in users:
        return next(
            order
            for relation, order in _NOTED_ORDER.items()
            if stems(stated["relation"]) <= stems(relation)
        )
    return _IMPORTANCE_ORDER.get(row.importance)


def in_force(rules: Sequence[MemoryCandidate]) -> list[MemoryCandidate]:
    """The instructions that are in force, those about names first.

    An instruction is not in force if it was revoked, if a later one on the same exclusive topic
    (name, language, units, form of answers) replaces it, or if it asks for more than how the bot
    speaks to the user.

    Args:
        rules: Instructions, latest first.
    """
    topics_taken: set[str] = set()
    preferred: set[str] = set()
    refused: set[str] = set()
    texts: set[str] = set()
    revoked: set[int] = set()
    kept = []
    for place, rule in enumerate(rules):
        if rule.key in revoked:
            continue
        earlier = [one for one in rules[place + 1 :] if one.subject == rule.subject]
        revokes = {
            earlier[one].key
            for one in revoked_instructions(rule.object, [one.object for one in earlier])
        }
        revoked |= revokes
        if revokes or revokes_explicitly(rule.object) or is_unsafe(escape_for_prompt(rule.object)):
            continue
        topics = exclusive_topics(rule.object)
        name = preferred_name(rule.object).casefold()
        other = refused_name(rule.object).casefold()
        text = normalize_value(rule.object)
        if (
            text in texts
            or (topics and topics <= topics_taken)
            or (name and name in refused)
            or (other and other in preferred)
        ):
            continue
        texts.add(text)
        topics_taken |= topics
        preferred |= {name} - {""}
        refused |= {other} - {""}
        kept.append(rule)
    return sorted(kept, key=lambda rule: "name" not in exclusive_topics(rule.object))


def instruction_line(material: Material, rule: MemoryCandidate) -> Line:
    """The line of an instruction: its words and, if another speaker gave it, that name."""
    text = quoted(rule.object.strip())
    own = rule.subject in (material.stored.speaker, UNNAMED_SPEAKER, "")
    speaker = "" if own else f"{escape_for_prompt(rule.subject)}: "
    item = material.item(text[1:-1], EvidenceKind.MEMORY, rule.key)
    return Line("", f"- {speaker}{text}", item)
