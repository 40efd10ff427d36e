"""Which turns of a conversation are stored: off the record, "don't keep that"."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Final

from hotmem.models.reader import Reader, TurnReading
from hotmem.text.passages import split_passages
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.commands import DELETIONS, NOT_STORED, Command, CommandKind
from hotmem.understanding.query.off_record import end_of_request

MAX_TURNS: Final = 16
"""Number of the user's latest turns that "don't keep that" can remove."""

_WITHOUT_STATEMENT: Final = DELETIONS | {
    CommandKind.UNDO,
    CommandKind.OFF_RECORD,
    CommandKind.ON_RECORD,
}
"""Commands whose turn states nothing: "don't keep that" then means the turn before."""


@dataclass(slots=True)
class UserTurn:
    """A turn of the user.

    Attributes:
        number: Its number in the conversation; -1 for an utterance outside it.
        text: The whole text.
        own: The part the user said.
        others: The part other speakers said.
        command: The user's voice command in it.
        by_others: The voice command that other speakers gave.
        stored: Whether the turn and its reply are stored.
        restated: The only part to store, where the rest asks to forget what it names; or "".
        stored_ids: Ids of its stored turns, including the reply's.
    """

    number: int
    text: str
    own: str
    others: str = ""
    command: Command | None = None
    by_others: Command | None = None
    stored: bool = True
    restated: str = ""
    stored_ids: list[str] = field(default_factory=list)


class TurnRetention:
    """The latest user turns of a conversation, and which of them are stored.

    Args:
        find: Finds the voice command in an utterance; by the rules alone by default.

    Attributes:
        find: The same.
        off_record: Whether the user is off the record.
    """

    def __init__(self, find: CommandFinder | None = None) -> None:
        self.find = find or CommandFinder(lambda: None)
        self.off_record = False
        self._until: datetime | None = None
        self._last: UserTurn | None = None
        self._turns: deque[UserTurn] = deque(maxlen=MAX_TURNS)
        self._removing: set[str] = set()

    def end_turn(
        self,
        number: int,
        text: str,
        others: str = "",
        *,
        own: str | None = None,
        at: datetime | None = None,
    ) -> tuple[str, ...]:
        """Add a turn that has ended, and decide whether it is stored.

        A turn off the record is not stored, nor one that asks to forget something it names.

        Args:
            number: The number of the turn.
            text: The whole text.
            others: The part other speakers said.
            own: The part the user said; None for the whole text.
            at: When, in the user's time zone, for requests that name a time.

        Returns:
            Ids of stored turns to remove.
        """
        turn = UserTurn(number, text, text if own is None else own, others)
        turn.command = command = self._find_command(turn.own)
        turn.by_others = by_others = self.find(others)
        if at is not None and self._until is not None and at >= self._until:
            self.off_record, self._until = False, None
        kinds = {one.kind for one in (command, by_others) if one is not None}
        on_again = command is not None and command.kind is CommandKind.ON_RECORD and self.off_record
        if on_again:
            self.off_record = False
        else:
            end = end_of_request(text, at) if kinds & NOT_STORED and at is not None else None
            if CommandKind.OFF_RECORD in kinds or end is not None:
                self.off_record, self._until = True, end
        continues = on_again and command is not None and command.continues
        turn.restated = "" if command is None else command.restated
        turn.stored = continues or not (
            self.off_record or on_again or (kinds & (NOT_STORED | DELETIONS) and not turn.restated)
        )
        removed: tuple[str, ...] = ()
        if command is not None and command.kind is CommandKind.SKIP_LAST:
            removed = self._withdraw(command.turns)
            self._removing = set(removed)
            kinds |= _WITHOUT_STATEMENT
        if turn.stored or not kinds & _WITHOUT_STATEMENT:
            self._turns.append(turn)
        self._last = turn
        return removed

    def add_stored(self, turn_id: str, number: int | None = None) -> None:
        """Add the id of a stored turn: one of the user, or the reply to one.

        Args:
            turn_id: The id.
            number: The number of the user's turn; None for the latest.
        """
        turn = self._find(number)
        if turn is not None:
            turn.stored_ids.append(turn_id)

    def stored_ids(self) -> frozenset[str]:
        """Ids of the latest turns of this conversation that are stored, or are about to be."""
        turns = self._turns if self._last is None else (*self._turns, self._last)
        return frozenset(name for turn in turns for name in turn.stored_ids)

    def confirm_removed(self, turn_ids: Collection[str]) -> None:
        """Record that turns `end_turn` returned have been removed."""
        self._removing.difference_update(turn_ids)

    @property
    def removing(self) -> bool:
        """Whether the turns of the latest request are not all removed yet."""
        return bool(self._removing)

    @property
    def number(self) -> int:
        """The number of the latest turn; -1 before the first."""
        return -1 if self._last is None else self._last.number

    @property
    def stores_turn(self) -> bool:
        """Whether the latest turn is stored."""
        return self._last is None or self._last.stored

    @property
    def restated(self) -> str:
        """The only part of the latest turn to store; "" for all of it."""
        return "" if self._last is None else self._last.restated

    def stores_reply(self, number: int | None = None) -> bool:
        """Whether the reply to a turn is stored.

        Args:
            number: The number of the user's turn; None for the latest.
        """
        turn = self._find(number)
        return turn.stored if turn is not None else self._last is None

    @property
    def skips_turn(self) -> bool:
        """Whether the latest turn asks not to be stored itself."""
        return self._last is not None and any(
            command is not None and command.kind is CommandKind.SKIP_TURN
            for command in (self._last.command, self._last.by_others)
        )

    def turn_of(self, text: str) -> UserTurn:
        """The latest turn if it has this text, else an utterance outside the conversation."""
        if self._last is not None and self._last.text == text:
            return self._last
        return UserTurn(-1, text, text, command=self._find_command(text))

    def last_own_turn(self) -> UserTurn | None:
        """The latest turn in which the user, and not only others, spoke.

        Not the present one, if it asks to delete what was said before.
        """
        asking = self._last if self._last and self._last.restated else None
        spoken = (turn for turn in reversed(self._turns) if turn.own.strip())
        return next((turn for turn in spoken if turn is not asking), None)

    def _find_command(self, text: str) -> Command | None:
        command = self.find(text)
        if command is not None and command.kind is CommandKind.SKIP_LAST and not self._turns:
            # Without earlier turns, "don't keep that" means what comes next.
            return Command(CommandKind.OFF_RECORD)
        return command

    def _withdraw(self, count: int) -> tuple[str, ...]:
        """Mark the user's latest turns as not stored; the ids of those that were."""
        removed: list[str] = []
        for turn in islice((turn for turn in reversed(self._turns) if turn.own.strip()), count):
            turn.stored = False
            removed += turn.stored_ids
            turn.stored_ids.clear()
        return tuple(removed)

    def _find(self, number: int | None) -> UserTurn | None:
        if number is None or self._last is None:
            return self._last
        return next((turn for turn in (self._last, *self._turns) if turn.number == number), None)


def read_long(reader: Reader, before: str, text: str) -> TurnReading:
    """Read a turn of any length, one passage after the other."""
    readings = [
        (start, reader.read("" if start else before, text[start:stop]))
        for start, stop in split_passages(text)
    ]
    return TurnReading(
        max((reading.kept for _, reading in readings), default=0.0),
        tuple(
            replace(part, start=start + part.start, stop=start + part.stop)
            for start, reading in readings
            for part in reading.parts
        ),
    )
