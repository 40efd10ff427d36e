"""Decision whether memory can help: not with courtesies, device commands or general questions."""

from collections.abc import Sequence
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types import Intent
from hotmem.types.parse import Doc
from hotmem.understanding.query.cues import DEVICE_COMMANDS, GENERAL_QUESTIONS

FIRST_PERSON: Final = wordlist("i me my mine myself we us our ours")

_OWN: Final = FIRST_PERSON - {"me"}
"""First-person words, without the "me" of "tell me a joke"."""


def needs_memory(
    doc: Doc,
    intent: Intent,
    *,
    entities: Sequence[str],
    known: Sequence[str],
    ambiguous: Sequence[str],
) -> bool:
    """Whether memory can help with an utterance.

    First-person words, stored names and ambiguous words always need memory.

    Args:
        doc: The parsed utterance.
        intent: Its intent.
        entities: Names in it.
        known: Stored names.
        ambiguous: Ambiguous words in it.
    """
    if intent is Intent.CHITCHAT:
        return False
    familiar = {name.casefold() for name in known}
    if (
        ambiguous
        or any(token.lower_ in _OWN for token in doc)
        or any(name.casefold() in familiar for name in entities)
    ):
        return True
    return not (DEVICE_COMMANDS.search(doc.text) or GENERAL_QUESTIONS.search(doc.text))
