"""What the speaker asks always to be done: "Always give temperatures in Celsius when I ask about the weather", "Never call me Annie"."""

import re
from collections.abc import Iterator
from typing import Final

from hotmem.extraction.relations import ASKS
from hotmem.extraction.retelling import sentence
from hotmem.types import Statement
from hotmem.types.parse import Doc

LEAST_WORDS: Final = 4
MOST_WORDS: Final = 40
"""Words of an instruction; what is longer is a task, not a rule."""

_OPENING: Final = r"(?:(?:and|so|but|also|please|ok|okay|hey|remember|make sure)[, ]+)*(?:i(?:['’]d like| want| need) you )?(?:to )?"
_RULE: Final = r"(?P<rule>(?:always|never|do not ever|don['’]t ever)\s+|from now on\b,?\s*)"
_STANDING: Final = re.compile(rf"^{_OPENING}{_RULE}", re.IGNORECASE)
_WHENEVER: Final = re.compile(r"^(?P<rule>(?:whenever|every time) i [^,]+,\s*(?:please\s+)?)", re.IGNORECASE)


def read_instructions(doc: Doc, speaker: str) -> Iterator[Statement]:
    """Standing instructions of an utterance, one a sentence, in the speaker's own words; questions and what the speaker does are none."""
    for span in doc.sents:
        text = span.text.strip()
        rule = _STANDING.match(text) or _WHENEVER.match(text)
        if rule is None or text.endswith("?") or not LEAST_WORDS <= len(text.split()) <= MOST_WORDS:
            continue
        start = span.start_char + len(span.text) - len(span.text.lstrip())
        asked = next((token for token in span if token.idx >= start + rule.end()), None)
        if asked is None or asked.tag_ not in ("VB", "VBP") or any(child.dep_ == "nsubj" and child.i > asked.i for child in asked.children):
            continue
        told = text[rule.start("rule") :]
        words = sentence(f"{speaker} asks:", told[:1].lower() + told[1:])
        yield ASKS.statement(speaker, told.rstrip(" .!"), words, start, start + len(text))
