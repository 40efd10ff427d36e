"""A user's sessions in a memory file, and their exchanges: user turns with a reply."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path

from hotmem.core.location import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.storage.sqlite import migrations
from hotmem.types import Role, Turn, Weights


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's turn and the bot's reply to it.

    Attributes:
        session: Index of the session in the recording.
        place: Index of the user turn in the session.
        reply: Turns of the bot until the next user turn.
    """

    session: int
    place: int
    reply: str


def unrelated_replies(exchanges: Sequence[Exchange], most: int) -> list[tuple[str, ...]]:
    """Return up to `most` other replies for each exchange, preferably of other sessions.

    Empty if all replies are equal. Replies are chosen evenly, so that their lengths are comparable.
    """
    return [tuple(islice(_others(exchanges, place), most)) for place in range(len(exchanges))]


def _others(exchanges: Sequence[Exchange], place: int) -> Iterator[str]:
    """Yield different replies, those of other sessions first, starting half the exchanges away."""
    one, begin = exchanges[place], place + len(exchanges) // 2
    for same_session in (False, True):
        for step in range(len(exchanges)):
            other = exchanges[(begin + step) % len(exchanges)]
            if other.reply != one.reply and (other.session == one.session) is same_session:
                yield other.reply


@dataclass(frozen=True, slots=True)
class Recording:
    """A user's sessions.

    Attributes:
        user_id: The user.
        sessions: Turns of each session in the order of storage; sessions by start time.
        weights: Current layer weights.
        left_out: Number of earlier turns that are not included.
    """

    user_id: str
    sessions: tuple[tuple[Turn, ...], ...]
    weights: Weights
    left_out: int = 0

    @property
    def turns(self) -> int:
        """Number of turns in all sessions."""
        return sum(map(len, self.sessions))

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the exchanges of all sessions but the first, in order."""
        for number, session in enumerate(self.sessions[1:], start=1):
            for place, turn in enumerate(session):
                if turn.role is Role.USER and (reply := _reply(session[place + 1 :])):
                    yield Exchange(number, place, reply)


def read_recording(
    path: Path, user_id: str, most_turns: int, key: EncryptionKey | None = None
) -> Recording:
    """Read the sessions of a user without changing the file. Blocking.

    Args:
        path: Memory file; other programs may write to it meanwhile.
        user_id: User ID.
        most_turns: Maximum turns, latest first; may cut off the start of a session.
        key: Encryption key.

    Raises:
        InvalidInput: If there is nothing to replay; the message says what is missing.
        StoreError: If the file cannot be used.
    """
    turns, count, weights = migrations.turns(path, user_id, most_turns, key)
    sessions: dict[str, list[Turn]] = {}
    for turn in turns:
        sessions.setdefault(turn.session_id, []).append(turn)
    in_order = sorted(sessions.values(), key=lambda session: session[0].spoken_at)
    recording = Recording(user_id, tuple(map(tuple, in_order)), weights, count - len(turns))
    _check(recording)
    return recording


def _reply(following: Sequence[Turn]) -> str:
    """Join the turns of the bot before the next user turn; "" if there are none."""
    return " ".join(
        turn.text for turn in takewhile(lambda turn: turn.role is Role.ASSISTANT, following)
    )


def _check(recording: Recording) -> None:
    if not recording.turns:
        raise InvalidInput(
            f"No turn of {recording.user_id!r} is stored in this file. "
            "Name another user with --user, or another file with --database."
        )
    if not any(turn.role is Role.ASSISTANT for session in recording.sessions for turn in session):
        raise InvalidInput(
            "No reply of a bot is stored for this user, and settings are compared by replies. "
            "HotMemProcessor stores them; elsewhere remember() them with the role 'assistant'."
        )
    if len(recording.sessions) < 2:
        raise InvalidInput(
            "Only one session is stored for this user. Try again after the second conversation."
        )
    if next(recording.exchanges(), None) is None:
        raise InvalidInput(
            "No user turn after the first session has a reply. Try again after more conversations."
        )
