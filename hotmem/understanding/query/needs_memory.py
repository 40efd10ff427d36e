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

_OF_DEVICES: Final = wordlist("it this")
"""Words that mean what a device does, in a command to it."""


def needs_memory(
    doc: Doc,
    intent: Intent,
    *,
    entities: Sequence[str],
    known: Sequence[str],
    ambiguous: Sequence[str],
) -> bool:
    """Whether memory can help with an utterance.

    First-person words, stored names and ambiguous words always need memory. The "it" of a command
    to a device ("turn it up") means what the device does.

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
    device = DEVICE_COMMANDS.search(doc.text) is not None
    if (
        (ambiguous and not (device and _OF_DEVICES.issuperset(ambiguous)))
        or any(token.lower_ in _OWN for token in doc)
        or any(name.casefold() in familiar for name in entities)
    ):
        return True
    return not (device or GENERAL_QUESTIONS.search(doc.text))
