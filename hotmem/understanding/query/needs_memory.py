"""Whether memory can help with an utterance.

Not with courtesies, commands to a device, or what anyone could be asked.
"""

from collections.abc import Sequence
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types import Intent
from hotmem.types.parse import Doc
from hotmem.understanding.query.cues import DEVICE_COMMANDS, GENERAL_QUESTIONS

FIRST_PERSON: Final = wordlist("i me my mine myself we us our ours")

_OWN: Final = FIRST_PERSON - {"me"}
"""Words of who speaks of themselves; "tell me a joke" does not."""


def needs_memory(
    doc: Doc,
    intent: Intent,
    *,
    entities: Sequence[str],
    known: Sequence[str],
    ambiguous: Sequence[str],
) -> bool:
    """Whether memory can help.

    Whoever speaks of themselves, of someone the memory knows, or points elsewhere may mean what was
    said before, whatever the wording.

    Args:
        doc: The parsed utterance.
        intent: What it asks for.
        entities: Names in it.
        known: Names that the memory knows.
        ambiguous: Words in it that point elsewhere.
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
