"""Finds voice commands by the rules and a trained model together."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from hotmem.core.logs import log
from hotmem.models import Encoder, encode_tokens
from hotmem.models.encoders import TURNS
from hotmem.text.language_detection import is_english
from hotmem.understanding.query.command_rules import (
    MAX_WORDS,
    asks_to_delete,
    asks_to_keep,
    find_command,
    find_described_deletion,
    find_topic,
    is_of_device,
    means_everything,
    names_time_or_topic,
    split_restatement,
)
from hotmem.understanding.query.commands import (
    CLASSES,
    DELETIONS,
    NOT_STORED,
    Command,
    CommandKind,
    CommandModel,
    class_of,
    term_ids,
)
from hotmem.understanding.query.off_record import is_elsewhere

MIN_COMMAND: Final = 0.7
"""Probability from which an utterance is a command that the rules do not find."""

MIN_WITHHELD: Final = 0.24
"""The same of a request not to store the turn or those to come: in doubt, nothing is stored.

Of 310 hints by a writer of whom nothing was trained on 142 are heard, and 8 of 260 look-alikes; at
0.3, 137 and 7.
"""

MAX_NONE: Final = 0.7
"""Probability of no command up to which a command that the rules find is one."""

MAX_NONE_KEPT: Final = 0.97
"""The same of a request about what is stored."""

MIN_OTHER: Final = 0.9
"""Probability from which such a request is another command instead."""

MIN_OFF: Final = 0.5
"""The same of one not to store those to come; below it, the turn itself is not stored."""

MIN_ON: Final = 0.8
"""Probability from which storing begins again without a word about it: in doubt, nothing is
stored."""

MIN_ALL: Final = 0.05
"""The same of a request to forget everything, which must have a word for it and no other object."""

RECORD: Final = NOT_STORED | {CommandKind.ON_RECORD}
"""Requests about what is stored, whose scope the rules decide."""

WITHHELD: Final = (CommandKind.SKIP_TURN, CommandKind.OFF_RECORD)
"""Requests that keep what is said from being stored."""

MAX_REMEMBERED: Final = 4
"""Number of utterances whose result is remembered: a turn, by speaker, and the one before it."""

_OF_RECORD: Final = re.compile(
    r"\b(?:re-?cord|stor|sav|remember|keep|kept|memor|not[ei]|writ|log|listen|track)\w*",
    re.IGNORECASE,
)
"""Words of which a request to store again mostly has one."""

_MANNER: Final = re.compile(
    r"\b(?:to|in|speak) (?:\w+ish|french|german|dutch|italian)\b"
    r"|\b(?:answer|reply|respond|talk|speak)\b|^\W*from now on\W*$",
    re.IGNORECASE,
)
"""Words about how the bot speaks: "go back to English", which asks to store nothing."""

load_model: Final = lru_cache(maxsize=1)(CommandModel.load)
"""Loads the model once in a process."""


class CommandFinder:
    """Finds the voice command in an utterance; blocking, some 2 ms, unless it was prepared.

    The encoder is asked only about short utterances, and with the text that the recall encodes, so
    that a caching encoder encodes it once.

    Args:
        encoder: Returns the encoder, or None while there is none. Without the encoder that the
            model was trained on, or if it fails, the rules decide alone.
        model: Returns the model.
    """

    def __init__(
        self,
        encoder: Callable[[], Encoder | None],
        model: Callable[[], CommandModel] = load_model,
    ) -> None:
        self._encoder = encoder
        self._model = model
        self._found: dict[str, Command | None] = {}

    def __call__(self, text: str) -> Command | None:
        """Find the voice command in an utterance; None if there is none.

        The latest results are remembered, as a turn is looked at several times.
        """
        if text in self._found:
            return self._found[text]
        return self._remember(text, *self._find(text))

    async def prepare(self, *texts: str) -> None:
        """Find the commands in utterances in a worker thread, so that calls return at once."""
        unknown = [text for text in dict.fromkeys(texts) if text and text not in self._found]
        if unknown:
            for text, result in await asyncio.to_thread(self._find_all, unknown):
                self._remember(text, *result)

    def _remember(self, text: str, found: Command | None, settled: bool) -> Command | None:
        if settled:
            self._found[text] = found
            if len(self._found) > MAX_REMEMBERED:
                del self._found[next(iter(self._found))]
        return found

    def _find_all(self, texts: Iterable[str]) -> list[tuple[str, tuple[Command | None, bool]]]:
        return [(text, self._find(text)) for text in texts]

    def _find(self, text: str) -> tuple[Command | None, bool]:
        """The command, and whether it can be remembered: an encoder was there or not needed."""
        if not is_english(text):
            return None, True
        request, restated = split_restatement(text)
        if restated and find_command(restated) is None:
            found, settled = self._find(request)
            if found is not None and found.kind in DELETIONS | {CommandKind.SKIP_LAST}:
                return replace(found, restated=restated), settled
        ruled = find_command(text)
        if not 0 < len(text.split()) <= MAX_WORDS:
            return ruled, True
        try:
            return self._decided(text, ruled)
        except Exception as error:  # a failing encoder must not stop the conversation
            log.warning("voice commands are found by rules alone", error=type(error).__name__)
            return ruled, True

    def _decided(self, text: str, ruled: Command | None) -> tuple[Command | None, bool]:
        encoder = self._encoder()
        if encoder is None or encoder.name != TURNS:
            return ruled, encoder is not None
        vector = encode_tokens(encoder, [text])[0].vector
        chances = self._model().probabilities(
            term_ids(text), vector, None if ruled is None else ruled.kind
        )
        return decide(text, ruled, dict(zip(CLASSES, chances.tolist(), strict=True))), True


def decide(
    text: str, ruled: Command | None, chances: Mapping[CommandKind | None, float]
) -> Command | None:
    """Decide between the rules and the model.

    Args:
        text: The utterance.
        ruled: The command that the rules found.
        chances: The probability of each class.
    """
    if ruled is not None and ruled.kind in (CommandKind.FORGET_FACT, CommandKind.ON_RECORD):
        return ruled
    none = chances[None]
    withheld = 0.0 if is_elsewhere(text) else sum(chances[kind] for kind in WITHHELD)
    likely = max(WITHHELD if withheld >= MIN_WITHHELD else CLASSES[1:], key=chances.__getitem__)
    assert likely is not None
    if ruled is None:
        unlikely = withheld < MIN_WITHHELD if likely in WITHHELD else 1 - none < MIN_COMMAND
        if unlikely or (likely is CommandKind.REMEMBER and asks_to_delete(text)):
            return None
        if likely is CommandKind.OFF_RECORD and withheld < MIN_OFF:
            return Command(CommandKind.SKIP_TURN)
    elif none > (MAX_NONE_KEPT if ruled.kind in RECORD else MAX_NONE):
        return None
    elif (
        class_of(ruled.kind) is likely
        or 1 - none < MIN_COMMAND
        or _is_kept(ruled, likely, chances[likely])
    ):
        return ruled
    if likely in DELETIONS and (asks_to_keep(text) or is_of_device(text)):
        return None
    clearly = chances[likely] >= MIN_ON or _OF_RECORD.search(text)
    if likely is CommandKind.ON_RECORD and (not clearly or _MANNER.search(text)):
        return None
    if likely in (CommandKind.FORGET_ALL, CommandKind.FORGET_ABOUT):
        everything = chances[CommandKind.FORGET_ALL] >= MIN_ALL and means_everything(text)
        likely = CommandKind.FORGET_ALL if everything else CommandKind.FORGET_ABOUT
    if likely is CommandKind.FORGET_LAST and names_time_or_topic(text) and find_topic(text):
        likely = CommandKind.FORGET_ABOUT
    if likely is not CommandKind.FORGET_ABOUT:
        return Command(likely)
    if find_described_deletion(text) is not None:
        return ruled  # it names a statement, not everything about something
    topic = find_topic(text)
    return Command(likely, topic) if topic else ruled


def _is_kept(ruled: Command, likely: CommandKind, chance: float) -> bool:
    """Whether a request about what is stored that the rules found is no other command instead."""
    if likely is CommandKind.OFF_RECORD and chance >= MIN_OTHER:
        return False
    other = likely is not CommandKind.LEAVE_OUT and chance < MIN_OTHER
    return ruled.kind in RECORD and (likely in RECORD or other)
