"""What bots logged, compared with what the database holds."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.bench.fleet.log import Entry
from hotmem.storage.database import Connection


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn in the database."""

    user: str
    session: str
    id: str
    text: str


@dataclass(slots=True)
class Call:
    """What a bot logged of a call.

    Attributes:
        user: The user.
        said: Texts of the user, in order.
        acknowledged: Ids of turns that were acknowledged, in order.
        spooled: How many of them were spooled.
        errors: How many errors the memory told.
        late: How many blocks were late or incomplete.
        ended: Whether it came to its end: its bot was not killed.
    """

    user: str
    said: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    spooled: int = 0
    errors: int = 0
    late: int = 0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found.

    `lost`, `doubled`, `disordered`, `silent`, `foreign` and `unanswered` are 0 of a sound memory.

    Attributes:
        calls: Calls that began.
        acknowledged: Turns that were acknowledged.
        spooled: How many of them were spooled first.
        stored: Turns in the database.
        lost: Acknowledged, and not in the database or another user's.
        doubled: Stored more than once, or never said.
        disordered: Sessions whose turns are in another order than they were acknowledged in.
        told: Not acknowledged and not stored, and the memory told an error in that call.
        killed: Not acknowledged and not stored, as the bot was killed.
        silent: Not acknowledged and not stored, without an error.
        foreign: Words of other users in contexts, and turns of other users in blocks.
        late: Blocks that were late or incomplete, in calls that came to their end.
        unanswered: Utterances for which the language model got no context.
    """

    calls: int
    acknowledged: int
    spooled: int
    stored: int
    lost: int
    doubled: int
    disordered: int
    told: int
    killed: int
    silent: int
    foreign: int
    late: int
    unanswered: int


def all_turns(conn: Connection) -> list[StoredTurn]:
    """Return all turns of all users, in order."""
    rows = conn.execute(
        """SELECT u.public_id, s.public_id, t.public_id, t.text FROM turns t
           JOIN sessions s ON s.id = t.session JOIN users u ON u.id = t.user_key
           ORDER BY t.user_key, t.order_time, t.id"""
    ).fetchall()
    return [StoredTurn(*row) for row in rows]


def calls_of(logs: Iterable[Sequence[Mapping[str, Any]]]) -> dict[str, Call]:
    """Return all calls by session."""
    calls: dict[str, Call] = {}
    for entries in logs:
        for entry in entries:
            match entry["kind"]:
                case Entry.CALL:
                    calls[entry["session"]] = Call(entry["user"])
                case Entry.ENDED:
                    call = calls[entry["session"]]
                    call.ended, call.late = True, entry["late"]
                case Entry.SAID:
                    calls[entry["session"]].said.append(entry["text"])
                case Entry.ACKNOWLEDGED:
                    call = calls[entry["session"]]
                    call.acknowledged.append(entry["id"])
                    call.spooled += entry["spooled"]
                case Entry.ERROR:
                    calls[entry["session"]].errors += 1
    return calls


def verify(logs: Sequence[Sequence[Mapping[str, Any]]], stored: Sequence[StoredTurn]) -> Verified:
    """Compare logs with the database.

    Args:
        logs: The entries of each bot.
        stored: All turns, each user's in order.
    """
    calls = calls_of(logs)
    users = {turn.id: turn.user for turn in stored}
    by_session: dict[str, list[StoredTurn]] = defaultdict(list)
    for turn in stored:
        by_session[turn.session].append(turn)
    missing = [
        (call, text)
        for session, call in calls.items()
        for text in set(call.said) - {turn.text for turn in by_session[session]}
    ]
    acknowledged = [(call, one) for call in calls.values() for one in call.acknowledged]
    return Verified(
        calls=len(calls),
        acknowledged=len({one for _, one in acknowledged}),
        spooled=sum(call.spooled for call in calls.values()),
        stored=len(stored),
        lost=sum(users.get(one) != call.user for call, one in acknowledged),
        doubled=sum(_repeated(calls.get(session), turns) for session, turns in by_session.items()),
        disordered=sum(_is_disordered(call, by_session[name]) for name, call in calls.items()),
        told=sum(call.ended and call.errors > 0 for call, _ in missing),
        killed=sum(not call.ended for call, _ in missing),
        silent=sum(call.ended and not call.errors for call, _ in missing),
        foreign=_foreign(logs, calls, users),
        late=sum(call.late for call in calls.values()),
        unanswered=sum(entry["kind"] == Entry.UNANSWERED for log in logs for entry in log),
    )


def _repeated(call: Call | None, turns: Sequence[StoredTurn]) -> int:
    """How many turns of a session are stored again, or were never said.

    The replies of the bot may repeat; there is one for each utterance of the user at most.
    """
    if call is None:
        return len(turns)
    texts = Counter(turn.text for turn in turns)
    own = [texts[text] for text in call.said]
    replies = len(turns) - sum(own)
    return sum(max(0, number - 1) for number in own) + max(0, replies - len(call.said))


def _is_disordered(call: Call, turns: Sequence[StoredTurn]) -> bool:
    place = {turn.id: number for number, turn in enumerate(turns)}
    places = [place[one] for one in dict.fromkeys(call.acknowledged) if one in place]
    return places != sorted(places)


def _foreign(
    logs: Sequence[Sequence[Mapping[str, Any]]], calls: Mapping[str, Call], users: Mapping[str, str]
) -> int:
    found = 0
    for entry in (entry for log in logs for entry in log):
        if entry["kind"] == Entry.RECALL:
            found += entry["foreign"]
        elif entry["kind"] == Entry.DELIVERED:
            user = calls[entry["session"]].user
            found += sum(users.get(one, user) != user for one in entry["turns"])
    return found
