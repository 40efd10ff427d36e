"""The line that says how to call the user."""

import re
from collections.abc import Sequence
from typing import Final

from hotmem.session_start.rendering import USER_HEADING, Line
from hotmem.text.escaping import escape_for_prompt
from hotmem.types.session_start import MemoryCandidate, SessionFacts
from hotmem.understanding.facts.instructions.topics import (
    capitalize_words,
    preferred_name,
    refused_name,
)
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER

STATES_NAME: Final = re.compile(
    r"^(?:(?:the\s+)?user(?:['’]s\s+name)?|my\s+name|(?:his|her|their)?\s*name)"
    r"(?:\s+is|:)(?:\s+called|\s+named)?\s+"
    r"(?P<name>[^\W\d_][\w'’-]*(?:\s+[A-Z][\w'’-]*){0,2})\W*$",
    re.IGNORECASE,
)
"""A stored memory that states the user's name: "User's name is Ana"."""


def name_lines(stored: SessionFacts, rules: Sequence[MemoryCandidate]) -> list[Line]:
    """One line with the name to use and the user's other name; none if no name is known.

    The preferred name precedes names in facts, a stored memory, and the speaker name. A name that
    the user refused later is left out.

    Args:
        stored: What is stored of the user.
        rules: The instructions in force, latest first within their order.
    """
    own = {stored.speaker, UNNAMED_SPEAKER, "", None}
    refused_at = {
        refused_name(rule.object).casefold(): rule.order_time
        for rule in reversed(rules)
        if rule.subject in own
    }
    stated = [
        row.object
        for row in stored.facts
        if row.relation == "is called"
        and row.subject in own
        and (not (refused := refused_at.get(row.object.casefold())) or row.order_time > refused)
    ]
    noted = next(
        (
            capitalize_words(match["name"])
            for row in stored.notes
            if (match := STATES_NAME.match(row.text))
        ),
        "",
    )
    preferred = next(
        (name for rule in rules if rule.subject in own and (name := preferred_name(rule.object))),
        "",
    )
    names = [name for name in (preferred, *stated, noted, stored.speaker) if name]
    if not names:
        return []
    other = next(
        (
            name
            for name in (stored.speaker, *names)
            if name and name.casefold() != names[0].casefold()
        ),
        "",
    )
    text = f"Call them {escape_for_prompt(names[0])}."
    if other:
        text += f" Their name is {escape_for_prompt(other)}."
    return [Line(USER_HEADING, text)]
