"""Standing instructions: which of them are in force, and their lines."""

from collections.abc import Sequence

from hotmem.block.rendering import quoted
from hotmem.session_start.material import Material
from hotmem.session_start.rendering import Line
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.validation import normalize_value
from hotmem.types import EvidenceKind
from hotmem.types.session_start import MemoryCandidate
from hotmem.understanding.facts.instructions.safety import is_unsafe
from hotmem.understanding.facts.instructions.topics import (
    exclusive_topics,
    preferred_name,
    refused_name,
)
from hotmem.understanding.facts.instructions.withdrawals import (
    revoked_instructions,
    revokes_explicitly,
)
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER


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
