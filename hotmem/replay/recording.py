"""What a memory file holds of a user's sessions.

What was said, and which turns the bot replied to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path

from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.storage.sqlite import recordings
from hotmem.types import Role, Turn, Weights


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's turn and the bot's reply to it.

    Attributes:
        session: Place of the session in the recording.
        place: Place of the user's turn in the session.
        reply: What the bot said until the user spoke again.
    """

    session: int
    place: int
    reply: str


def unrelated(exchanges: Sequence[Exchange], most: int) -> list[tuple[str, ...]]:
    """For each exchange up to `most` other replies, of other sessions where there are such.

    None if every reply is the same.

    Each stands about as often among them as among the exchanges, so that they are alike in length.
    """
    return [tuple(islice(_others(exchanges, place), most)) for place in range(len(exchanges))]


def _others(exchanges: Sequence[Exchange], place: int) -> Iterator[str]:
    """Replies of other words, those of other sessions first, from the exchange that is farthest on."""
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
        sessions: The turns of each session in the order they were stored, the sessions by when they
            began.
        weights: The layer weights learnt so far.
        left_out: Earlier turns of the file that are not among them.
    """

    user_id: str
    sessions: tuple[tuple[Turn, ...], ...]
    weights: Weights
    left_out: int = 0

    @property
    def turns(self) -> int:
        """Turns of all sessions."""
        return sum(map(len, self.sessions))

    def exchanges(self) -> Iterator[Exchange]:
        """Every exchange for which there are earlier sessions to recall, in order."""
        for number, session in enumerate(self.sessions[1:], start=1):
            for place, turn in enumerate(session):
                if turn.role is Role.USER and (reply := _reply(session[place + 1 :])):
                    yield Exchange(number, place, reply)


def read_recording(
    path: Path, user_id: str, most_turns: int, key: EncryptionKey | None = None
) -> Recording:
    """A user's sessions as a memory file holds them now; the file is only read. Blocking.

    Args:
        path: The memory file; others may write to it meanwhile.
        user_id: Whose sessions.
        most_turns: Turns at most, the latest; of a session that they begin in, only those.
        key: What the file is encrypted with.

    Raises:
        InvalidInput: If there is nothing to replay, saying what is missing.
        StoreError: If the file cannot be used.
    """
    turns, count, weights = recordings.turns(path, user_id, most_turns, key)
    sessions: dict[str, list[Turn]] = {}
    for turn in turns:
        sessions.setdefault(turn.session_id, []).append(turn)
    in_order = sorted(sessions.values(), key=lambda session: session[0].spoken_at)
    recording = Recording(user_id, tuple(map(tuple, in_order)), weights, count - len(turns))
    _check(recording)
    return recording


def _reply(following: Sequence[Turn]) -> str:
    """What the bot says before the user speaks again; "" if the user goes on."""
    return " ".join(
        turn.text for turn in takewhile(lambda turn: turn.role is Role.ASSISTANT, following)
    )


def _check(recording: Recording) -> None:
    if not recording.turns:
        raise InvalidInput(
            f"Nothing that {recording.user_id!r} said is stored in this file. Name another user with --user, or another file with --database."
        )
    if not any(turn.role is Role.ASSISTANT for session in recording.sessions for turn in session):
        raise InvalidInput(
            "No reply of a bot is stored for this user, and replies are what settings are judged by. "
            "HotMemProcessor stores them; elsewhere remember() them as turns of the role 'assistant'."
        )
    if len(recording.sessions) < 2:
        raise InvalidInput(
            "Only one session is stored for this user, and memory is about earlier ones. Come back after the second conversation."
        )
    if next(recording.exchanges(), None) is None:
        raise InvalidInput(
            "After the first session no turn of this user was followed by a reply of the bot. Come back after more conversations."
        )
