"""Extraction of standing instructions from an utterance.

"Call me Annie" and "use Celsius" hold until they are revoked; "call me a taxi" and "stop the music"
are one-time requests. A sentence is an instruction if `wish_model` takes it for a wish, alone and
beside its neighbours. Those that `safety` rejects are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from hotmem.text.escaping import escape_for_prompt
from hotmem.types import Statement, Termination
from hotmem.types.parse import Doc, Span
from hotmem.understanding.facts.instructions.safety import is_unsafe
from hotmem.understanding.facts.instructions.topics import exclusive_topics, refused_name
from hotmem.understanding.facts.instructions.wish_model import wish
from hotmem.understanding.facts.instructions.withdrawals import find_withdrawal, revokes_explicitly
from hotmem.understanding.facts.relations import ASKS, IS_CALLED
from hotmem.understanding.facts.third_person import sentence
from hotmem.understanding.query.voice_commands import asks_to_delete
from hotmem.understanding.sharing import permits


@dataclass(frozen=True, slots=True)
class Instruction:
    """A standing instruction.

    Attributes:
        words: Its words, without courtesies.
        span: First character of its words in the text, and one past the last.
    """

    words: str
    span: tuple[int, int]


MAX_WORDS: Final = 32
"""Words of the longest instruction."""

MAX_SENTENCE_CHARACTERS: Final = 1000
"""Characters of the longest sentence that is read."""

MIN_WISH: Final = 0.6
"""Probability from which a sentence is a wish."""

MIN_AROUND: Final = 0.4
"""Probability that a wish must have together with the sentences before and after it."""

_WANTS_NAME: Final = re.compile(
    r"(?:the\s+)?user\s+(?:wants|prefers|likes|asks)\s+to\s+be\s+(?:called|addressed)\b",
    re.IGNORECASE,
)

_LEADING: Final = re.compile(
    r"^(?:(?:please|just|and|so|then|but|ok(?:ay)?|um+|uh+|hi|hey|hello|oh|well|by\s+the\s+way"
    r"|(?:can|could|would|will)\s+you)[\s,]+)+",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    r"(?:[\s,]+(?:please|okay|ok|and|but|so|thanks|thank\s+you|or|then|alright))+\W*$",
    re.IGNORECASE,
)


def read_instructions(doc: Doc, speaker: str) -> Iterator[Statement]:
    """Yield the standing instructions of an utterance as statements.

    Args:
        doc: The parsed utterance.
        speaker: The speaker's name.
    """
    for instruction in find_instructions(doc):
        statement = ASKS.statement(
            speaker,
            instruction.words,
            sentence(f"{speaker} asks:", instruction.words),
            *instruction.span,
        )
        if refused := refused_name(instruction.words):
            statement = replace(statement, ending=Termination((refused,), (IS_CALLED.name,)))
        yield statement


def find_instructions(doc: Doc) -> Iterator[Instruction]:
    """Yield the standing instructions of a text, in order."""
    spans = list(doc.sents)
    for index, span in enumerate(spans):
        text = span.text.rstrip()
        if len(text) > MAX_SENTENCE_CHARACTERS:
            continue
        near = spans[max(index - 1, 0) : index + 2]
        around = doc[near[0].start : near[-1].end]
        start, withdrawn = span.start_char, find_withdrawal(text, 0)
        if withdrawn is not None:
            end = text.find(",", withdrawn[1])
            yield from _instruction(text if end < 0 else text[:end], start)
            rest = doc.char_span(start + end + 1, start + len(text), alignment_mode="contract")
            if end < 0 or not rest:
                continue
            span, text, start = rest, rest.text, rest.start_char
        if _is_wish(span, around):
            yield from _instruction(text, start)


def _instruction(text: str, start: int) -> Iterator[Instruction]:
    """Yield the instruction in a text that begins at an offset, if it is one to follow."""
    words = _clean(text)
    safe = revokes_explicitly(words) or not is_unsafe(words, text)
    if words and len(words.split()) <= MAX_WORDS and safe:
        yield Instruction(words, (start, start + len(text)))


def _is_wish(sentence: Span, around: Span) -> bool:
    """Whether a sentence is a wish, alone and beside those around it.

    No request to forget is one, and no permission to tell others.

    Beside what is unsafe, only one on a known topic is; one with fences or tags was not spoken.
    """
    if wish(sentence) < MIN_WISH or escape_for_prompt(sentence.text) != sentence.text:
        return False
    if asks_to_delete(sentence.text) or permits(sentence.text):
        return False
    safe = bool(exclusive_topics(sentence.text)) or not is_unsafe(around.text)
    return safe and (around == sentence or wish(around) >= MIN_AROUND)


def is_instruction(doc: Doc) -> bool:
    """Whether a note is a standing instruction from its first word on.

    "Always call me Annie", "The user wants to be called Annie".
    """
    if _WANTS_NAME.match(doc.text):
        return True
    first = next(find_instructions(doc), None)
    return first is not None and first.span[0] == 0


def is_setting(doc: Doc) -> bool:
    """Whether an utterance is an instruction on a known topic, which no memory helps to follow."""
    return bool(exclusive_topics(doc.text)) and is_instruction(doc)


def _clean(text: str) -> str:
    """Remove courtesies, and put the first word into lower case."""
    words = _LEADING.sub("", _ENDING.sub("", text.strip(" ,;:-–—"))).strip(" .!?,;:")
    return words if re.match(r"I\b", words) else f"{words[:1].lower()}{words[1:]}"
