"""Learnt layer weights.

Weights edited by hand in the database are clipped to their bounds.
"""

import json
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeGuard

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NO_OFFSET,
    START_WEIGHTS,
    Intent,
    IntentOffset,
    Layer,
    LearningState,
    UserKey,
    Weights,
    WeightSnapshot,
)

KEPT: Final = 1000
"""Steps of the history stored per user."""


def weights(conn: Connection, user: UserKey) -> Weights:
    """The user's weights; the start weights if nothing was learnt of this user."""
    return ask_weights(conn, user)()


def ask_weights(conn: Connection, user: UserKey) -> Pending[Weights]:
    """The user's weights; the start weights if nothing was learnt of this user."""
    rows = conn.execute("SELECT layer, weight FROM weights WHERE user_key = ?", (user,))
    return lambda: _within(dict(rows))


def moved(conn: Connection, user: UserKey) -> dict[Intent, IntentOffset]:
    """The offsets of the weights by intent, relative to the start weights."""
    return ask_moved(conn, user)()


def ask_moved(conn: Connection, user: UserKey) -> Pending[dict[Intent, IntentOffset]]:
    """The offsets of the weights by intent, relative to the start weights."""
    rows = conn.execute("SELECT intent, moved FROM intent_weights WHERE user_key = ?", (user,))
    return lambda: {
        Intent(intent): _numbers(_read(text, list), len(NO_OFFSET)) or NO_OFFSET
        for intent, text in rows
        if intent in tuple(Intent)
    }


def learn(
    conn: Connection,
    user: UserKey,
    intent: Intent,
    step: Callable[[LearningState], LearningState],
    now: datetime,
) -> Weights:
    """Takes a learning step from a user's weights and stores the result in one transaction.

    Returns the user's weights after it.
    """
    before = _learnt(conn, user, intent)
    after = step(before)
    if after == before:
        return before.own
    put_moved(conn, user, {intent: after.intent})
    state = {
        "place": after.position_effect,
        "seen": after.precision,
        "good": after.good.as_dict(),
        "lead": after.lead,
    }
    row = {"user_key": user, "version": after.version, "state": json.dumps(state)}
    conn.upsert("learning_state", row)
    if not after.precision:
        conn.execute("DELETE FROM intent_weights WHERE user_key = ?", (user,))
    put_weights(
        conn,
        user,
        after.own,
        now,
        "a reply" if after.precision else "back to the last good ones",
        after.version,
    )
    return after.own


def put_moved(conn: Connection, user: UserKey, moved: Mapping[Intent, IntentOffset]) -> None:
    """Stores the offsets of the weights for some intents."""
    for intent, offset in moved.items():
        row = {"user_key": user, "intent": intent, "moved": json.dumps(offset)}
        conn.upsert("intent_weights", row)


def put_weights(
    conn: Connection, user: UserKey, after: Weights, now: datetime, reason: str, version: int = 0
) -> None:
    """Stores the user's weights with the reason of the change."""
    for layer, weight in after.as_dict().items():
        row = {"user_key": user, "layer": layer, "weight": weight, "updated_at": to_stored(now)}
        conn.upsert("weights", row)
    conn.execute(
        """INSERT INTO weight_history (user_key, version, learnt_at, weights, reason)
            VALUES (?, ?, ?, ?, ?)""",
        (user, version, to_stored(now), json.dumps(after.as_dict()), reason),
    )
    conn.execute(
        """DELETE FROM weight_history WHERE user_key = ? AND id <=
           (SELECT id FROM weight_history WHERE user_key = ? ORDER BY id DESC LIMIT 1 OFFSET ?)""",
        (user, user, KEPT),
    )


def reset(conn: Connection, user: UserKey, now: datetime) -> Weights:
    """Deletes what was learnt of a user; returns the start weights."""
    conn.execute("DELETE FROM learning_state WHERE user_key = ?", (user,))
    conn.execute("DELETE FROM intent_weights WHERE user_key = ?", (user,))
    put_weights(conn, user, START_WEIGHTS, now, "reset")
    conn.execute("DELETE FROM weights WHERE user_key = ?", (user,))
    return START_WEIGHTS


def over_time(conn: Connection, user: UserKey, limit: int) -> list[WeightSnapshot]:
    """The user's weights after each step, latest first."""
    rows = conn.execute(
        """SELECT version, learnt_at, weights, reason FROM weight_history WHERE user_key = ?
            ORDER BY id DESC LIMIT ?""",
        (user, limit),
    )
    return [
        WeightSnapshot(version, from_stored(at), _within(_read(text, dict)), reason)
        for version, at, text, reason in rows
    ]


def _learnt(conn: Connection, user: UserKey, intent: Intent) -> LearningState:
    """The learned weights of a user; unreadable values are replaced by start values."""
    row = conn.execute(
        "SELECT version, state FROM learning_state WHERE user_key = ?", (user,)
    ).fetchone()
    version, state = (int(row[0]), _read(row[1], dict)) if row else (0, {})
    good = state.get("good")
    return LearningState(
        own=weights(conn, user),
        intent=moved(conn, user).get(intent, NO_OFFSET),
        position_effect=_number(state.get("place")),
        precision=_numbers(state.get("seen"), (len(Layer) + 1) ** 2),
        good=_within(good if isinstance(good, dict) else {}),
        lead=_number(state.get("lead")),
        version=version,
    )


def _within(found: Mapping[str, Any]) -> Weights:
    """The weights clipped to their bounds; start weights replace values that are not numbers."""
    good = {layer: float(found[layer]) for layer in Layer if _is_number(found.get(layer))}
    return Weights.from_dict(
        START_WEIGHTS.as_dict()
        | {layer: min(max(weight, MIN_WEIGHT), MAX_WEIGHT) for layer, weight in good.items()}
    )


def _read(text: object, kind: type) -> Any:  # noqa: ANN401 - JSON
    """The JSON value if it is of that type, otherwise an empty one."""
    try:
        value = json.loads(str(text))
    except ValueError:
        return kind()
    return value if isinstance(value, kind) else kind()


def _numbers(values: object, size: int) -> tuple[float, ...]:
    """The numbers if there are so many and all are finite, otherwise none."""
    found = values if isinstance(values, list) else []
    return tuple(map(float, found)) if len(found) == size and all(map(_is_number, found)) else ()


def _number(value: object) -> float:
    """The value if it is a number, otherwise 0."""
    return float(value) if _is_number(value) else 0.0


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number that fits a float; JSON integers may not."""
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max
