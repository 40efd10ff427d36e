"""What a voice command is."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class CommandKind(StrEnum):
    """The kind of a voice command."""

    REMEMBER = "remember"
    FORGET_LAST = "forget last"
    FORGET_ABOUT = "forget about"
    FORGET_FACT = "forget fact"
    FORGET_ALL = "forget all"
    UNDO = "undo"
    LIST_ALL = "list all"
    EXPLAIN_SOURCE = "explain source"
    OFF_RECORD = "off record"
    ON_RECORD = "on record"
    SKIP_TURN = "skip turn"
    LEAVE_OUT = "leave out"
    SKIP_LAST = "skip last"


DELETIONS: Final = frozenset(
    {
        CommandKind.FORGET_LAST,
        CommandKind.FORGET_ABOUT,
        CommandKind.FORGET_FACT,
        CommandKind.FORGET_ALL,
    }
)
"""Commands that delete, which the user must confirm."""

NOT_STORED: Final = frozenset(
    {CommandKind.OFF_RECORD, CommandKind.SKIP_TURN, CommandKind.SKIP_LAST}
)
"""Commands that exclude turns from the memory."""

USER_ONLY: Final = DELETIONS | {
    CommandKind.UNDO,
    CommandKind.SKIP_LAST,
    CommandKind.ON_RECORD,
    CommandKind.LIST_ALL,
    CommandKind.EXPLAIN_SOURCE,
}
"""Commands that only the user may give, not other speakers."""


@dataclass(frozen=True, slots=True)
class Command:
    """A voice command.

    Attributes:
        kind: The kind of command.
        about: Of `FORGET_ABOUT`, the topic, without a determiner; of `FORGET_FACT`, the statement.
        turns: Of `SKIP_LAST`, the number of the user's turns.
        continues: Of `ON_RECORD`, whether the rest of the utterance is to be stored.
        restated: Of one that deletes, what the utterance says holds instead.
    """

    kind: CommandKind
    about: str = ""
    turns: int = 1
    continues: bool = False
    restated: str = ""
